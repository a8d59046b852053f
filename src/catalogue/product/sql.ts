import sql, { raw } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { forbidden } from '../../platform/refusal.ts'
import { changesBetween, recordOf } from '../../platform/shape/mask.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { identified, identify, namesAny, noSuch } from '../../platform/sql/identify.ts'
import { page } from '../../platform/sql/paging.ts'
import { columns, nothingLeft, render } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import {
  Product,
  type ProductInput,
  type ProductKey,
  type ProductQuery,
  type ProductUpdate,
  productParameter,
  productReference,
} from './schema.ts'

const productColumns = columns(Product, 'p')

const selectProduct = (where: Fragment) =>
  sql`select ${productColumns} from product p where ${where}`

const byID = (id: number) => selectProduct(sql`p.product_id = ${id}`)

export const readProducts = (handle: Sql, actor: Actor, query: ProductQuery) =>
  render(
    handle,
    selectProduct(sql`
      ${identified(productParameter, query, 'p')} and ${inScope(actor, 'p.product_id')}
      ${page(query, 'product p', 'p.product_id')}`),
  )

/**
 * The products a read of the ledger is about, as a condition on its leading key column. Where one
 * is named the condition says that it is one: the rest of an index then is in order, and gives a
 * page without reading more.
 */
export function ledgerProducts(actor: Actor, query: object, column: string): Fragment {
  const products = sql`
    select p.product_id from product p
    where ${inScope(actor, 'p.product_id')} and ${identified(productParameter, query, 'p')}`
  return namesAny(productParameter, query)
    ? sql`${raw(column)} = (${products})`
    : sql`${raw(column)} = any(array(${products}))`
}

/** The id of a product that a request names and the caller may see. */
export const identifyProduct = (handle: Sql, actor: Actor, given: object, how = productReference) =>
  identify(handle, how, given, { visible: inScope(actor, 'r.product_id') })

export async function createProduct(tx: Tx, actor: Actor, input: ProductInput): Promise<Written> {
  if (actor.productIDs !== null)
    throw forbidden('scope', 'Only a user with access to all products can create one.')
  const { externalProductId, name, currencyID, description, isActive } = withDefaults(input)
  const [row] = await tx.query<{ id: number }>(sql`
    insert into product (external_product_id, name, currency_id, description, is_active)
    values (${externalProductId}, ${name}, ${currencyID}, ${description}, ${isActive})
    returning product_id as id`)
  const { id } = row!
  return { ...(await render(tx, byID(id))), ids: [id], productID: id, changes: input }
}

export async function updateProduct(tx: Tx, actor: Actor, input: ProductUpdate): Promise<Written> {
  const id = await identifyProduct(tx, actor, input)
  const before = await render(tx, sql`${byID(id)} for update`)
  if (before.recordCount === 0) throw noSuch(productReference, input)
  const { externalProductId, name, currencyID, description, isActive } = withDefaults(input)
  await tx.query(sql`
    update product set external_product_id = ${externalProductId}, name = ${name},
      currency_id = ${currencyID}, description = ${description}, is_active = ${isActive},
      updated_date = now()
    where product_id = ${id}`)
  const after = await render(tx, byID(id))
  const changes = changesBetween(Product, before.json, after.json)
  return { ...after, ids: [id], productID: id, changes }
}

const withDefaults = (input: ProductInput) => ({
  ...input,
  currencyID: input.currencyID ?? lookups.Currency.AUD,
  isActive: input.isActive ?? true,
})

/** Refused by the references to it, whatever they are; constraints.ts has the words. */
export async function deleteProduct(tx: Tx, actor: Actor, key: ProductKey): Promise<Written> {
  const id = await identifyProduct(tx, actor, key, productParameter)
  const before = await render(tx, byID(id))
  const gone = await tx.query(sql`delete from product where product_id = ${id} returning true`)
  if (gone.length === 0) throw noSuch(productParameter, key)
  return { ...nothingLeft, ids: [id], productID: id, changes: { deleted: recordOf(before.json) } }
}
