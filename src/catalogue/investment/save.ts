import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { conflict } from '../../platform/refusal.ts'
import { changesBetween } from '../../platform/shape/mask.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { noSuch } from '../../platform/sql/identify.ts'
import { render } from '../../platform/sql/render.ts'
import { defineTable, lockRow, put, type Row, rowFrom } from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { productReference } from '../product/schema.ts'
import { identifyProduct } from '../product/sql.ts'
import {
  Investment,
  type InvestmentInput,
  InvestmentRecord,
  type InvestmentUpdate,
  investmentReference,
} from './schema.ts'
import { identifyInvestment, investmentByID } from './sql.ts'

const investmentTable = defineTable('investment', {
  key: 'investment_id',
  record: InvestmentRecord,
  keepsVersions: true,
  updatedDate: true,
})

export async function createInvestment(
  tx: Tx,
  actor: Actor,
  input: InvestmentInput,
): Promise<Written> {
  const productID = await identifyProduct(tx, actor, input)
  const row = await rowIn(tx, productID, input)
  const id = await put(tx, investmentTable, undefined, row)
  return { ...(await render(tx, investmentByID(id))), ids: [id], productID, changes: input }
}

export async function updateInvestment(
  tx: Tx,
  actor: Actor,
  input: InvestmentUpdate,
): Promise<Written> {
  const id = await identifyInvestment(tx, actor, input)
  // This lock does not wait for an all-or-nothing import, which posts to the investment for
  // minutes; only refuseOtherMeasure waits for that.
  const stored = await lockRow(tx, investmentTable, id, 'no key update')
  if (!stored) throw noSuch(investmentReference, input)
  const productID = stored.product_id as number
  const row = await rowIn(tx, productID, input, stored)
  await refuseOtherMeasure(tx, stored, row)
  const before = await render(tx, investmentByID(id))
  await put(tx, investmentTable, stored, row)
  const after = await render(tx, investmentByID(id))
  const changes = changesBetween(Investment, before.json, after.json)
  return { ...after, ids: [id], productID, before: before.json, changes }
}

/** The row of an investment to be stored: in the product's currency unless the input names one. */
async function rowIn(tx: Tx, productID: number, input: InvestmentInput, before?: Row) {
  const [product] = await tx.query<{ currencyID: number }>(sql`
    select currency_id as "currencyID" from product where product_id = ${productID} for key share`)
  if (!product) throw noSuch(productReference, input) // deleted meanwhile
  const others: Row = { product_id: productID }
  if (before) others.investment_id = before.investment_id!
  return rowFrom(
    investmentTable,
    { ...input, currencyID: input.currencyID ?? product.currencyID },
    others,
    before,
  )
}

/** Refuses another currency or fewer unit decimals once the ledger has counted in the old ones. */
async function refuseOtherMeasure(tx: Tx, before: Row, row: Row) {
  const isFiner = (before.unit_decimals as number) <= (row.unit_decimals as number)
  if (before.currency_id === row.currency_id && isFiner) return
  // On Citus the first postings lock the copy of the row on the node of their product. The join
  // with `holding` sends this SQL statement there, so that it locks the same copy.
  await tx.query(sql`
    select 1 from investment i
    left join holding h on h.product_id = ${before.product_id} and h.account_id = 0
      and h.investment_id = i.investment_id
    where i.investment_id = ${before.investment_id} for update of i`)
  const [held] = await tx.query(sql`
    select 1 from holding
    where product_id = ${before.product_id} and investment_id = ${before.investment_id} limit 1`)
  if (held)
    throw conflict(
      'has_transactions',
      'The investment has transactions: its currency stays, and unitDecimals cannot become fewer.',
    )
  if (before.currency_id !== row.currency_id) await refuseDistributing(tx, before)
}

/** Refuses another currency for an investment that a distribution is in or is reinvested in. */
async function refuseDistributing(tx: Tx, { product_id, investment_id: id }: Row) {
  const [named] = await tx.query<{ id: number }>(sql`
    select corporate_action_id as id from distribution
    where product_id = ${product_id} and ${id} in (investment_id, drp_investment_id)
    order by 1 limit 1`)
  if (named)
    throw conflict(
      'in_use',
      `Distribution ${named.id} is in this investment, or reinvested in it: its currency stays.`,
      'currencyID',
    )
}
