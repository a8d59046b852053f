import { request } from 'node:http'

/** How long the calls of other users took while some work was done. */
export type Times = { p50: number; p99: number; refused: number; count: number }

/** Measures calls while `work` runs: two callers, each of whom waits for every answer. */
export async function timesDuring(
  ask: () => Promise<{ status: number }>,
  work: () => Promise<unknown>,
): Promise<Times> {
  const times: number[] = []
  let refused = 0
  let isOver = false
  const callers = Array.from({ length: 2 }, async () => {
    while (!isOver) {
      const start = performance.now()
      const { status } = await ask()
      times.push(performance.now() - start)
      if (status !== 200) refused++
    }
  })
  await work()
  isOver = true
  await Promise.all(callers)
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return { p50: at(0.5), p99: at(0.99), refused, count: sorted.length }
}

export type Call = {
  method: string
  path: string
  /** A long body is given as bytes: encoding it for every call would delay the measurement. */
  body?: string | Buffer
  token?: string | undefined
  /** The local address to call from: to the service, 127.0.0.2 is another caller than 127.0.0.1. */
  from?: string
  /** The Idempotency-Key. */
  key?: string
}

/** Sends a call from a chosen address, and reads its answer to the end. */
export const callFrom = (url: string, { method, path, body, token, from, key }: Call) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const headers = {
      Version: '2.0',
      ...(token !== undefined && { Authorization: token }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
      ...(body !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
      }),
    }
    const options = { method, headers, agent: false, ...(from && { localAddress: from }) }
    const call = request(url + path, options, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece) => pieces.push(piece))
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString() }),
      )
    })
    call.on('error', reject)
    call.end(body)
  })

/** Calls `ask` from `most` callers at once for a time; returns how often each status came. */
export async function flood(
  most: number,
  milliseconds: number,
  ask: (n: number) => Promise<{ status: number }>,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  const end = performance.now() + milliseconds
  let n = 0
  await Promise.all(
    Array.from({ length: most }, async () => {
      while (performance.now() < end) {
        const { status } = await ask(n++).catch(() => ({ status: 0 }))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }),
  )
  return statuses
}
