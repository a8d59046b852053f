import sql from 'sql-template-tag'
import type { Tx } from '../../platform/sql/handle.ts'

/** Few enough to be gone in a moment. */
const atOnce = 5000

/**
 * Takes away the oldest events, as many as one small transaction bears, and notes how far; tells
 * whether there may be more. One node at a time: another finds the note locked and leaves.
 */
export async function sweepEvents(tx: Tx, days: number): Promise<boolean> {
  const [swept] = await tx.query<{ count: number }>(sql`
    with feed as materialized (select 1 from event_feed for update skip locked),
    gone as (
      delete from event e using (
        select xid, event_id, occurred_date from event
        where exists (select 1 from feed) and xid < pg_snapshot_xmin(pg_current_snapshot())
        order by xid, event_id limit ${atOnce}) oldest
      where e.xid = oldest.xid and e.event_id = oldest.event_id
        and oldest.occurred_date < now() - make_interval(days => ${days})
      returning e.xid, e.event_id),
    last as (select xid, event_id from gone order by xid desc, event_id desc limit 1),
    noted as (
      update event_feed f set swept_xid = l.xid, swept_event_id = l.event_id from last l)
    select count(*)::int as count from gone`)
  return swept!.count === atOnce
}
