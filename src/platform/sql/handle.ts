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

/** A statement or a part of one; parts nest, values become parameters. */
export type Fragment = Statement

/** Reads take any handle: the pool or a transaction. */
export interface Sql {
  query<Row extends object>(statement: Fragment): Promise<Row[]>
  /** Whether the ledger is spread over several machines: see spread.ts. */
  isSpread(): Promise<boolean>
}

declare const insideTransaction: unique symbol

/** Writes take an open transaction; the pool does not fit this type. */
export interface Tx extends Sql {
  readonly [insideTransaction]: true
}

/** Reads of one moment, however long they take and however many rows they have. */
export interface Snapshot extends Sql {
  stream<Row extends object>(statement: Fragment, batch: number): AsyncGenerator<Row[]>
}

/** One statement that is a transaction of its own: what it writes is committed when it ends. */
export interface Once {
  once<Row extends object>(statement: Form): Promise<Row[]>
}

/** Only routes and the unit of work hold this. */
export interface Database extends Sql, Once {
  /** Breaks off when the signal says so, also in the middle of a statement. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>, signal?: AbortSignal): Promise<T>
  /**
   * Runs the work in one transaction, again from the start when PostgreSQL asks for it. Its locks
   * may have to come sooner than others'.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, how?: { lockTimeout?: string }): Promise<T>
  /** Rows of a read as they come, in batches: memory stays flat whatever their number. */
  stream<Row extends object>(statement: Fragment, batch: number): AsyncGenerator<Row[]>
  /** For the reads of a user: a standby that has what they have written, else the primary. */
  readFor(userID: number): Sql
  readonly readers: Readers
  /** Whether the last write was taken, or one would be by now: see writable.ts. */
  takesWrites(): Promise<boolean>
  /** How many there may be to write with; and as many to read with. */
  readonly connections: number
  /** Wakes those who wait for what a transaction has written; see bell.ts. */
  readonly bell: Bell
  counts(): { total: number; idle: number; waiting: number }
  close(): Promise<void>
}

export function openDatabase(options: DatabaseOptions): Database {
  const reads = openPool(options, '-c default_transaction_read_only=on')
  // A write has no pages, and looks up what its lists name one by one: one plan suits any values.
  // By its own judgement PostgreSQL would plan lists anew each time, half of what a write costs. On
  // Citus the values tell where a statement goes, so that there each has a plan of its own.
  const writes = openPool(options, '-c plan_cache_mode=force_generic_plan')
  writes.on('connect', (client) => void client.query(plannedByValues).catch(() => {}))
  const { notice, takesWrites } = watchWrites(writes)
  const onWrites = <T>(use: (client: pg.PoolClient) => Promise<T>) =>
    withClient(writes, use).catch(notice)
  const watch = watchOver(options.connection)
  // Reads have names of their own: whatever is read, the statements of writes keep theirs.
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
  void isSpread() // before the first statement that depends on it
  const standbys = (options.standbys ?? []).map((connection) =>
    openPool({ ...options, connection }, '-c default_transaction_read_only=on'),
  )
  const readers = openReaders(standbys, reads)
  // On a connection for reads: who writes has waited for theirs.
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
          // A standby may be away, or have to replay what the statement still reads.
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
 * How long we wait for an answer, in milliseconds. A server that is frozen takes what we send and
 * says nothing, and one that has lost its standby waits for it without end; its own limits do not
 * help then. Statements inside a transaction may take long: see watch.ts.
 */
const patience = { begin: 5_000, read: 35_000, once: 35_000, commit: 15_000 }

type Run = <Row extends object>(client: pg.PoolClient, statement: Fragment | Form) => Promise<Row[]>

const runner =
  (nameOf: StatementNames, watch: Watch, placed: Spread['placed'], limit?: number): Run =>
  async <Row extends object>(client: pg.PoolClient, statement: Fragment | Form) => {
    // A form is sent as it is: where the ledger is spread there are none.
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

/** The names that a connection has prepared statements under. */
function preparedOn(client: pg.PoolClient): Set<string> {
  const names = prepared.get(client) ?? new Set()
  prepared.set(client, names)
  return names
}

/** A client whose connection broke, or whose prepared plans went stale, is not used again. */
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
    // The server leads no more, and this connection is from when it did.
    if (codeOf(error) === readOnly) throw takesNoWrites(error)
    // What is lost has rolled back by itself, and one that hangs would not answer this either.
    if (isLostConnection(error) || isAway(error)) throw error
    // Who cannot even roll back must not be met again by another.
    await client.query(timed('rollback', patience.begin)).catch(refuseUnreachable)
    throw error
  }
}

/**
 * In one round trip; but Citus repeats what a transaction sets for itself on its workers by the
 * whole text that it came in, whose begin they then complain of.
 */
async function opened(client: pg.PoolClient, text: string, isSpread: boolean) {
  for (const one of isSpread ? text.split('; ') : [text])
    await client.query(timed(one, patience.begin))
}

const timed = (text: string, limit: number) => ({ text, query_timeout: limit })

async function commit(client: pg.PoolClient) {
  const { command } = await committing(client, client.query(timed('commit', patience.commit)))
  // A statement failed and whoever sent it took no notice: PostgreSQL has undone everything.
  if (command !== 'COMMIT') throw new Error('The transaction had failed before its commit.')
}

/** Success is told only of what is committed, here and on the standby that must have it. */
async function committing<T>(client: pg.PoolClient, answer: Promise<T>): Promise<T> {
  let unreplicated = false
  const hear = (notice: { message?: string | undefined; routine?: string | undefined }) => {
    // The statement succeeds all the same, with a warning that nobody would read.
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

// Whole products are read here, so that the planner may scan and has room to sort.
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
    // The statement's time runs on while the reader takes its time.
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
// Serialization failure and deadlock. A lock that did not come free in time is not waited for
// again: meanwhile others would wait for the connection.
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
