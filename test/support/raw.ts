import { connect } from 'node:net'
import type { Reply } from './client.ts'

/** Sends bytes and returns everything that the server answers until it closes the connection. */
export async function exchange(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(bytes)
  const chunks: Buffer[] = []
  return new Promise((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
    socket.on('error', reject)
  })
}

/** Parses a raw answer into the form of every other reply. */
function replyOf(answer: string): Reply {
  const [head = '', text = ''] = answer.split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const headers = new Headers(
    fields.map((field): [string, string] => {
      const at = field.indexOf(':')
      return [field.slice(0, at), field.slice(at + 1).trim()]
    }),
  )
  return { ...JSON.parse(text), status: Number(line.split(' ')[1]), headers, text }
}

/** Sends raw bytes as one request, and returns its answer. */
export const sendRaw = async (url: string, bytes: string | Buffer) =>
  replyOf(await exchange(url, bytes))
