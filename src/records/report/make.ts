import sql, { raw } from 'sql-template-tag'
import type { EventType } from '../../platform/event-types.ts'
import type { Files, Transaction } from '../../platform/files/files.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { Refusal } from '../../platform/refusal.ts'
import { raise } from '../../platform/sql/event.ts'
import type { Fragment, Snapshot, Tx } from '../../platform/sql/handle.ts'
import { lookBack } from '../../platform/sql/known.ts'
import { streamInProduct } from '../../platform/sql/spread.ts'
import type { Printed } from '../statement/index-file.ts'
import { statementKinds } from '../statement/kinds.ts'
import { makePdf, makeZip } from '../statement/make.ts'
import { queueReport } from './create.ts'
import { writers } from './format.ts'
import { kinds } from './kinds.ts'
import { type ActorOf, authorise } from './rights.ts'
import type { TableFormat } from './schema.ts'
import { forgetStatements, keepStatements } from './send.ts'
import { type Row, rowsOf, type Table, tableOf } from './table.ts'
import { deadAfter, type Order, type Turns } from './turns.ts'

const { Queued, Running, Complete, Failed } = lookups.ReportStatus

/** The worker that makes a report renews its lease at this interval, in milliseconds. */
const heartbeat = 5_000
/** Attempts that may end in a crash or an internal error before the report fails for good. */
const mostAttempts = 5

export type Makers = {
  transaction: Transaction
  turns: Turns
  snapshot: <T>(work: (snapshot: Snapshot) => Promise<T>, signal: AbortSignal) => Promise<T>
  files: Files
  /** Wakes callers that wait for events. */
  ring: () => void
  actorOf: ActorOf
  onFault: (reportID: number, error: unknown) => void
}

/**
 * Makes reports until none is left that this process may begin. Each report wakes one process once,
 * perhaps in vain because the process already makes the most reports allowed for that user; so the
 * process looks for the next report whenever one has ended.
 */
export async function makeReports(makers: Makers, signal: AbortSignal) {
  while (!signal.aborted) {
    const order = await makers.turns.next()
    if (!order) return
    await makeReport(makers, order, signal).finally(() => makers.turns.ended(order))
  }
}

/** Makes one report. A failure is recorded in the report, or the report is tried again. */
async function makeReport(makers: Makers, order: Order, signal: AbortSignal) {
  const attempt = new AbortController()
  const stop = () => attempt.abort()
  signal.addEventListener('abort', stop)
  const progress = { percent: 0, rows: 0 }
  const timer = setInterval(() => {
    tell(makers, order, progress).then(
      (isOurs) => isOurs || stop(),
      () => {}, // the database cannot be reached: the next renewal may succeed
    )
  }, heartbeat)
  try {
    await make(makers, order, progress, attempt.signal)
  } catch (error) {
    await settle(makers, order, error, signal.aborted)
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', stop)
  }
}

const leased = ({ id, lease }: Order) => sql`report_id = ${id} and lease = ${lease}::uuid`

/** Renews the lease and writes the progress; returns whether this process still has the report. */
const tell = ({ transaction }: Makers, order: Order, { percent, rows }: Progress) =>
  transaction(async (tx) => {
    const still = await tx.query(sql`
      update report set lease_date = now(), progress_percent = ${percent}, row_count = ${rows}
      where ${leased(order)} returning true`)
    return still.length > 0
  })

/**
 * Writes rows that belong to a report, if this process still has the lease. A process that was
 * stalled must not replace the letters of another process's file with those of its own.
 */
const whileOurs = ({ transaction }: Makers, order: Order, write: (tx: Tx) => Promise<unknown>) =>
  transaction(async (tx) => {
    const still = await tx.query(sql`select 1 from report where ${leased(order)} for share`)
    if (still.length === 0) throw new Error('Somebody else makes the report.')
    await write(tx)
  })

type Progress = { percent: number; rows: number }

async function make(makers: Makers, order: Order, progress: Progress, signal: AbortSignal) {
  if (order.attempts > mostAttempts) throw gaveUp()
  await authorise(makers.actorOf, order)
  const file = await makers.files.make((path) =>
    makers.snapshot(async (present) => {
      const { snapshot, moment } = await inItsTime(await inItsPlace(present, order), order)
      order.knownAt = moment
      const making = { snapshot, progress, signal }
      if (isLetters(order)) await makeLetters(makers, order, path, making)
      else await makeTable(order, path, making)
    }, signal),
  )
  signal.throwIfAborted()
  await makers.transaction((tx) => complete(tx, order, file, progress.rows))
  makers.ring()
}

/** In a database spread over nodes, a report on one product is made on the node of that product. */
const inItsPlace = async (present: Snapshot, { productID }: Order): Promise<Snapshot> =>
  productID && (await present.isSpread()) ? streamInProduct(present, productID) : present

type Making = { snapshot: Snapshot; progress: Progress; signal: AbortSignal }

async function makeTable(order: Order, path: string, making: Making) {
  const { snapshot, progress, signal } = making
  const { typeID, format } = order
  // createReport refuses kinds without a table, and formats that a kind does not have.
  const sketch = await kinds[typeID]!.sketch!(snapshot, order)
  const table = await tableOf(snapshot, sketch)
  const rows = counted(rowsOf(snapshot, table), table, progress, signal)
  await writers[format as TableFormat](path, table, rows, momentOf(order))
  progress.rows = table.count
}

/** The moment whose state the report shows; it is set before any part of the file is made. */
const momentOf = ({ knownAt }: Order) => new Date(knownAt!)

/** Whether the report is made as letters: one PDF, or a zip of many. */
const isLetters = ({ typeID, format }: Order) =>
  typeID in statementKinds && (format === 'pdf' || format === 'zip')

