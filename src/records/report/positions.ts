import sql, { raw } from 'sql-template-tag'
import { priceOn, worthOf } from '../../catalogue/investment/price-on.ts'
import { positionsAsAt } from '../../ledger/holding/sql.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import { accountsOf, itsAccount, itsClass, itsOwner } from '../statement/parts.ts'
import type { Subject } from './subject.ts'

/** The holdings at the end of the report's date, under the alias h. */
export const positionsOf = ({ productID, investmentID, bizEntityID, accountID, date }: Subject) =>
  sql`(${positionsAsAt(date)} and h.product_id = ${productID}
    ${investmentID ? sql`and h.investment_id = ${investmentID}` : sql``}
    ${accountID ? sql`and h.account_id = ${accountID}` : sql``}
    ${bizEntityID ? sql`and h.account_id = any(${accountsOf(bizEntityID)})` : sql``}) h`

/** Joins the account, the owner and the class of a holding h. */
export const withOwners = sql`
  ${itsAccount('h')} ${itsOwner} ${itsClass('h')}`

/** Joins the price of a date, or the last price before it. */
export const priceAsAt = (date: Fragment) => sql`
  left join lateral (${priceOn('i.investment_id', date, 'price, price_date')}) v on true`

export const marketValue = raw(worthOf('h.quantity', 'h.invested'))
