import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export type Sent = {
  method: string
  path: string
  headers: Record<string, string>
  body?: string | Buffer | undefined
}
export type Answer = { status: number; headers: IncomingHttpHeaders; text: string }

/** Sends requests unchanged, many over few connections; fetch would cost more than the sending. */
export function senderTo(url: string, connections: number) {
  const { hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })

  const once = ({ method, path, headers, body }: Sent) =>
    new Promise<Answer>((resolve, reject) => {
      const length = { 'Content-Length': String(Buffer.byteLength(body ?? '')) }
      const all = { ...headers, ...(body !== undefined && length) }
      const sent = request({ agent, hostname, port, method, path, headers: all }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        )
      })
      sent.on('error', (error) => reject(Object.assign(error, { again: sent.reusedSocket })))
      sent.end(body)
    })
  return {
    /** Retries once: the server may close a kept connection just when it is used again. */
    send: (what: Sent): Promise<Answer> =>
      once(what).catch((error) => {
        if (error.again && error.code === 'ECONNRESET') return once(what)
        throw error
      }),
    stop: () => agent.destroy(),
  }
}
