import { randomUUID } from 'node:crypto'
import sql, { raw } from 'sql-template-tag'
import { release } from '../../platform/files/files.ts'
import { conflict, type Problem } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { lockNumbers } from '../../platform/sql/lock-numbers.ts'
import { queueJob } from '../../platform/sql/queue.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import { record } from '../../platform/sql/unit-of-work.ts'
import type { Part, RefusedRow } from './item.ts'
import type { DateFormat, Encoding, Format, ImportType, Mapping, Mode } from './schema.ts'
import { productOf } from './sql.ts'

/** An import that this process works on for as long as it holds the lease. */
export type Order = {
  id: number
  type: ImportType
  format: Format
  mode: Mode
  dateFormat: DateFormat
  encoding: Encoding
  mapping: Mapping
  sha256: string
  fileDate: string
  size: number
  userID: number | null
  /** The API key with which the import was ordered, if any. */
  apiKeyID: number | null
  username: string
  productIDs: number[] | null
  /** The import was cancelled: no more rows are done, only its refused rows must still be kept. */
  isCancelled: boolean
  lastLine: number
  counts: Counts
  attempts: number
  lease: string
}

export type Counts = { read: number; accepted: number; refused: number }

/** The lease was lost to another process or by a cancellation; uncommitted work is discarded. */
export const lost = () => conflict('lease_lost', 'Somebody else works at the import.')

/** A worker renews its lease at this interval. If it has not for a while, it is taken for dead. */
export const heartbeat = 1_000
const deadAfter = sql`interval '10 seconds'`
const isFree = (alias: string) =>
  sql`(${raw(alias)}.lease is null or ${raw(alias)}.lease_date < now() - ${deadAfter})`

/**
 * Takes the next import that still has its file and that no process works on. Only one import per
 * user runs at a time, so that a user with ten imports does not keep other users waiting. Workers
 * look one after another, because two at once would not see what the other takes. `modes` are the
 * modes for which this process has room.
 */
export async function takeNext(tx: Tx, modes: readonly Mode[]): Promise<Order | undefined> {
  await tx.query(sql`select pg_advisory_xact_lock(${lockNumbers.nextImport})`)
  return take(
    tx,
    sql`select i.import_id from import i
      where i.file_sha256 is not null and ${isFree('i')}
        and i.mode = any(${modes}::text[])
        and (i.status = 'Cancelled' or not exists (
          select 1 from import o
          where o.status in ('Queued', 'Running') and o.username = i.username
            and o.import_id <> i.import_id and not ${isFree('o')}))
      order by i.queued_date, i.import_id limit 1 for update skip locked`,
  )
}

/** The waiting and running imports, shown as jobs of a queue. */
export const importQueue: Fragment = sql`
  select 'import' as task, i.queued_date as since,
    case when ${isFree('i')} then 'ready' else 'running' end as state
  from import i where i.status in ('Queued', 'Running')`

/** Takes one import by id, for a process that runs its own order, unless another works on it. */
export const takeOne = (tx: Tx, id: number) =>
  take(
    tx,
    sql`select i.import_id from import i
      where i.import_id = ${id} and i.file_sha256 is not null and ${isFree('i')} for update`,
  )

async function take(tx: Tx, which: Fragment): Promise<Order | undefined> {
  const [taken] = await tx.query<Omit<Order, 'mapping' | 'counts'> & Taken>(sql`
    update import set status = case when status = 'Cancelled' then status else 'Running' end,
      lease = ${randomUUID()}::uuid, lease_date = now(),
      attempts = attempts + 1, started_date = coalesce(started_date, m.moment)
    from (select now() as moment) m where import_id = (${which})
    returning import_id as id, type, format, mode, date_format as "dateFormat", encoding,
      mapping::text as mapping, file_sha256 as sha256, file_date as "fileDate",
      file_size as size, user_id as "userID", api_key_id as "apiKeyID", username,
      product_ids as "productIDs", status = 'Cancelled' as "isCancelled",
      last_line as "lastLine", rows_read as read,
      rows_accepted as accepted, rows_refused as refused, attempts, lease`)
  if (!taken) return undefined
  const { mapping, read, accepted, refused, ...order } = taken
  const counts = { read, accepted, refused }
  return { ...order, mapping: JSON.parse(mapping ?? '[]') as Mapping, counts }
}

type Taken = { mapping: string | null } & Counts

const leased = ({ id, lease }: Order) => sql`import_id = ${id} and lease = ${lease}::uuid`

/** How far an import has come. */
export type Progress = { counts: Counts; percent: number; unknown: readonly string[] }

const progressed = ({ counts, percent, unknown }: Progress) => sql`
  rows_read = ${counts.read}, rows_accepted = ${counts.accepted},
  rows_refused = ${counts.refused}, progress_percent = ${percent},
  unknown_columns = ${[...unknown]}::text[], lease_date = now()`

export async function tell(tx: Tx, order: Order, progress: Progress): Promise<boolean> {
  const still = await tx.query(sql`
    update import set ${progressed(progress)} where ${leased(order)} returning true`)
  return still.length > 0
}

/** Renews the lease without reporting progress; false if the lease was lost. */
export async function beat(tx: Tx, order: Order): Promise<boolean> {
  const still = await tx.query(sql`
    update import set lease_date = now() where ${leased(order)} returning true`)
  return still.length > 0
}

