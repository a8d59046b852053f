import sql, { join } from 'sql-template-tag'
import { ledgerScope } from '../../catalogue/product/sql.ts'
import type { Actor } from '../../platform/actor.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { Hold, type HoldQuery } from './schema.ts'

const holdColumns = columns(Hold, 'h', {
  externalProductId: 'p.external_product_id',
  externalAccountId: 'a.external_account_id',
  accountNumber: 'a.account_number',
  externalInvestmentId: 'i.external_investment_id',
  securityCode: 'i.security_code',
  all: 'h.quantity is null',
})

/** Holds as the API shows them: from a selection of rows. */
export const selectHolds = (rows: Fragment) => sql`
  select ${holdColumns} from (${rows}) h
  join product p on p.product_id = h.product_id
  join account a on a.account_id = h.account_id
  left join investment i on i.investment_id = h.investment_id
  order by h.hold_id`

export function readHolds(handle: Sql, actor: Actor, query: HoldQuery) {
  const { HoldID, AccountID, InvestmentID } = query
  const asked = [
    ...(HoldID ? [sql`h.hold_id = ${HoldID}`] : []),
    ...(AccountID ? [sql`h.account_id = ${AccountID}`] : []),
    ...(InvestmentID ? [sql`h.investment_id = ${InvestmentID}`] : []),
  ]
  return renderPage(handle, query, {
    key: ['holdID'],
    scope: ledgerScope(actor, query, 'h.product_id'),
    rows: (wanted, within) => sql`
      select h.* from hold h where ${join([within, ...asked], ' and ')}
      ${page(wanted, 'hold h', 'h.hold_id')}`,
    show: selectHolds,
  })
}
