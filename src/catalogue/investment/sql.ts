import sql, { join } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { invalid } from '../../platform/refusal.ts'
import { recordOf } from '../../platform/shape/mask.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import {
  identified,
  identify,
  namesAny,
  noSuch,
  type Reference,
} from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns, nothingLeft, render } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { productParameter, productReference } from '../product/schema.ts'
import { identifyProduct } from '../product/sql.ts'
import {
  Investment,
  type InvestmentKey,
  type InvestmentQuery,
  investmentParameter,
  investmentReference,
} from './schema.ts'

const investmentColumns = columns(Investment, 'i', {
  externalProductId: 'p.external_product_id',
})

const selectInvestment = (where: Fragment) => sql`
  select ${investmentColumns} from investment i join product p using (product_id) where ${where}`

export const investmentByID = (id: number) => selectInvestment(sql`i.investment_id = ${id}`)

export function readInvestments(handle: Sql, actor: Actor, query: InvestmentQuery) {
  const { IsActive } = query
  const asked = [
    inScope(actor, 'i.product_id'),
    identified(productParameter, query, 'p'),
    identified(investmentParameter, query, 'i'),
    ...(IsActive === undefined ? [] : [sql`i.is_active = ${IsActive}`]),
  ]
  return renderPage(handle, query, {
    key: ['investmentID'],
    rows: (wanted) =>
      selectInvestment(
        sql`${join(asked, ' and ')} ${page(wanted, 'investment i', 'i.investment_id')}`,
      ),
  })
}

/** The id of the investment that a request names, within the product if it names one, too. */
export async function identifyInvestment(
  handle: Sql,
  actor: Actor,
  given: object,
  how: Reference = investmentReference,
) {
  const product = productBeside(how)
  const productID = namesAny(product, given)
    ? await identifyProduct(handle, actor, given, product)
    : undefined
  const visible = inScope(actor, 'r.product_id')
  return identify(handle, how, given, { visible, productIDs: [productID] })
}

const productBeside = (how: Reference) =>
  how === investmentParameter ? productParameter : productReference

/** The condition for the price v with this id, and the investment i and product p named with it. */
export const priceByID = (id: number, given: object, how: Reference): Fragment => sql`
  v.investment_price_id = ${id} and ${identified(how, given, 'i')}
    and ${identified(productBeside(how), given, 'p')}`

/** Foreign keys of prices, transactions, notices and distributions refuse it (constraints.ts). */
export async function deleteInvestment(tx: Tx, actor: Actor, key: InvestmentKey): Promise<Written> {
  refuseOtherCombinations(key)
  const id = await identifyInvestment(tx, actor, key, investmentParameter)
  // Locked before it is read: the record of what is deleted must have the changes of others.
  await tx.query(sql`select 1 from investment where investment_id = ${id} for update`)
  const before = await render(tx, investmentByID(id))
  const [row] = await tx.query<{ productID: number }>(sql`
    delete from investment where investment_id = ${id} returning product_id as "productID"`)
  if (!row) throw noSuch(investmentParameter, key)
  const changes = { deleted: recordOf(before.json) }
  const { productID } = row
  return { ...nothingLeft, ids: [id], productID, before: before.json, changes }
}

/** The combinations and the first message are the specification's (4.17, 7.5). */
function refuseOtherCombinations(key: InvestmentKey) {
  const { ProductID, ExternalProductId, InvestmentID, ExternalInvestmentId, SecurityCode } = key
  if (!InvestmentID && ExternalInvestmentId === undefined)
    throw invalid('required', 'Either InvestmentID or ExternalInvestmentId must be provided!')
  if (SecurityCode !== undefined)
    throw invalid(
      'unknown_parameter',
      'SecurityCode names no investment to delete: give InvestmentID or ExternalInvestmentId.',
      'SecurityCode',
    )
  if (InvestmentID && !ProductID && ExternalProductId !== undefined)
    throw invalid(
      'combination',
      'InvestmentID goes alone or with ProductID; ExternalProductId with ExternalInvestmentId.',
      'ExternalProductId',
    )
}
