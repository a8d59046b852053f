import sql, { raw } from 'sql-template-tag'
import { type Actor, inScope } from '../../platform/actor.ts'
import { conflict } from '../../platform/refusal.ts'
import { recordOf } from '../../platform/shape/mask.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { identified, identify, nameOf, namesAny, noSuch } from '../../platform/sql/identify.ts'
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
 * The products that a read of the ledger covers, as a condition on the leading key column. For a
 * named product the condition is an equality: the rest of the index is then in order, and a page
 * can be read from it without reading more.
 */
export function ledgerScope(actor: Actor, query: object, column: string): LedgerScope {
  const products = sql`
    select p.product_id from product p
    where ${inScope(actor, 'p.product_id')} and ${identified(productParameter, query, 'p')}`
  const within = namesAny(productParameter, query)
    ? sql`${raw(column)} = (${products})`
    : sql`${raw(column)} = any(array(${products}))`
  const isOf = (productID: number) => sql`${raw(column)} = ${productID}`
  return { within, products, isOf, only: namedByID(actor, query) }
}

/** The id of a product named by id, without a look-up; 0 if the caller may not see it. */
function namedByID({ productIDs }: Actor, query: object): number | undefined {
  const name = nameOf(productParameter, query)
  if (!name || name.column !== productParameter.identity.columns[0]) return undefined
  const id = Number(name.value)
  return productIDs === null || productIDs.includes(id) ? id : 0
}

/** The id of a product that a request names and the caller may see. */
export const identifyProduct = (handle: Sql, actor: Actor, given: object, how = productReference) =>
  identify(handle, how, given, { visible: inScope(actor, 'r.product_id') })

/** Foreign keys refuse to delete a product that is in use; constraints.ts has the messages. */
export async function deleteProduct(tx: Tx, actor: Actor, key: ProductKey): Promise<Written> {
  const id = await identifyProduct(tx, actor, key, productParameter)
  // Locked before it is read: the record of what is deleted must have the changes of others.
  await tx.query(sql`select 1 from product where product_id = ${id} for update`)
  await refuseNamed(tx, id)
  const before = await render(tx, productByID(id))
  const gone = await tx.query(sql`delete from product where product_id = ${id} returning true`)
  if (gone.length === 0) throw noSuch(productParameter, key)
  const changes = { deleted: recordOf(before.json) }
  return { ...nothingLeft, ids: [id], productID: id, before: before.json, changes }
}

/**
 * Refuses if a list of product ids that no foreign key checks has the product. A request that puts
 * a product on such a list locks it by firstMissing: either its list is seen here, or it finds the
 * product gone.
 */
async function refuseNamed(tx: Tx, id: number) {
  const [by] = await tx.query<{ webhook: boolean; rule: boolean }>(sql`
    select exists (select 1 from webhook where product_ids @> array[${id}::int]) as webhook,
      exists (select 1 from approval_rule where product_ids @> array[${id}::int]) as rule`)
  if (by!.webhook)
    throw conflict('in_use', 'A webhook names the product; change or delete it first.')
  if (by!.rule)
    throw conflict('in_use', 'An approval rule names the product; change or delete it first.')
}

/** The first of the ids that the caller sees no product for; locks the products that are found. */
export async function firstMissing(tx: Tx, actor: Actor, ids: readonly number[]) {
  if (ids.length === 0) return undefined
  const found = await tx.query<{ id: number }>(sql`
    select p.product_id as id from product p
    where p.product_id = any(${ids}::int[]) and ${inScope(actor, 'p.product_id')}
    order by p.product_id for key share`)
  return ids.find((id) => !found.some((one) => one.id === id))
}
