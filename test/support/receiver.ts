import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ClientConfig } from 'pg'
import { rowsOf } from './database.ts'
import { until } from './process.ts'

export type Got = {
  headers: IncomingHttpHeaders
  body: string
  event: { type: string; data: Told }
}
export type Told = { eventID: number; productID: number; ids: number[] }
export type Receiver = {
  url: string
  got: Got[]
  answer: (status: number | 'never') => void
  close: () => void
}

/** Starts a server that receives webhook calls, and answers as a test wants. */
export async function receiver(): Promise<Receiver> {
  const got: Got[] = []
  let status: number | 'never' = 200
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    got.push({ headers: request.headers, body, event: JSON.parse(body) })
    if (status !== 'never')
      response.writeHead(status, { Location: 'http://169.254.169.254/' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    got,
    answer: (given) => {
      status = given
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export async function withReceiver(use: (receiver: Receiver) => Promise<void>) {
  const one = await receiver()
  await use(one).finally(one.close)
}

/**
 * Waits until everything that has happened is in the event feed, which open transactions of other
 * tests hold back. A new webhook begins at the end of the feed; without the wait it would also be
 * sent what happened just before.
 */
export async function feedComesUp(connection: ClientConfig) {
  const ask = (what: string, values: unknown[] = []) =>
    rowsOf(connection, `select ${what} as told from pg_current_snapshot() s`, values)
  const [now] = await ask('pg_snapshot_xmax(s)::text')
  await until('the feed to come up', async () => {
    const [row] = await ask('pg_snapshot_xmin(s) >= $1::xid8', [now!.told])
    return row!.told
  })
}