/**
 * Records, in the transaction of a step, the line up to which rows are done. The condition on the
 * previous line and the lease ensures that a step is committed only once.
 */
export async function moveOn(
  tx: Tx,
  order: Order,
  { from, to }: { from: number; to: number },
  progress: Progress,
) {
  const moved = await tx.query(sql`
    update import set ${progressed(progress)}, last_line = ${to}, attempts = 0
    where ${leased(order)} and last_line = ${from} returning true`)
  if (moved.length === 0) throw lost()
}

/** Writes the audit records and events of a step. */
export const recordParts = (tx: Tx, order: Order, parts: readonly Part[]) =>
  record(
    tx,
    parts.map(({ operation, resource, event, result }) => ({
      write: { ...door(order), operation, resource, event },
      result,
    })),
  )

const door = ({ id, userID, username }: Order) => ({
  userID,
  username,
  requestID: `import ${id}`,
})

export async function keepRefusals(tx: Tx, { id }: Order, refused: readonly RefusedRow[]) {
  if (refused.length === 0) return
  const rows = refused.map(({ line, problems }) => ({ line, problems: JSON.stringify(problems) }))
  await tx.query(sql`
    insert into import_refusal (import_id, line, problems)
    select ${id}, r.line, r.problems::json
    from ${recordset('r', rows, { line: 'int', problems: 'text' })}
    on conflict (import_id, line) do nothing`)
}

export const refusalsOf = ({ id }: Order): Fragment => sql`
  select line, problems::text as problems from import_refusal
  where import_id = ${id} order by line`
export type KeptRefusal = { line: number; problems: string }
export const problemsIn = ({ problems }: KeptRefusal) => JSON.parse(problems) as Problem[]

/** Rows deleted in one transaction. */
const bite = 10_000

/** Deletes some kept refusals; true if there are more. */
export async function forgetRefusals(tx: Tx, { id }: Order): Promise<boolean> {
  const gone = await tx.query(sql`
    delete from import_refusal where ctid = any(array(
      select ctid from import_refusal where import_id = ${id} limit ${bite})) returning true`)
  return gone.length === bite
}

export type Ending = {
  status: 'Completed' | 'Failed'
  message: string | null
  counts: Counts
  unknown: readonly string[]
  errors?: ErrorsFile | undefined
}

type ErrorsFile = { sha256: string; size: number }

/** Columns of an import that ends at the moment m: its file goes, the file of refusals stays. */
const over = (errors: ErrorsFile | undefined) => sql`
  lease = null, file_sha256 = null, errors_sha256 = ${errors?.sha256},
  errors_size = ${errors?.size}, errors_date = case when ${errors !== undefined} then m.moment end`
const moment = sql`(select clock_timestamp() as moment) m`

async function letGo(tx: Tx, order: Order, ended: readonly object[]) {
  if (ended.length === 0) throw lost()
  await release(tx, order.sha256, order.fileDate)
  await queueJob(tx, 'collect_files', {}, 'collect_files')
}

/**
 * Keeps the refused rows of a cancelled import, or notes that this failed. The message is joined
 * with operators, because Citus accepts only immutable functions in an update.
 */
export async function keepErrors(tx: Tx, order: Order, errors: ErrorsFile | undefined) {
  const trouble = errors ? null : 'The refused rows could not be kept.'
  const ended = await tx.query(sql`
    update import set ${over(errors)},
      message = coalesce(message || ' ' || ${trouble}::text, ${trouble}::text, message)
    from ${moment} where ${leased(order)} returning true`)
  await letGo(tx, order, ended)
}

/** Ends an import, with its audit record and event. Throws if the lease was lost. */
export async function end(tx: Tx, order: Order, ending: Ending) {
  const { status, message, counts, unknown, errors } = ending
  const ended = await tx.query(sql`
    update import set status = ${status}, message = ${message},
      ${progressed({ counts, percent: 100, unknown })}, completed_date = m.moment, ${over(errors)}
    from ${moment} where ${leased(order)} returning true`)
  await letGo(tx, order, ended)
  const event = status === 'Completed' ? 'import.completed' : 'import.failed'
  await record(tx, [
    {
      write: { ...door(order), operation: 'POST /Import', resource: 'Import', event },
      result: {
        ...nothingLeft,
        ids: [order.id],
        productID: productOf(order.productIDs),
        counts,
        changes: { status, message, ...counts },
      },
    },
  ])
}

/** Puts an import back at the end of the queue. `counts`: whether the attempt counts as failed. */
export const handBack = (tx: Tx, order: Order, { counts }: { counts: boolean }) =>
  tx.query(sql`
    update import set status = case when status = 'Cancelled' then status else 'Queued' end,
      lease = null, queued_date = now(),
      attempts = attempts - ${counts ? 0 : 1}::int
    where ${leased(order)}`)

/** Whether another user's import is waiting. */
export async function othersWait(tx: Tx, { username }: Order): Promise<boolean> {
  const [waiting] = await tx.query(sql`
    select 1 from import i where i.status in ('Queued', 'Running') and i.username <> ${username}
      and ${isFree('i')} limit 1`)
  return waiting !== undefined
}
