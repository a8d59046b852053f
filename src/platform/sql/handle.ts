import type pg from 'pg'
import Cursor from 'pg-cursor'
import type { Sql as Statement } from 'sql-template-tag'
import {
  codeOf,
  isAway,
  isLostConnection,
  isOfWhatWent,
  isStalePlan,
  isUnreplicated,
  nameConstraint,
  outcomeUnknown,
  readOnly,
  refuseUnreachable,
  takesNoWrites,
  unreachable,
} from './away.ts'
import { type Bell, openBell, ringStatement } from './bell.ts'
import type { Form } from './form.ts'
import { lend } from './lend.ts'
import { type DatabaseOptions, openPool, plannedByValues, types } from './pool.ts'
import { openReaders, type Readers } from './readers.ts'
import { type Spread, spreadOver } from './spread.ts'
import { mostOnConnection, type StatementNames, statementNames } from './statements.ts'
import { type Watch, watchOver } from './watch.ts'
import { watchWrites } from './writable.ts'

/** An SQL statement or a part of one; parts nest, values become parameters. */
export type Fragment = Statement

/** Reads take any handle: the pool or a transaction. */
export interface Sql {
  query<Row extends object>(statement: Fragment): Promise<Row[]>
  /** Whether the ledger is spread over several machines (Citus): see spread.ts. */
  isSpread(): Promise<boolean>
}

declare const insideTransaction: unique symbol

/** Writes take an open transaction; the pool does not fit this type. */
export interface Tx extends Sql {
  readonly [insideTransaction]: true
}

/** Reads that all see the database as of one moment, however long they take. */
export interface Snapshot extends Sql {
  stream<Row extends object>(statement: Fragment, batch: number): AsyncGenerator<Row[]>
}

/** One SQL statement that is its own transaction: its writes are committed when it ends. */
export interface Once {
  once<Row extends object>(statement: Form): Promise<Row[]>
}

/** Only routes and the unit of work hold this. */
export interface Database extends Sql, Once {
  /** Aborting the signal ends the snapshot, also in the middle of an SQL statement. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>, signal?: AbortSignal): Promise<T>
  /**
   * Runs the work in one transaction; starts it again after an error that a new attempt can cure,
   * such as a serialization failure or a deadlock (isRetried). `lockTimeout` shortens the wait for
   * locks.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, how?: { lockTimeout?: string }): Promise<T>
  /** Streams the rows of a read in batches, so that memory use does not depend on their number. */
  stream<Row extends object>(statement: Fragment, batch: number): AsyncGenerator<Row[]>
  /**
   * For the reads of one user: a standby that has replayed everything this user has written,
   * otherwise the primary.
   */
  readFor(userID: number): Sql
  readonly readers: Readers
  /** Whether the server takes writes; see writable.ts. */
  takesWrites(): Promise<boolean>
  /** The size of the pool for writes; the pool for reads has the same size. */
  readonly connections: number
  /** Wakes waiters after a transaction has written something; see bell.ts. */
  readonly bell: Bell
  counts(): { total: number; idle: number; waiting: number }
  close(): Promise<void>
}

