import sql, { join } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { invalid, notFound } from '../../platform/refusal.ts'
import { changesBetween, recordOf } from '../../platform/shape/mask.ts'
import type { ItemPath } from '../../platform/shape/path.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import {
  identified,
  identifyAll,
  identifyOptionals,
  type Reference,
} from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { columns, nothingLeft, render } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { productParameter, productReference } from '../product/schema.ts'
import {
  InvestmentPrice,
  investmentParameter,
  investmentReference,
  type PriceInput,
  type PriceKey,
  type PriceQuery,
  type PriceUpdate,
  priceFilters,
} from './schema.ts'
import { identifyInvestment } from './sql.ts'

const priceColumns = columns(InvestmentPrice, 'v', {
  externalInvestmentId: 'i.external_investment_id',
  securityCode: 'i.security_code',
  productID: 'i.product_id',
  externalProductId: 'p.external_product_id',
  applicationPrice: 'coalesce(v.application_price, v.price)',
  redemptionPrice: 'coalesce(v.redemption_price, v.price)',
})

const selectPrice = (where: Fragment) => sql`
  select ${priceColumns}
  from investment_price v join investment i using (investment_id) join product p using (product_id)
  where ${where}`

export function readPrices(handle: Sql, actor: Actor, query: PriceQuery) {
  const { InvestmentPriceID } = query
  const asked = [
    inScope(actor, 'i.product_id'),
    identified(productParameter, query, 'p'),
    identified(investmentParameter, query, 'i'),
    conditions(priceFilters, query),
    ...(InvestmentPriceID ? [sql`v.investment_price_id = ${InvestmentPriceID}`] : []),
  ]
  return renderPage(handle, query, {
    key: ['investmentPriceID'],
    rows: (wanted) =>
      selectPrice(sql`
        ${join(asked, ' and ')} ${page(wanted, 'investment_price v', 'v.investment_price_id')}`),
  })
}

const givenColumns = {
  place: 'int',
  investmentID: 'int',
  priceDate: 'date',
  price: 'numeric',
  applicationPrice: 'numeric',
  redemptionPrice: 'numeric',
} as const

export async function createPrices(
  tx: Tx,
  actor: Actor,
  inputs: PriceInput[],
  path: ItemPath,
): Promise<Written> {
  const visible = inScope(actor, 'r.product_id')
  const productIDs = await identifyOptionals(tx, productReference, inputs, { visible, path })
  const investmentIDs = await identifyAll(tx, investmentReference, inputs, {
    visible,
    productIDs,
    path,
  })
  const rows = inputs.map((input, place) => ({
    ...input,
    place,
    investmentID: investmentIDs[place],
  }))
  const created = await tx.query<{ id: number; productID: number }>(sql`
    with created as (
      insert into investment_price
        (investment_id, price_date, price, application_price, redemption_price)
      select "investmentID", "priceDate", price, "applicationPrice", "redemptionPrice"
      from ${recordset('g', rows, givenColumns)} order by place
      returning investment_price_id as id, investment_id)
    select id, i.product_id as "productID" from created join investment i using (investment_id)
    order by id`)
  const ids = created.map(({ id }) => id)
  const answer = await render(tx, sql`${selectPrice(among(ids))} order by v.investment_price_id`)
  return { ...answer, ids, productID: soleProduct(created), changes: inputs }
}

const among = (ids: number[]) => sql`v.investment_price_id = any(${ids}::int[])`

/** The product of an audit record: none where a list spans several. */
const soleProduct = ([first, ...rest]: { productID: number }[]) =>
  rest.every(({ productID }) => productID === first?.productID) ? first?.productID : undefined

type NamedPrice = { priceID: number | undefined; date: string | undefined; given: object }

/** One price, by its id or by investment and date, locked. */
async function lockPrice(
  tx: Tx,
  actor: Actor,
  how: Reference,
  { priceID, date, given }: NamedPrice,
) {
  const named = priceID
    ? sql`v.investment_price_id = ${priceID}`
    : sql`v.investment_id = ${await identifyInvestment(tx, actor, given, how)}
        and v.price_date = ${requiredDate(date)}`
  const [row] = await tx.query<{ id: number; productID: number }>(sql`
    select v.investment_price_id as id, i.product_id as "productID"
    from investment_price v join investment i using (investment_id)
    where ${named} and ${inScope(actor, 'i.product_id')} for update of v`)
  if (!row) throw notFound('not_found', `There is no price ${priceID ?? `on ${date}`}.`)
  return { ...row, before: await render(tx, selectPrice(among([row.id]))) }
}

function requiredDate(date: string | undefined): string {
  if (date === undefined)
    throw invalid(
      'required',
      'Give investmentPriceID, or the investment and priceDate.',
      'priceDate',
    )
  return date
}

export async function updatePrice(tx: Tx, actor: Actor, input: PriceUpdate): Promise<Written> {
  const { investmentPriceID, priceDate, price, applicationPrice, redemptionPrice } = input
  const { id, productID, before } = await lockPrice(tx, actor, investmentReference, {
    priceID: investmentPriceID,
    date: priceDate,
    given: input,
  })
  await tx.query(sql`
    update investment_price set price_date = coalesce(${priceDate}, price_date), price = ${price},
      application_price = ${applicationPrice}, redemption_price = ${redemptionPrice}
    where investment_price_id = ${id}`)
  const after = await render(tx, selectPrice(among([id])))
  const changes = changesBetween(InvestmentPrice, before.json, after.json)
  return { ...after, ids: [id], productID, changes }
}

export async function deletePrice(tx: Tx, actor: Actor, key: PriceKey): Promise<Written> {
  const { id, productID, before } = await lockPrice(tx, actor, investmentParameter, {
    priceID: key.InvestmentPriceID,
    date: key.PriceDate,
    given: key,
  })
  await tx.query(sql`delete from investment_price where investment_price_id = ${id}`)
  const changes = { deleted: recordOf(before.json) }
  return { ...nothingLeft, ids: [id], productID, changes }
}
