import sql, { join } from 'sql-template-tag'
import { ledgerScope } from '../../catalogue/product/sql.ts'
import { asksFromAccount, pageFromAccount } from '../../parties/account/list-from.ts'
import { accountNames } from '../../parties/account/names.ts'
import type { Actor } from '../../platform/actor.ts'
import { askedOfOthers, pageByOthers, type Relation } from '../../platform/sql/by-others.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { ofOnly, onlyProduct, page, renderPage } from '../../platform/sql/paging.ts'
import { columns, renderByProduct } from '../../platform/sql/render.ts'
import { leftOf } from './left.ts'
import { BizEvent, type EventQuery, eventAccountFilters, eventFilters } from './schema.ts'

const eventColumns = columns(BizEvent, 't', {
  externalProductId: 'p.external_product_id',
  externalInvestmentId: 'i.external_investment_id',
  securityCode: 'i.security_code',
  externalAccountId: 'a.external_account_id',
  accountNumber: 'a.account_number',
  bizEntityName: 'a.biz_entity_name',
  amount: leftOf('t.amount'),
  quantity: leftOf('t.quantity'),
})

/** Notices as the API shows them, from a selection of rows called t. */
const selectEvents = (selection: Fragment) => sql`
  select ${eventColumns} from (${selection}) t
  join product p on p.product_id = t.product_id
  ${accountNames('t')}
  join investment i on i.investment_id = t.investment_id
  order by t.biz_event_id`

const order = 't.biz_event_id'
const relations: Relation[] = [
  {
    filters: eventAccountFilters,
    key: 't.product_id, t.account_id',
    named: 'a.product_id, a.account_id',
    from: 'account a',
  },
]

const stored = { table: 'biz_event', id: order }

export async function readEvents(handle: Sql, actor: Actor, query: EventQuery) {
  const own = conditions(eventFilters, query)
  const asked = join([own, ...askedOfOthers(relations, query)], ' and ')
  const products = ledgerScope(actor, query, 't.product_id')
  const only = asksFromAccount(query) ? await onlyProduct(handle, products) : undefined
  return renderPage(handle, query, {
    key: ['bizEventID'],
    scope: ofOnly(products, only),
    rows: (wanted, within) => {
      const quickly =
        only !== undefined && pageFromAccount(wanted, { ...stored, within, productID: only, query })
      if (quickly) return quickly
      const rows = sql`select t.* from biz_event t where ${within}`
      const whole = sql`${rows} and ${asked} ${page(wanted, 'biz_event t', order)}`
      return pageByOthers(wanted, { alias: 't', order, rows, own, relations, query, whole })
    },
    show: selectEvents,
  })
}

export type EventKey = { productID: number; id: number }

export const renderEvents = (handle: Sql, keys: EventKey[]) =>
  renderByProduct(handle, keys, 'bizEventID', (productID, ids) =>
    selectEvents(sql`
      select * from biz_event
      where product_id = ${productID} and biz_event_id = any(${ids}::bigint[])`),
  )
