import sql from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { byProduct, inProduct } from '../../platform/sql/spread.ts'
import type { AccountKey } from './ledger-row.ts'

/** Which kinds of history an account has. */
export type History = {
  id: number
  transactions: boolean
  /** Also those that were taken back: they are kept, as transactions that were rolled back are. */
  entitlements: boolean
  events: boolean
  pendingEvents: boolean
}

/** The history of each account. It stays as told only while postings are kept out. */
export async function historiesOf(tx: Tx, accounts: readonly AccountKey[]): Promise<History[]> {
  const histories: History[] = []
  for (const [productID, own] of byProduct(accounts))
    histories.push(...(await inProduct(tx, productID).query<History>(historySelect(own))))
  return histories
}

const { Pending } = lookups.BizEventStatus

/** Of accounts of one product. */
const historySelect = (accounts: readonly AccountKey[]) => sql`
  select g.account_id as id,
    exists (select 1 from biz_transaction t
      where t.product_id = g.product_id and t.account_id = g.account_id) as transactions,
    exists (select 1 from entitlement t
      where t.product_id = g.product_id and t.account_id = g.account_id)
    or exists (select 1 from entitlement_history t
      where t.product_id = g.product_id and t.account_id = g.account_id) as entitlements,
    exists (select 1 from biz_event t
      where t.product_id = g.product_id and t.account_id = g.account_id) as events,
    exists (select 1 from biz_event t
      where t.product_id = g.product_id and t.account_id = g.account_id
        and t.biz_event_status_id = ${Pending}) as "pendingEvents"
  from unnest(${accounts.map(({ productID }) => productID)}::int[],
    ${accounts.map(({ id }) => id)}::int[]) g (product_id, account_id)`