export function openDatabase(options: DatabaseOptions): Database {
  const reads = openPool(options, '-c default_transaction_read_only=on')
  // Writes return no pages and look up the records of their lists one by one, so one generic plan
  // suits all values. Left to itself, PostgreSQL would plan SQL statements with lists anew each
  // time, which is half the cost of a write. On Citus the values decide which shard an SQL
  // statement goes to, so `plannedByValues` turns generic plans off there.
  const writes = openPool(options, '-c plan_cache_mode=force_generic_plan')
  writes.on('connect', (client) => void client.query(plannedByValues).catch(() => {}))
  const { notice, takesWrites } = watchWrites(writes)
  const onWrites = <T>(use: (client: pg.PoolClient) => Promise<T>) =>
    withClient(writes, use).catch(notice)
  const watch = watchOver(options.connection)
  // Reads and writes have separate prepared-statement names, so that reads never displace the
  // prepared statements of writes.
  const names = (prefix: string) =>
    options.prepareStatements ? statementNames(prefix) : () => undefined
  const placed: Spread['placed'] = (statement) => spread.placed(statement)
  const writeNames = names('w')
  const run = runner(writeNames, watch, placed)
  const runOnce = runner(writeNames, watch, placed, patience.once)
  const read = runner(names('r'), watch, placed, patience.read)
  const query = <Row extends object>(statement: Fragment) =>
    withRetries(() => withClient(reads, (c) => read<Row>(c, statement)))
  const spread = spreadOver(query)
  const { isSpread } = spread
  void isSpread() // asked at start, before the first SQL statement that depends on it
  const standbys = (options.standbys ?? []).map((connection) =>
    openPool({ ...options, connection }, '-c default_transaction_read_only=on'),
  )
  const readers = openReaders(standbys, reads)
  // Rings use a read connection, so that they do not compete with waiting writers for theirs.
  const bell = openBell(options.connection, (about) => reads.query(ringStatement(about)))

  return {
    query,
    isSpread,
    readers,
    readFor: (userID) => ({
      isSpread,
      query: <Row extends object>(statement: Fragment) => {
        const reader = readers.choose(userID)
        if (!reader) return query<Row>(statement)
        return withClient(reader.pool, (c) => read<Row>(c, statement)).catch((error) => {
          // A standby may be unreachable, or cancel the read because replay conflicts with it.
          if (!isAway(error) && !retryable.has(codeOf(error))) throw error
          reader.replayed = undefined
          return query<Row>(statement)
        })
      },
    }),
    transaction: (work, { lockTimeout } = {}) =>
      withRetries(() =>
        onWrites((c) => {
          const tx = { query: (statement: Fragment) => run(c, statement), isSpread } as Tx
          return inTransaction(c, tx, work, lockTimeout)
        }),
      ),
    once: (statement) => withRetries(() => onWrites((c) => committing(c, runOnce(c, statement)))),
    stream: (statement, batch) => streamed(reads, watch, placed(statement), batch),
    snapshot: (work, signal) =>
      withClient(reads, (c) => {
        const handle = { query: (statement: Fragment) => run(c, statement), isSpread } as Sql
        const asked = (snapshot: Snapshot) =>
          work({ ...snapshot, stream: (s, batch) => snapshot.stream(placed(s), batch) })
        return inSnapshot(c, handle, watch, asked, signal)
      }),
    takesWrites,
    connections: options.connections,
    bell,
    counts: () => ({
      total: reads.totalCount + writes.totalCount,
      idle: reads.idleCount + writes.idleCount,
      waiting: reads.waitingCount + writes.waitingCount,
    }),
    close: async () => {
      await Promise.all([bell.close(), readers.close()])
      await Promise.all([reads.end(), writes.end()])
    },
  }
}

/**
 * How long we wait for an answer, in milliseconds. A frozen server accepts what we send and never
 * answers, and a server that lost its synchronous standby waits for it forever; the server's own
 * timeouts do not help then. SQL statements inside a transaction may take long: see watch.ts.
 */
const patience = { begin: 5_000, read: 35_000, once: 35_000, commit: 15_000 }

type Run = <Row extends object>(client: pg.PoolClient, statement: Fragment | Form) => Promise<Row[]>

const runner =
  (nameOf: StatementNames, watch: Watch, placed: Spread['placed'], limit?: number): Run =>
  async <Row extends object>(client: pg.PoolClient, statement: Fragment | Form) => {
    // A Form is sent unchanged; forms are never used where the ledger is spread.
    const { text, values } = 'strings' in statement ? placed(statement) : statement
    const name = nameOf(text)
    if (name) preparedOn(client).add(name)
    const asked = client.query<Row>({
      text,
      values,
      ...(name && { name }),
      ...(limit && { query_timeout: limit }),
    })
    return (await watch(client, asked.catch(nameConstraint))).rows
  }

const prepared = new WeakMap<pg.PoolClient, Set<string>>()

/** The names of the statements prepared on a connection. */
function preparedOn(client: pg.PoolClient): Set<string> {
  const names = prepared.get(client) ?? new Set()
  prepared.set(client, names)
  return names
}

/**
 * Runs `use` with a pooled connection. A connection that broke, or whose prepared plans went stale,
 * is not used again.
 */
async function withClient<T>(pool: pg.Pool, use: (client: pg.PoolClient) => Promise<T>) {
  const client = await lend(pool)
  let spoilt = false
  try {
    return await use(client)
  } catch (error) {
    spoilt = isLostConnection(error) || isAway(error) || isStalePlan(error)
    throw isLostConnection(error) ? unreachable(error) : error
  } finally {
    client.release(spoilt || preparedOn(client).size > mostOnConnection)
  }
}

async function inTransaction<T>(
  client: pg.PoolClient,
  tx: Tx,
  work: (tx: Tx) => Promise<T>,
  lockTimeout?: string,
) {
  const begin = lockTimeout ? `begin; set local lock_timeout = '${lockTimeout}'` : 'begin'
  await opened(client, begin, await tx.isSpread())
  try {
    const result = await work(tx)
    await commit(client)
    return result
  } catch (error) {
    // The server was demoted to a standby after this connection had been opened.
    if (codeOf(error) === readOnly) throw takesNoWrites(error)
    // A lost connection has rolled back by itself, and a hanging one would not answer a rollback
    // either.
    if (isLostConnection(error) || isAway(error)) throw error
    // A connection that cannot even roll back must not return to the pool.
    await client.query(timed('rollback', patience.begin)).catch(refuseUnreachable)
    throw error
  }
}

