import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'

/** Few enough to be gone in a moment. */
const atOnce = 5000

/**
 * Takes away the oldest events, as many as one small transaction bears, and notes how far; tells
 * whether there may be more. Those that are audit records, too, stay as such, and are past by the
 * note. One node at a time: another finds the note locked and leaves.
 */
export async function sweepEvents(tx: Tx, days: number): Promise<boolean> {
  const [swept] = await tx.query<{ count: number }>(sql`
    with feed as materialized (select * from event_feed for update skip locked),
    oldest as materialized (
      select e.xid, e.event_id, e.occurred_date < now() - make_interval(days => ${days}) as is_old
      from happening e
      where (e.xid, e.event_id) > (
          (select swept_xid from feed), (select swept_event_id from feed))
        and e.xid < pg_snapshot_xmin(pg_current_snapshot())
      order by e.xid, e.event_id limit ${atOnce}),
    last as materialized (
      select xid, event_id from oldest where is_old order by xid desc, event_id desc limit 1),
    gone as (
      delete from event
      where (xid, event_id) <= ((select xid from last), (select event_id from last))),
    noted as (
      update event_feed f set swept_xid = l.xid, swept_event_id = l.event_id from last l)
    select count(*) filter (where is_old)::int as count from oldest`)
  return swept!.count === atOnce
}