async function makeLetters(makers: Makers, order: Order, path: string, making: Making) {
  const { snapshot, progress, signal } = making
  const [all] = await snapshot.query<{ count: number }>(sql`
    select count(*)::int as count from account where product_id = ${order.productID}`)
  const tools = {
    snapshot,
    signal,
    moment: momentOf(order),
    readFile: (sha256: string) => bytesOf(makers.files, sha256),
    onPrinted: async (printed: readonly Printed[]) => {
      await whileOurs(makers, order, (tx) => keepStatements(tx, order.id, printed))
      progress.rows += printed.length
      const share = Math.floor((100 * progress.rows) / Math.max(1, all!.count))
      progress.percent = Math.min(99, share)
    },
  }
  await whileOurs(makers, order, (tx) => forgetStatements(tx, order.id))
  const make = order.format === 'zip' ? makeZip : makePdf
  progress.rows = await make(tools, order, path)
}

/** Reads a small file into memory. */
async function bytesOf(files: Files, sha256: string): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of await files.open(sha256)) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

/**
 * The register as it was known at the order's knownAt, for some kinds with the names of the
 * report's date; else as it is now. Also returns the moment, with which the same report can be made
 * again.
 */
async function inItsTime(present: Snapshot, { productID, date, knownAt, typeID }: Order) {
  const [row] = await present.query<{ moment: string; namedAt: string | null }>(sql`
    select m.moment::text as moment, (
      select least(m.moment, (${date}::date + 1)::timestamp at time zone p.time_zone)
      from product p where p.product_id = ${productID})::text as "namedAt"
    from (select coalesce(${knownAt}::timestamptz, now()) as moment) m`)
  const { moment } = row!
  const namedAt = (kinds[typeID]!.namesAsAt && row!.namedAt) || undefined
  const isPast = knownAt !== null || (namedAt !== undefined && namedAt !== moment)
  if (!isPast) return { snapshot: present, moment }
  return { snapshot: await lookBack(present, { knownAt: knownAt ?? undefined, namedAt }), moment }
}

async function* counted(
  rows: AsyncIterable<Row[]>,
  { count }: Table,
  progress: Progress,
  signal: AbortSignal,
) {
  for await (const batch of rows) {
    signal.throwIfAborted()
    yield batch
    progress.rows += batch.length
    progress.percent = Math.min(99, Math.floor((100 * progress.rows) / Math.max(1, count)))
  }
}

/** Completes the report: its file is already durable, and this row makes the reference to it. */
const complete = (tx: Tx, order: Order, file: { sha256: string; size: number }, rows: number) =>
  end(
    tx,
    order,
    'report.completed',
    sql`report_status_id = ${Complete}, progress_percent = 100, row_count = ${rows},
      file_sha256 = ${file.sha256}, file_size = ${file.size}, file_date = m.moment,
      known_at = ${order.knownAt}`,
  )

/** Ends a report and raises its event, unless another process has the report by now. */
async function end(tx: Tx, order: Order, type: EventType, how: Fragment) {
  const { id, productID, userID } = order
  const ended = await tx.query(sql`
    update report set ${how}, completed_date = now(), lease = null
    from (select clock_timestamp() as moment) m where ${leased(order)} returning true`)
  if (ended.length > 0)
    await raise(tx, [{ type, resource: 'Report', productID, ids: [id], userID }])
}

const gaveUp = () =>
  new Refusal(409, [
    { code: 'gave_up', message: 'The report could not be made in several attempts.' },
  ])

/**
 * Settles a failure. A refusal is shown to the user; any other error is logged and the report tried
 * again, and after the last attempt the user sees a message without the cause.
 */
async function settle(makers: Makers, order: Order, error: unknown, isStopping: boolean) {
  const { transaction, onFault } = makers
  if (isStopping) return transaction((tx) => handBack(tx, order))
  const told = error instanceof Refusal && error.status < 500 ? error.message : undefined
  if (told === undefined) onFault(order.id, error)
  const isLast = order.attempts >= mostAttempts
  const message = told ?? (isLast ? 'The report could not be made; the log says why.' : undefined)
  if (message === undefined) {
    await transaction((tx) => putBack(tx, order, order.attempts))
    throw error // the queue runs the job again after a while
  }
  const how = sql`report_status_id = ${Failed}, error_message = ${message.slice(0, 500)}`
  await transaction((tx) => end(tx, order, 'report.failed', how))
  makers.ring()
}

/**
 * The process is stopping: another worker starts the report anew, and this attempt does not count.
 */
async function handBack(tx: Tx, order: Order) {
  if (await putBack(tx, order, order.attempts - 1)) await queueReport(tx, order.id)
}

const putBack = async (tx: Tx, order: Order, attempts: number) => {
  const rows = await tx.query(sql`
    update report set report_status_id = ${Queued}, progress_percent = 0, row_count = null,
      attempts = ${attempts}, lease = null
    where ${leased(order)} returning true`)
  return rows.length > 0
}

/**
 * Puts reports back into the queue whose worker died, or died before it took them; `queueReport`
 * keeps the place of a job that is still waiting. Any node may do this at any time.
 */
export const reviveReports = ({ transaction }: Makers) =>
  transaction(async (tx) => {
    const dead = await tx.query<{ id: number }>(sql`
      update report set report_status_id = ${Queued}, lease = null, lease_date = now()
      where report_id = any(array(
        select report_id from report
        where report_status_id in (${raw(`${Queued}, ${Running}`)})
          and coalesce(lease_date, created_date) < now() - ${deadAfter}
        order by coalesce(lease_date, created_date) limit 100 for update skip locked))
      returning report_id as id`)
    for (const { id } of dead) await queueReport(tx, id)
    return dead.length
  })
