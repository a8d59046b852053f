import sql, { join } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { invalid, notFound } from '../../platform/refusal.ts'
import { compareDecimals } from '../../platform/shape/decimal.ts'
import { changesBetween, recordOf } from '../../platform/shape/mask.ts'
import type { ItemPath } from '../../platform/shape/path.ts'
import { sharesOf, soleProduct } from '../../platform/sql/event.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import {
  identified,
  identifyAll,
  identifyOptionals,
  type Reference,
} from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns, nothingLeft, render } from '../../platform/sql/render.ts'
import {
  defineTable,
  deleteRows,
  insertRows,
  lockRow,
  put,
  type Row,
  rowFrom,
} from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { productParameter, productReference } from '../product/schema.ts'
import { correction } from './affected.ts'
import { productsOf, refuseBeyondTolerance, refuseLocked, refuseTaken } from './price-rules.ts'
import {
  InvestmentPrice,
  investmentParameter,
  investmentReference,
  type PriceInput,
  type PriceKey,
  type PriceQuery,
  PriceRecord,
  type PriceUpdate,
  priceFilters,
} from './schema.ts'
import { identifyInvestment, priceByID } from './sql.ts'

const priceTable = defineTable('investment_price', {
  key: 'investment_price_id',
  record: PriceRecord,
  keepsVersions: true,
})

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

export async function createPrices(
  tx: Tx,
  actor: Actor,
  inputs: PriceInput[],
  path: ItemPath,
): Promise<Written> {
  const visible = inScope(actor, 'r.product_id')
  const named = await identifyOptionals(tx, productReference, inputs, { visible, path })
  const investmentIDs = await identifyAll(tx, investmentReference, inputs, {
    visible,
    productIDs: named,
    path,
  })
  const rows = inputs.map((input, i) =>
    rowFrom(priceTable, input, { investment_id: investmentIDs[i]! }),
  )
  const places = new Map(rows.map((row, i) => [row, path(i)]))
  const pathOf = (row: Row) => places.get(row)!
  const products = await productsOf(tx, investmentIDs)
  const placed = rows.map((row) => ({ row, path: pathOf(row) }))
  refuseLocked(placed, products)
  await refuseTaken(tx, placed)
  const ids = await insertRows(tx, priceTable, rows, pathOf)
  const doubted = ids.filter((_, i) => !inputs[i]!.confirm)
  const written = { ids: doubted, written: ids }
  await refuseBeyondTolerance(tx, written, (id) => path(ids.indexOf(id)))
  const answer = await render(tx, sql`${selectPrice(among(ids))} order by v.investment_price_id`)
  const own = ids.map((id, i) => ({ id, productID: products.get(investmentIDs[i]!)!.productID }))
  return { ...answer, ids, productID: soleProduct(own), shares: sharesOf(own), changes: inputs }
}

const among = (ids: number[]) => sql`v.investment_price_id = any(${ids}::int[])`

type NamedPrice = { priceID: number | undefined; date: string | undefined; given: object }

/** One price, by its id or by investment and date, locked. */
async function lockPrice(
  tx: Tx,
  actor: Actor,
  how: Reference,
  { priceID, date, given }: NamedPrice,
) {
  const named = priceID
    ? priceByID(priceID, given, how)
    : sql`v.investment_id = ${await identifyInvestment(tx, actor, given, how)}
        and v.price_date = ${requiredDate(date)}`
  const [found] = await tx.query<{ id: number; investmentID: number; productID: number }>(sql`
    select v.investment_price_id as id, v.investment_id as "investmentID",
      i.product_id as "productID"
    from investment_price v join investment i using (investment_id)
      join product p using (product_id)
    where ${named} and ${inScope(actor, 'i.product_id')}`)
  const products = await productsOf(tx, found ? [found.investmentID] : [])
  const stored = found && (await lockRow(tx, priceTable, found.id))
  if (!stored) throw notFound('not_found', `There is no price ${priceID ?? `on ${date}`}.`)
  refuseLocked([{ row: stored, path: '' }], products)
  return { ...found, stored, products, before: await render(tx, selectPrice(among([found.id]))) }
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
  const { id, productID, stored, products, before } = await lockPrice(
    tx,
    actor,
    investmentReference,
    { priceID: input.investmentPriceID, date: input.priceDate, given: input },
  )
  const row = rowFrom(
    priceTable,
    {
      ...input,
      priceDate: input.priceDate ?? stored.price_date,
      applicationPrice: apart(input.applicationPrice, stored.application_price, stored),
      redemptionPrice: apart(input.redemptionPrice, stored.redemption_price, stored),
    },
    { investment_price_id: id, investment_id: stored.investment_id! },
    stored,
  )
  refuseLocked([{ row, path: '' }], products)
  await put(tx, priceTable, stored, row)
  if (!input.confirm) await refuseBeyondTolerance(tx, { ids: [id] }, () => '', replacedBy(stored))
  const after = await render(tx, selectPrice(among([id])))
  const changes = changesBetween(InvestmentPrice, before.json, after.json)
  const message = await correction(tx, productID, stored, row)
  const told = { ids: [id], productID, before: before.json, changes }
  return { ...after, ...(message && { message }), ...told }
}

/**
 * An application or redemption price that was never given follows `price` and is shown with its
 * value. If a client sends that shown value back, it does not count as given and goes on to follow.
 */
const apart = (given: string | null | undefined, kept: unknown, { price }: Row) =>
  given && kept === null && compareDecimals(given, price as string) === 0 ? undefined : given

const replacedBy = ({ price, application_price, redemption_price }: Row) => ({
  price: price as string,
  applicationPrice: (application_price ?? price) as string,
  redemptionPrice: (redemption_price ?? price) as string,
})

export async function deletePrice(tx: Tx, actor: Actor, key: PriceKey): Promise<Written> {
  const { id, productID, before } = await lockPrice(tx, actor, investmentParameter, {
    priceID: key.InvestmentPriceID,
    date: key.PriceDate,
    given: key,
  })
  await deleteRows(tx, priceTable, [id])
  const changes = { deleted: recordOf(before.json) }
  return { ...nothingLeft, ids: [id], productID, before: before.json, changes }
}
