import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'
import type { Place } from './cursor.ts'
import { after } from './sql.ts'

/** The most events in one sweep: few enough to be deleted in a moment. */
const atOnce = 5000

/**
 * Deletes the oldest events, as many as a small transaction can bear, and notes the last place;
 * returns whether there may be more. Audit records that are events as well stay, and the note alone
 * takes them out of the feed. One node works at a time: another finds the note locked and leaves.
 * Reading and deleting are separate SQL statements, since audit records are distributed by Citus
 * and events are not.
 */
export async function sweepEvents(tx: Tx, days: number): Promise<boolean> {
  const [feed] = await tx.query<Place & { horizon: string }>(sql`
    select swept_xid::text as xid, swept_event_id::text as id,
      pg_snapshot_xmin(pg_current_snapshot())::text as horizon
    from event_feed for update skip locked`)
  if (!feed) return false
  const [last] = await tx.query<Place & { scanned: number }>(sql`
    with oldest as materialized (
      select e.xid, e.event_id, e.occurred_date from happening e
      where ${after(feed)} and e.xid < ${feed.horizon}::xid8
      order by e.xid, e.event_id limit ${atOnce})
    select e.xid::text as xid, e.event_id::text as id,
      (select count(*) from oldest)::int as scanned
    from oldest e where e.occurred_date < now() - make_interval(days => ${days})
    order by e.xid desc, e.event_id desc limit 1`)
  if (!last) return false
  await forgetUpTo(tx, last)
  return last.scanned === atOnce
}

const forgetUpTo = (tx: Tx, { xid, id }: Place) =>
  tx.query(sql`
    with gone as (
      delete from event where (xid, event_id) <= (${xid}::xid8, ${id}::bigint))
    update event_feed set swept_xid = ${xid}::xid8, swept_event_id = ${id}::bigint`)
