import sql, { raw } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { invalid, notFound } from '../../platform/refusal.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { defineTable, put, type Row } from '../../platform/sql/rows.ts'
import { type AffectedQuery, AffectedTransaction, CorrectionRecord } from './affected-schema.ts'
import { investmentParameter } from './schema.ts'
import { identifyInvestment, priceByID } from './sql.ts'

const correctionTable = defineTable('investment_price_correction', {
  key: 'investment_price_correction_id',
  record: CorrectionRecord,
})

/**
 * Stores what a corrected price said, and returns a message with the number of transactions that
 * used it; undefined if none did, or if the figures and the day of the price stay.
 */
export async function correction(
  tx: Tx,
  productID: number,
  before: Row,
  row: Row,
): Promise<string | undefined> {
  const figures = ['price_date', 'price', 'application_price', 'redemption_price']
  if (figures.every((name) => before[name] === row[name])) return undefined
  await put(tx, correctionTable, undefined, {
    ...Object.fromEntries(figures.map((name) => [name, before[name]!])),
    investment_price_correction_id: null,
    investment_price_id: before.investment_price_id!,
  })
  const id = before.investment_price_id as number
  const [used] = await tx.query<{ count: number }>(sql`
    select count(*)::int as count
    from (${affectedBy(id, sql`t.product_id = ${productID}`, sql`limit ${mostCounted + 1}`)}) t`)
  const { count } = used!
  if (count === 0) return undefined
  const many =
    count > mostCounted ? `More than ${mostCounted} transactions` : `${count} transactions`
  return (
    `${count === 1 ? '1 transaction' : many} used this price: as posted, not as corrected. ` +
    `See GET /Investment/Price/Affected?InvestmentPriceID=${id}.`
  )
}

/** Affected transactions are counted up to here: counting further would cost more than it tells. */
const mostCounted = 1000

/** The transactions that used a price, as it is or as it was before a correction. */
export async function readAffected(handle: Sql, actor: Actor, query: AffectedQuery) {
  const { id, productID } = await findPrice(handle, actor, query)
  return renderPage(handle, query, {
    key: ['bizTransactionID'],
    rows: (wanted) =>
      affectedBy(
        id,
        sql`t.product_id = ${productID}`,
        page(wanted, 'biz_transaction t', 't.biz_transaction_id'),
      ),
    show: (rows) => sql`
      select ${affectedColumns} from (${rows}) t
      join account a on a.account_id = t.account_id
      join investment_price v on v.investment_price_id = ${id}
      order by t.biz_transaction_id`,
  })
}

const { 'Transfer out': transferOut, 'Transfer in': transferIn } = lookups.BizTransactionType

/** The price that each kind of transaction takes; units that change hands go at the plain price. */
const affectedColumns = columns(AffectedTransaction, 't', {
  externalAccountId: 'a.external_account_id',
  currentPrice: `case when t.biz_transaction_type_id in (${transferOut}, ${transferIn}) then v.price
    when t.quantity < 0 then coalesce(v.redemption_price, v.price)
    else coalesce(v.application_price, v.price) end`,
})

async function findPrice(handle: Sql, actor: Actor, query: AffectedQuery) {
  const { InvestmentPriceID, PriceDate } = query
  if (!InvestmentPriceID && !PriceDate)
    throw invalid(
      'required',
      'Give InvestmentPriceID, or the investment and PriceDate.',
      'PriceDate',
    )
  const named = InvestmentPriceID
    ? priceByID(InvestmentPriceID, query, investmentParameter)
    : sql`v.investment_id = ${await identifyInvestment(handle, actor, query, investmentParameter)}
        and v.price_date = ${PriceDate ?? null}`
  const [found] = await handle.query<{ id: number; productID: number }>(sql`
    select v.investment_price_id as id, i.product_id as "productID"
    from investment_price v join investment i on i.investment_id = v.investment_id
    join product p on p.product_id = i.product_id
    where ${named} and ${inScope(actor, 'i.product_id')}`)
  if (!found)
    throw notFound('not_found', `There is no price ${InvestmentPriceID ?? `on ${PriceDate}`}.`)
  return found
}

/**
 * A posting took the latest price on or before its day, of those entered by then: it used this one
 * if it is dated from the price's day on, if no price between was there when it was posted, and if
 * it bears a figure that the price has or had.
 */
const affectedBy = (id: number, product: Fragment, rest: Fragment = sql``) => sql`
  select t.* from biz_transaction t
  join (
    select v.investment_id, f.price_date, f.price, coalesce(n.price_date, 'infinity') as next_date,
      coalesce(n.seen_date, 'infinity') as seen_date
    from investment_price v
    cross join lateral (
      select v.price_date, unnest(array[v.price, v.application_price, v.redemption_price]) as price
      union
      select c.price_date, unnest(array[c.price, c.application_price, c.redemption_price])
      from investment_price_correction c
      where c.investment_price_id = v.investment_price_id) f
    left join lateral (
      select min(n.price_date) as price_date, min(${seenFrom}) as seen_date
      from investment_price n
      where n.investment_id = v.investment_id and n.price_date > f.price_date
        and n.investment_price_id <> v.investment_price_id) n on true
    where v.investment_price_id = ${id} and f.price is not null) f
    on t.investment_id = f.investment_id and t.investment_price = f.price
      and t.transaction_date >= f.price_date and t.transaction_date < f.seen_date
  where ${product} and ${raw(counts('t'))}
    and t.corporate_action_id is null
    and (t.transaction_date < f.next_date or not exists (
      select 1 from investment_price n
      where n.investment_id = f.investment_id and n.investment_price_id <> ${id}
        and n.price_date > f.price_date and n.price_date <= t.transaction_date
        and n.created_date <= t.created_date)) ${rest}`

/**
 * The day from which on all postings are dated that were entered after price n. A posting is dated
 * one day ahead at most, in the time zone of its product.
 */
const seenFrom = sql`greatest(n.price_date, n.created_date::date + 3)`
