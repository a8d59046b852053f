import pg from 'pg'

/**
 * Wakes those who wait for something new in the database, on every node: who has written rings, and
 * PostgreSQL carries it to the one connection with which each node listens. A ring can be lost with
 * its node, so that waiting ends by itself after a while too.
 */
export type Bell = {
  ring(): void
  /** Resolves at the next ring anywhere, or after a while without. */
  rung(): Promise<void>
  close(): Promise<void>
}

const listenStatement = 'listen registry_bell'
export const ringStatement = `select pg_notify('registry_bell', '')`
/** Rings of one node are gathered, in milliseconds: a notification makes commits take turns. */
const gathering = 25
/** A waiter looks for itself at this interval: a ring may have been lost, or come too early. */
const longestSilence = 1_000
/** Between attempts to listen to a database that is away. */
const pause = 2_000

export function openBell(connection: pg.ClientConfig, send: () => Promise<unknown>): Bell {
  let waiting: (() => void)[] = []
  let gathered = false
  let closed = false
  let ear: pg.Client | undefined
  let silence: NodeJS.Timeout | undefined

  const wake = () => {
    clearTimeout(silence)
    const woken = waiting
    waiting = []
    for (const go of woken) go()
  }

  async function listen() {
    const client = new pg.Client({ ...connection, application_name: 'registry-bell' })
    ear = client
    client.on('notification', wake)
    const again = () => {
      if (closed || ear !== client) return
      ear = undefined
      void client.end().catch(() => {})
      setTimeout(() => closed || ear || void listen(), pause).unref()
    }
    client.on('error', again)
    client.on('end', again)
    await client
      .connect()
      .then(() => client.query(listenStatement))
      .catch(again)
  }

  return {
    ring() {
      if (gathered || closed) return
      gathered = true
      setTimeout(() => {
        gathered = false
        if (!closed) send().catch(() => {}) // who waits looks for itself before long
      }, gathering).unref()
    },
    rung() {
      if (!ear) void listen()
      if (waiting.length === 0) silence = setTimeout(wake, longestSilence)
      return new Promise((resolve) => waiting.push(resolve))
    },
    async close() {
      closed = true
      wake()
      await ear?.end().catch(() => {})
    },
  }
}
