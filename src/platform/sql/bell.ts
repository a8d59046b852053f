import pg from 'pg'
import sql from 'sql-template-tag'

/**
 * Wakes those who wait for something new in the database, on every node: who has written rings, and
 * PostgreSQL carries it to the one connection with which each node listens. A ring can be lost with
 * its node, so that waiting ends by itself after a while too.
 */
export type Bell = {
  ring(about?: About): void
  /** Resolves at the next ring anywhere that is of interest, or after a while without. */
  rung(interest?: About): Promise<void>
  /** Holds a name, with others, for as long as this node is there: by a lock, see lockOf. */
  hold(name: string): Promise<void>
  close(): Promise<void>
}

/**
 * What a ring is about. Most are about postings alone: whoever waits for `work` (an import, a
 * webhook) is not woken by them.
 */
export type About = 'postings' | 'work'

/** What PostgreSQL knows the connection by with which a node listens. */
export const earName = 'registry-bell'
const listenStatement = 'listen registry_bell'
export const ringStatement = (about: About) => `select pg_notify('registry_bell', '${about}')`
/** The lock that a name is held by. */
export const lockOf = (name: string) => sql`hashtextextended(${name}, 0)`

/**
 * After a ring of this node the next are gathered, in milliseconds: a notification makes commits
 * take turns, and wakes every node. Where it was quiet nobody waits for it.
 */
const gathering = 150
/** A waiter looks for itself at this interval: a ring may have been lost, or come too early. */
const longestSilence = 1_000
/** Between attempts to listen to a database that is away. */
const pause = 2_000

export function openBell(
  connection: pg.ClientConfig,
  send: (about: About) => Promise<unknown>,
): Bell {
  let waiting: { go: () => void; interest: About }[] = []
  let gathered: About | undefined
  let rangAt = 0
  let closed = false
  let ear: pg.Client | undefined
  /** When nothing that was asked with it is under way: one statement at a time. */
  let idle: Promise<unknown> = Promise.resolve()
  let silence: NodeJS.Timeout | undefined
  const held = new Set<string>()

  const wake = (about: About) => {
    const isWoken = ({ interest }: { interest: About }) => about === 'work' || interest === about
    const woken = waiting.filter(isWoken)
    waiting = waiting.filter((one) => !isWoken(one))
    if (waiting.length === 0) clearTimeout(silence)
    for (const { go } of woken) go()
  }
  const wakeAll = () => wake('work')

  async function listen() {
    const client = new pg.Client({ ...connection, application_name: earName })
    ear = client
    client.on('notification', ({ payload }) => wake(payload === 'postings' ? payload : 'work'))
    const again = () => {
      if (closed || ear !== client) return
      ear = undefined
      void client.end().catch(() => {})
      setTimeout(() => closed || startListening(), pause).unref()
    }
    client.on('error', again)
    client.on('end', again)
    try {
      await client.connect()
      await client.query(listenStatement)
      for (const name of held) await take(client, name)
    } catch {
      again()
    }
  }

  function startListening() {
    if (!ear) idle = listen()
  }

  const take = (client: pg.Client, name: string) =>
    client.query(sql`select pg_advisory_lock_shared(${lockOf(name)})`)

  const sendGathered = () => {
    const about = gathered ?? 'work'
    gathered = undefined
    rangAt = performance.now()
    if (!closed) send(about).catch(() => {}) // who waits looks for itself before long
  }

  return {
    ring(about = 'work') {
      if (closed) return
      const isSoon = gathered !== undefined
      if (!isSoon || about === 'work') gathered = about
      if (isSoon) return
      const rest = rangAt + gathering - performance.now()
      if (rest > 0) setTimeout(sendGathered, rest).unref()
      else setImmediate(sendGathered)
    },
    rung(interest = 'postings') {
      startListening()
      if (waiting.length === 0) silence = setTimeout(wakeAll, longestSilence)
      return new Promise((go) => waiting.push({ go, interest }))
    },
    async hold(name) {
      held.add(name) // a connection that comes after this one takes it, too
      startListening()
      const taken = idle.then(() => ear && take(ear, name))
      idle = taken.catch(() => {})
      await taken
    },
    async close() {
      closed = true
      wakeAll()
      await ear?.end().catch(() => {})
    },
  }
}
