import { connect, createServer, type Socket } from 'node:net'
import type pg from 'pg'

/** A proxy between the service and its database that can cut connections or fall silent. */
export async function startProxy(
  { host, port }: pg.ClientConfig,
  /** Changes the bytes that the database sends. */
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
    // Not resetAndDestroy: on a socket that is already closing it leaves Node 20 unable to exit.
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  return {
    place: { host: '127.0.0.1', port: (server.address() as { port: number }).port },
    /** Ends every connection at once, whatever it is doing. */
    cut,
    /** Takes all bytes and passes none on, like a machine that hangs. */
    fallSilent: () => {
      isSilent = true
    },
    /** Ends the silence, and all connections: they have lost bytes and are of no further use. */
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

/** Parts of PostgreSQL's English messages; in another language they would differ. */
const english = [
  'cached plan must not change',
  'wait for synchronous replication',
  'is not present in table',
  'is still referenced from table',
]

/** A proxy to a database whose messages nobody can read, like those in an unknown language. */
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