/**
 * Opens the transaction in one round trip, except on Citus: it repeats a `set local` on its workers
 * by the whole text of the message, and the workers then complain about the `begin` in it.
 */
async function opened(client: pg.PoolClient, text: string, isSpread: boolean) {
  for (const one of isSpread ? text.split('; ') : [text])
    await client.query(timed(one, patience.begin))
}

const timed = (text: string, limit: number) => ({ text, query_timeout: limit })

async function commit(client: pg.PoolClient) {
  const { command } = await committing(client, client.query(timed('commit', patience.commit)))
  // An SQL statement failed and its caller ignored the error: PostgreSQL has undone everything.
  if (command !== 'COMMIT') throw new Error('The transaction had failed before its commit.')
}

/** Waits for a commit. Success means committed here and on the synchronous standby. */
async function committing<T>(client: pg.PoolClient, answer: Promise<T>): Promise<T> {
  let unreplicated = false
  const hear = (notice: { message?: string | undefined; routine?: string | undefined }) => {
    // When the wait for the standby is cancelled, the commit still succeeds, with only a warning.
    unreplicated ||= isUnreplicated(notice)
  }
  client.on('notice', hear)
  const result = await answer
    .catch((error) => {
      if (codeOf(error) === readOnly) throw takesNoWrites(error)
      throw isLostConnection(error) ? outcomeUnknown(error) : error
    })
    .finally(() => client.off('notice', hear))
  if (unreplicated) throw outcomeUnknown(new Error('The wait for the standby was cancelled.'))
  return result
}

// Snapshots read whole products: the planner may use sequential scans and gets memory to sort.
const beginSnapshot = `begin isolation level repeatable read read only;
  set local statement_timeout = '10min'; set local enable_seqscan = on; set local work_mem = '64MB'`

async function inSnapshot<T>(
  client: pg.PoolClient,
  handle: Sql,
  watch: Watch,
  work: (snapshot: Snapshot) => Promise<T>,
  signal: AbortSignal = new AbortController().signal,
) {
  const breakOff = () => void client.end().catch(() => {})
  signal.addEventListener('abort', breakOff)
  try {
    await watch(client, client.query(beginSnapshot))
    return await work({
      ...handle,
      stream: (statement, batch) => fetched(client, watch, statement, batch, signal),
    })
  } finally {
    signal.removeEventListener('abort', breakOff)
    if (!signal.aborted) await watch(client, client.query('rollback')).catch(() => {})
  }
}

async function* fetched<Row extends object>(
  client: pg.PoolClient,
  watch: Watch,
  { text, values }: Fragment,
  batch: number,
  signal: AbortSignal,
): AsyncGenerator<Row[]> {
  const cursor = client.query(new Cursor<Row>(text, values, { types }))
  let lost = false
  try {
    for (;;) {
      const rows = await watch(client, cursor.read(batch)).catch((error) => {
        lost = isLostConnection(error)
        throw error
      })
      if (rows.length === 0) return
      yield rows
    }
  } finally {
    // A cursor on a lost connection never answers that it is closed.
    if (!lost && !signal.aborted) await watch(client, cursor.close()).catch(() => {})
  }
}

async function* streamed<Row extends object>(
  pool: pg.Pool,
  watch: Watch,
  statement: Fragment,
  batch: number,
): AsyncGenerator<Row[]> {
  const client = await lend(pool)
  let lost: unknown
  const tellLost = (error: unknown) => {
    lost = isLostConnection(error) ? unreachable(error) : undefined
    throw lost ?? error
  }
  let cursor: Cursor<Row> | undefined
  try {
    // The statement timeout keeps running while the consumer is slow.
    const begin = "begin; set local statement_timeout = '10min'"
    await client.query(timed(begin, patience.begin)).catch(tellLost)
    cursor = client.query(new Cursor<Row>(statement.text, statement.values, { types }))
    for (;;) {
      const rows = await watch(client, cursor.read(batch)).catch(tellLost)
      if (rows.length === 0) return
      yield rows
    }
  } finally {
    // A cursor on a lost connection never answers that it is closed.
    if (!lost && cursor) await watch(client, cursor.close()).catch(() => {})
    if (!lost)
      await client.query(timed('rollback', patience.begin)).catch((error) => {
        lost = error
      })
    client.release(Boolean(lost))
  }
}

const attempts = 5
// Serialization failure and deadlock. A lock timeout is not retried: meanwhile other requests would
// wait for the connection.
const retryable = new Set(['40001', '40P01'])
const isRetried = (error: unknown) =>
  retryable.has(codeOf(error)) || isStalePlan(error) || isOfWhatWent(error)

async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === attempts || !isRetried(error)) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 45))
  }
}
