import sql from 'sql-template-tag'
import { standing } from '../../parties/account/standing.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'

/** Whether account a of entity n is closed, by its own status or by that of its entity. */
export const isClosed = sql`${standing('a', 'n')} = 'closed'`

/** The closed accounts among entitlements e, which get money instead of units. */
export async function closedAmong(tx: Tx, own: Fragment): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(sql`
    select e.account_id as id
    from entitlement e
    join account a on a.account_id = e.account_id
    join biz_entity n on n.biz_entity_id = a.biz_entity_id
    where ${own} and ${isClosed}`)
  return rows.map(({ id }) => id)
}
