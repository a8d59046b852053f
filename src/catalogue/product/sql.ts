import sql, { raw } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { recordOf } from '../../platform/shape/mask.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { identified, identify, namesAny, noSuch } from '../../platform/sql/identify.ts'
import { type LedgerScope, page, renderPage } from '../../platform/sql/paging.ts'
import { columns, nothingLeft, render } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import {
  Product,
  type ProductKey,
  type ProductQuery,
  productParameter,
  productReference,
} from './schema.ts'

const productColumns = columns(Product, 'p')

const selectProduct = (where: Fragment) =>
  sql`select ${productColumns} from product p where ${where}`

export const productByID = (id: number) => selectProduct(sql`p.product_id = ${id}`)

export const readProducts = (handle: Sql, actor: Actor, query: ProductQuery) =>
  renderPage(handle, query, {
    key: ['productID'],
    rows: (wanted) =>
      selectProduct(sql`
        ${identified(productParameter, query, 'p')} and ${inScope(actor, 'p.product_id')}
        ${page(wanted, 'product p', 'p.product_id')}`),
  })

/**
 * The products a read of the ledger is about, as a condition on its leading key column. Where one
 * is named the condition says that it is one: the rest of an index then is in order, and gives a
 * page without reading more.
 */
export function ledgerScope(actor: Actor, query: object, column: string): LedgerScope {
  const products = sql`
    select p.product_id from product p
    where ${inScope(actor, 'p.product_id')} and ${identified(productParameter, query, 'p')}`
  const within = namesAny(productParameter, query)
    ? sql`${raw(column)} = (${products})`
    : sql`${raw(column)} = any(array(${products}))`
  return { within, products, isOf: (productID) => sql`${raw(column)} = ${productID}` }
}

/** The id of a product that a request names and the caller may see. */
export const identifyProduct = (handle: Sql, actor: Actor, given: object, how = productReference) =>
  identify(handle, how, given, { visible: inScope(actor, 'r.product_id') })

/** Refused by the references to it, whatever they are; constraints.ts has the words. */
export async function deleteProduct(tx: Tx, actor: Actor, key: ProductKey): Promise<Written> {
  const id = await identifyProduct(tx, actor, key, productParameter)
  // Before it is read: what another request is changing must be seen in what is deleted.
  await tx.query(sql`select 1 from product where product_id = ${id} for update`)
  const before = await render(tx, productByID(id))
  const gone = await tx.query(sql`delete from product where product_id = ${id} returning true`)
  if (gone.length === 0) throw noSuch(productParameter, key)
  const changes = { deleted: recordOf(before.json) }
  return { ...nothingLeft, ids: [id], productID: id, before: before.json, changes }
}
