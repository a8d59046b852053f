import pg from 'pg'
import sql from 'sql-template-tag'

/**
 * Wakes waiters on every node when something new is in the database. The writer rings with NOTIFY;
 * each node listens on one connection. A ring is lost if its node dies, so waiting also ends by
 * itself after a while.
 */
export type Bell = {
  ring(about?: About): void
  /** Resolves at the next ring of interest on any node, or after a while without one. */
  rung(interest?: About): Promise<void>
  /** Holds a name by a shared advisory lock for as long as this node runs: see lockOf. */
  hold(name: string): Promise<void>
  close(): Promise<void>
}

/**
 * What a ring is about. Most rings are about postings alone; waiters for `work` (an import, a
 * webhook) are not woken by those.
 */
export type About = 'postings' | 'work'

/** The application name of the connection with which a node listens. */
export const earName = 'registry-bell'
const listenStatement = 'listen registry_bell'
export const ringStatement = (about: About) => `select pg_notify('registry_bell', '${about}')`
/** The key of the advisory lock by which a name is held. */
export const lockOf = (name: string) => sql`hashtextextended(${name}, 0)`

/**
 * After a ring, further rings of this node are gathered for this time, in milliseconds: a
 * notification makes commits take turns and wakes every node. The first ring after a quiet time is
 * sent at once.
 */
const gathering = 150
/**
 * Waiters are woken at this interval (in milliseconds) even without a ring: a ring may have been
 * lost, or have come too early.
 */
const longestSilence = 1_000
/** The pause between attempts to reach a database that is away, in milliseconds. */
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
  /**
   * Settles when no SQL statement is under way on the listening connection: they run one at a time.
   */
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
    if (!closed) send(about).catch(() => {}) // waiters look again before long anyway
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
      held.add(name) // a later connection, after a reconnect, takes the name again
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
