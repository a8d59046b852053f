import { connect, createServer, type Socket } from 'node:net'
import type pg from 'pg'

/** A network between the service and its database that can be cut, or can fall silent. */
export async function startProxy(
  { host, port }: pg.ClientConfig,
  /** What becomes of the bytes that the database sends. */
  onTheWay = (bytes: Buffer) => bytes,
) {
  const pairs = new Set<[Socket, Socket]>()
  let isSilent = false
  const target = String(host).startsWith('/')
    ? { path: `${host}/.s.PGSQL.${port}` }
    : { host: String(host), port: Number(port) }
  const server = createServer((near) => {
    const far = connect(target)
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      for (const socket of pair) socket.destroy()
    }
    for (const socket of pair) socket.on('error', end).on('close', end)
    near.on('data', (bytes) => isSilent || far.write(bytes))
    far.on('data', (bytes) => isSilent || near.write(onTheWay(bytes)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    // Not resetAndDestroy: of a socket that closes already it leaves Node 20 unable to exit.
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  return {
    place: { host: '127.0.0.1', port: (server.address() as { port: number }).port },
    /** Every connection ends at once, in the middle of whatever it does. */
    cut,
    /** Takes everything and hands on nothing, as a machine that hangs does. */
    fallSilent: () => {
      isSilent = true
    },
    /** What was swallowed stays so: the connections of that time are of no use any more. */
    speakAgain: () => {
      isSilent = false
      cut()
    },
    stop: async () => {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Words of a server that we know; in another language they would be others. */
const english = [
  'cached plan must not change',
  'wait for synchronous replication',
  'is not present in table',
  'is still referenced from table',
]

/** A database whose messages are in no language that anybody knows. */
export const startForeigner = (connection: pg.ClientConfig) =>
  startProxy(connection, (bytes) =>
    Buffer.from(
      english.reduce(
        (text, words) => text.replaceAll(words, 'x'.repeat(words.length)),
        bytes.toString('latin1'),
      ),
      'latin1',
    ),
  )
