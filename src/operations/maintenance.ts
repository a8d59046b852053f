import sql from 'sql-template-tag'
import { sealAudit } from '../access/audit/seal.ts'
import type { Signer } from '../access/audit/signer.ts'
import { endedWindows, tellUnaudited } from '../access/password/throttle.ts'
import { sweepEvents } from '../integration/event/sweep.ts'
import { sweepImports } from '../integration/import/sql.ts'
import { sweepDeliveries } from '../integration/webhook/attempt.ts'
import { foldClosings } from '../ledger/biz-transaction/fold.ts'
import type { Log } from '../platform/log.ts'
import { mendBlockRanges } from '../platform/sql/block-ranges.ts'
import { clockOffNow } from '../platform/sql/clock.ts'
import type { Database } from '../platform/sql/handle.ts'
import { migrationNames } from '../platform/sql/migrate.ts'
import { nothingLeft } from '../platform/sql/render.ts'
import { unitOfWork } from '../platform/sql/unit-of-work.ts'

const minute = 60_000
const tasks = [
  { every: 10 * minute, run: sweep },
  { every: minute, run: auditFailures },
  { every: minute, run: foldHistories },
  { every: minute, run: noticeNewer },
  { every: 10 * minute, run: noticeClock },
  { every: minute, run: mendRanges },
  { every: 2_000, run: sealTrail },
]

/** How long events are kept, and the signer of the audit trail. */
export type Keeping = { eventDays: number; signer: Signer }

/**
 * `ours` holds the names of this version's migrations, read at the start: the files may be replaced
 * by another version's later.
 */
type Kept = Keeping & { ours: readonly string[] }

/** Starts the periodic tasks. Every node runs them; two nodes at once do no harm. */
export function startMaintenance(database: Database, keeping: Keeping, log: Log): () => void {
  const kept: Kept = { ...keeping, ours: migrationNames() }
  const timers = tasks.map(({ every, run }) => {
    let isBusy = false
    const attempt = async () => {
      if (isBusy) return
      isBusy = true
      await run(database, kept).catch((err: Error) =>
        log.warn({ message: err.message }, 'maintenance failed'),
      )
      isBusy = false
    }
    return setInterval(attempt, every).unref()
  })
  return () => timers.forEach(clearInterval)
}

/** Seals the audit records written since the last seal, as far as that is possible yet. */
export async function sealTrail(database: Database, { signer }: Pick<Keeping, 'signer'>) {
  while (await database.transaction((tx) => sealAudit(tx, signer)));
}

/** Warns about a clock that was set wrong while the node runs, in the same words as at a start. */
export async function noticeClock(database: Database) {
  const off = await clockOffNow(database)
  if (off) throw new Error(off)
}

/**
 * Warns when a newer version has migrated the database. A start does not migrate while it sees
 * other nodes run, but a node that was cut off from the database can come back to a migrated one.
 * It warns until it is replaced.
 */
export async function noticeNewer({ query }: Database, { ours }: Pick<Kept, 'ours'>) {
  const newer = await query<{ name: string }>(sql`
    select name from migration where name <> all(${ours}::text[]) order by name`)
  if (newer.length === 0) return
  throw new Error(
    `A newer version has migrated the database (${newer.map(({ name }) => name).join(', ')}) ` +
      'while this node ran: replace it with that version, and run the command verify.',
  )
}

/** Rewrites the closing figures of long histories that have changed often, piece by piece. */
async function foldHistories(database: Database) {
  while (await database.transaction((tx) => foldClosings(tx)));
}

/**
 * Repairs block range indexes, so that reads which had come to scan whole tables touch few blocks
 * again.
 */
async function mendRanges({ transaction }: Database) {
  await mendBlockRanges(transaction)
}

/** Audits failed sign-ins whose window has ended: one record for each name and network. */
export async function auditFailures(database: Database) {
  for (const { pair, userID, username } of await endedWindows(database)) {
    const door = {
      userID,
      username,
      operation: 'POST /User/Login',
      resource: 'User',
      event: null,
      requestID: 'maintenance',
    }
    await unitOfWork(database, door, async (tx) => {
      const times = await tellUnaudited(tx, pair)
      const changes = { signIn: 'failed', times }
      return { ...nothingLeft, ids: userID ? [userID] : [], changes, isToldLater: times === 0 }
    })
  }
}

/**
 * Rows deleted in one transaction: few enough to hold nobody up. Many such transactions clear any
 * backlog.
 */
const biteSize = 1000

/** Deletes expired rows, one bite at a time. Rows that are locked are left for later. */
const outdated = [
  sql`delete from idempotency where ctid = any(array(
    select ctid from idempotency where created_date < now() - interval '24 hours'
    limit ${biteSize} for update skip locked)) returning true`,
  sql`delete from login_failure where ctid = any(array(
    select ctid from login_failure where failed_date < now() - interval '1 day'
    limit ${biteSize} for update skip locked)) returning true`,
  sql`delete from refresh_token where ctid = any(array(
    select ctid from refresh_token where expires_date < now()
    limit ${biteSize} for update skip locked)) returning true`,
  sql`delete from session where ctid = any(array(
    select s.ctid from session s where s.created_date < now() - interval '1 day'
      and not exists (select 1 from refresh_token t where t.session_id = s.session_id)
    limit ${biteSize} for update skip locked)) returning true`,
]

export async function sweep(database: Database, { eventDays }: Pick<Keeping, 'eventDays'>) {
  for (const bite of outdated)
    while ((await database.transaction((tx) => tx.query(bite))).length === biteSize);
  while (await database.transaction((tx) => sweepEvents(tx, eventDays)));
  while (await database.transaction((tx) => sweepDeliveries(tx, eventDays)));
  while (await database.transaction(sweepImports));
}
