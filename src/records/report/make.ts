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

/** Who makes a report says so at this interval. */
const heartbeat = 5_000
/** Attempts that end in a crash or a fault of ours, before we give up. */
const mostAttempts = 5

export type Makers = {
  transaction: Transaction
  turns: Turns
  snapshot: <T>(work: (snapshot: Snapshot) => Promise<T>, signal: AbortSignal) => Promise<T>
  files: Files
  /** Wakes those who wait for events. */
  ring: () => void
  actorOf: ActorOf
  onFault: (reportID: number, error: unknown) => void
}

/**
 * Makes reports until there is none that this process may begin. Each report wakes somebody once,
 * maybe in vain, where enough of its user's are being made: who makes those looks again after each.
 */
export async function makeReports(makers: Makers, signal: AbortSignal) {
  while (!signal.aborted) {
    const order = await makers.turns.next()
    if (!order) return
    await makeReport(makers, order, signal).finally(() => makers.turns.ended(order))
  }
}

/** What ends badly is told in its record, or tried again. */
async function makeReport(makers: Makers, order: Order, signal: AbortSignal) {
  const attempt = new AbortController()
  const stop = () => attempt.abort()
  signal.addEventListener('abort', stop)
  const progress = { percent: 0, rows: 0 }
  const timer = setInterval(() => {
    tell(makers, order, progress).then(
      (isOurs) => isOurs || stop(),
      () => {}, // the database is away: the next one may get through
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

/** Whether the report is still ours. */
const tell = ({ transaction }: Makers, order: Order, { percent, rows }: Progress) =>
  transaction(async (tx) => {
    const still = await tx.query(sql`
      update report set lease_date = now(), progress_percent = ${percent}, row_count = ${rows}
      where ${leased(order)} returning true`)
    return still.length > 0
  })

/**
 * What is written of a report beside its own row, by who still has it: who was away for long must
 * not put the letters of their file for those of another's.
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

/** Where products live apart, a report of one is made where that one is. */
const inItsPlace = async (present: Snapshot, { productID }: Order): Promise<Snapshot> =>
  productID && (await present.isSpread()) ? streamInProduct(present, productID) : present

type Making = { snapshot: Snapshot; progress: Progress; signal: AbortSignal }

async function makeTable(order: Order, path: string, making: Making) {
  const { snapshot, progress, signal } = making
  const { typeID, format } = order
  // What has no table, or no such format, was refused when it was ordered.
  const sketch = await kinds[typeID]!.sketch!(snapshot, order)
  const table = await tableOf(snapshot, sketch)
  const rows = counted(rowsOf(snapshot, table), table, progress, signal)
  await writers[format as TableFormat](path, table, rows, momentOf(order))
  progress.rows = table.count
}

/** The moment it tells of, known by the time it is made. */
const momentOf = ({ knownAt }: Order) => new Date(knownAt!)

/** Statements, as a letter or as many. */
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

/** A small file as a whole. */
async function bytesOf(files: Files, sha256: string): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of await files.open(sha256)) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

/**
 * The register as it was known when the order says, and of some kinds with the names of their day;
 * else as it is. Tells the moment, by which the same can be had again.
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

/** The file is durable by now; from here on it has a reference. */
const complete = (tx: Tx, order: Order, file: { sha256: string; size: number }, rows: number) =>
  end(
    tx,
    order,
    'report.completed',
    sql`report_status_id = ${Complete}, progress_percent = 100, row_count = ${rows},
      file_sha256 = ${file.sha256}, file_size = ${file.size}, file_date = m.moment,
      known_at = ${order.knownAt}`,
  )

/** The last word on a report, and the event that tells of it: unless it is another's by now. */
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

/** What a person can act on is told; the rest is tried again, and then told without its reasons. */
async function settle(makers: Makers, order: Order, error: unknown, isStopping: boolean) {
  const { transaction, onFault } = makers
  if (isStopping) return transaction((tx) => handBack(tx, order))
  const told = error instanceof Refusal && error.status < 500 ? error.message : undefined
  if (told === undefined) onFault(order.id, error)
  const isLast = order.attempts >= mostAttempts
  const message = told ?? (isLast ? 'The report could not be made; the log says why.' : undefined)
  if (message === undefined) {
    await transaction((tx) => putBack(tx, order, order.attempts))
    throw error // the queue tries again, after a while
  }
  const how = sql`report_status_id = ${Failed}, error_message = ${message.slice(0, 500)}`
  await transaction((tx) => end(tx, order, 'report.failed', how))
  makers.ring()
}

/** Stopped in the middle: another worker starts it anew, and this attempt does not count. */
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
 * Reports whose makers died, at them or on the way to them, go back into the queue; one that still
 * waits there keeps its place. Any node may do this at any time.
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
