import sql, { join } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { conflict, invalid } from '../../platform/refusal.ts'
import { changesBetween, recordOf } from '../../platform/shape/mask.ts'
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
  type InvestmentInput,
  type InvestmentKey,
  type InvestmentQuery,
  type InvestmentUpdate,
  investmentParameter,
  investmentReference,
} from './schema.ts'

const investmentColumns = columns(Investment, 'i', {
  externalProductId: 'p.external_product_id',
})

const selectInvestment = (where: Fragment) => sql`
  select ${investmentColumns} from investment i join product p using (product_id) where ${where}`

const byID = (id: number) => selectInvestment(sql`i.investment_id = ${id}`)

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

/** The investment a request names, inside its product where it names one. */
export async function identifyInvestment(
  handle: Sql,
  actor: Actor,
  given: object,
  how: Reference = investmentReference,
) {
  const product = how === investmentParameter ? productParameter : productReference
  const productID = namesAny(product, given)
    ? await identifyProduct(handle, actor, given, product)
    : undefined
  const visible = inScope(actor, 'r.product_id')
  return identify(handle, how, given, { visible, productIDs: [productID] })
}

export async function createInvestment(tx: Tx, actor: Actor, input: InvestmentInput) {
  const productID = await identifyProduct(tx, actor, input)
  const { externalInvestmentId, securityCode, name, description, issuePrice } = input
  const { isActive = true, unitDecimals = 4, currencyID } = input
  const [row] = await tx.query<{ id: number }>(sql`
    insert into investment (product_id, external_investment_id, security_code, name, description,
      is_active, currency_id, unit_decimals, issue_price, drp_residual_on_exit)
    select product_id, ${externalInvestmentId}, ${securityCode}, ${name}, ${description},
      ${isActive}, coalesce(${currencyID}, currency_id), ${unitDecimals}, ${issuePrice},
      ${input.drpResidualOnExit ?? 'Pay'}
    from product where product_id = ${productID}
    returning investment_id as id`)
  if (!row) throw noSuch(productReference, input) // it went meanwhile
  const { id } = row
  return { ...(await render(tx, byID(id))), ids: [id], productID, changes: input }
}

export async function updateInvestment(tx: Tx, actor: Actor, input: InvestmentUpdate) {
  const id = await identifyInvestment(tx, actor, input)
  const before = await lock(tx, id)
  if (!before) throw noSuch(investmentReference, input)
  const { externalInvestmentId, securityCode, name, description, issuePrice } = input
  const { isActive = true, unitDecimals = 4, currencyID } = input
  await tx.query(sql`
    update investment i set external_investment_id = ${externalInvestmentId},
      security_code = ${securityCode}, name = ${name}, description = ${description},
      is_active = ${isActive}, currency_id = coalesce(${currencyID}, p.currency_id),
      unit_decimals = ${unitDecimals}, issue_price = ${issuePrice},
      drp_residual_on_exit = coalesce(${input.drpResidualOnExit ?? null}, drp_residual_on_exit),
      updated_date = now()
    from product p where p.product_id = i.product_id and i.investment_id = ${id}`)
  const after = await render(tx, byID(id))
  await refuseOtherMeasure(tx, id, before)
  const changes = changesBetween(Investment, before.json, after.json)
  return { ...after, ids: [id], productID: before.productID, changes } satisfies Written
}

async function lock(tx: Tx, id: number) {
  const [row] = await tx.query<{ productID: number; currencyID: number; unitDecimals: number }>(sql`
    select product_id as "productID", currency_id as "currencyID", unit_decimals as "unitDecimals"
    from investment where investment_id = ${id} for update`)
  return row && { ...row, json: (await render(tx, byID(id))).json }
}

/** What the ledger has counted in one measure is not reread in another. */
async function refuseOtherMeasure(
  tx: Tx,
  id: number,
  {
    productID,
    currencyID,
    unitDecimals,
  }: { productID: number; currencyID: number; unitDecimals: number },
) {
  const [changed] = await tx.query(sql`
    select from investment i
    where i.investment_id = ${id}
      and (i.currency_id <> ${currencyID} or i.unit_decimals < ${unitDecimals})
      and exists (select from holding h
        where h.product_id = ${productID} and h.investment_id = i.investment_id)`)
  if (changed)
    throw conflict(
      'has_transactions',
      'The investment has transactions: its currency stays, and unitDecimals cannot become fewer.',
    )
}

/** Prices, transactions, notices and distributions refuse it by reference; see constraints.ts. */
export async function deleteInvestment(tx: Tx, actor: Actor, key: InvestmentKey): Promise<Written> {
  refuseOtherCombinations(key)
  const id = await identifyInvestment(tx, actor, key, investmentParameter)
  const before = await render(tx, byID(id))
  const [row] = await tx.query<{ productID: number }>(sql`
    delete from investment where investment_id = ${id} returning product_id as "productID"`)
  if (!row) throw noSuch(investmentParameter, key)
  const changes = { deleted: recordOf(before.json) }
  return { ...nothingLeft, ids: [id], productID: row.productID, changes }
}

/** The combinations and the first message are the specification's (4.17, 7.5). */
function refuseOtherCombinations(key: InvestmentKey) {
  const { ProductID, ExternalProductId, InvestmentID, ExternalInvestmentId } = key
  if (!InvestmentID && ExternalInvestmentId === undefined)
    throw invalid('required', 'Either InvestmentID or ExternalInvestmentId must be provided!')
  if (InvestmentID && !ProductID && ExternalProductId !== undefined)
    throw invalid(
      'combination',
      'InvestmentID goes alone or with ProductID; ExternalProductId with ExternalInvestmentId.',
      'ExternalProductId',
    )
}
