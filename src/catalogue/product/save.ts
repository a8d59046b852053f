import sql from 'sql-template-tag'
import { isMailbox, mailboxWords } from '../../mailbox.ts'
import type { Actor } from '../../platform/actor.ts'
import { forbidden, invalid } from '../../platform/refusal.ts'
import { trimmed } from '../../platform/shape/fields.ts'
import { changesBetween } from '../../platform/shape/mask.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import { identify, namesAny, noSuch, reference } from '../../platform/sql/identify.ts'
import { render } from '../../platform/sql/render.ts'
import { defineTable, lockRow, put, type Row, rowFrom } from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { closePeriod, type RefuseClosing } from './period.ts'
import {
  Product,
  type ProductInput,
  ProductRecord,
  type ProductUpdate,
  productReference,
} from './schema.ts'
import { identifyProduct, productByID } from './sql.ts'
import { knowsZone, today } from './today.ts'

const productTable = defineTable('product', {
  key: 'product_id',
  record: ProductRecord,
  keepsVersions: true,
  updatedDate: true,
})

/** `timeZone` is the zone of the installation, for products that do not name one. */
export async function createProduct(
  tx: Tx,
  actor: Actor,
  timeZone: string,
  input: ProductInput,
): Promise<Written> {
  if (actor.productIDs !== null)
    throw forbidden('scope', 'Only a user with access to all products can create one.')
  const row = rowFrom(productTable, input)
  row.time_zone ??= timeZone
  await refuseUnknownZone(tx, undefined, row)
  refuseNoMailbox(undefined, input)
  await refuseUnknownLogo(tx, 0, input)
  await refuseFuture(tx, actor, undefined, row)
  const id = await put(tx, productTable, undefined, row)
  return { ...(await render(tx, productByID(id))), ids: [id], productID: id, changes: input }
}

/** What an update of a product needs from outside the product. */
export type Surroundings = { timeZone: string; refuseClosing: RefuseClosing }

export async function updateProduct(
  tx: Tx,
  actor: Actor,
  { timeZone, refuseClosing }: Surroundings,
  input: ProductUpdate,
): Promise<Written> {
  const id = await identifyProduct(tx, actor, input)
  // This lock does not wait for an all-or-nothing import, which creates accounts of the product for
  // minutes; no rule here concerns accounts.
  const stored = await lockRow(tx, productTable, id, 'no key update')
  if (!stored) throw noSuch(productReference, input)
  const row = rowFrom(productTable, input, { product_id: id }, stored)
  row.time_zone ??= timeZone
  await refuseUnknownZone(tx, stored, row)
  refuseNoMailbox(stored, input)
  await refuseUnknownLogo(tx, id, input)
  refuseUnlocking(actor, stored, row)
  await refuseFuture(tx, actor, stored, row)
  await closeUpTo(tx, stored, row, refuseClosing)
  const before = await render(tx, productByID(id))
  await put(tx, productTable, stored, row)
  const after = await render(tx, productByID(id))
  const changes = changesBetween(Product, before.json, after.json)
  return { ...after, ids: [id], productID: id, before: before.json, changes }
}

/** Waits for changes dated in the period, and refuses if something longer is under way there. */
async function closeUpTo(tx: Tx, before: Row, row: Row, refuseClosing: RefuseClosing) {
  const [after, upTo] = [before.locked_date as string | null, row.locked_date as string | null]
  if (after === upTo) return
  const productID = row.product_id as number
  await closePeriod(tx, productID)
  if (upTo !== null) await refuseClosing(tx, { productID, after, upTo })
}

async function refuseUnknownZone(tx: Sql, before: Row | undefined, row: Row) {
  const zone = row.time_zone as string
  if (zone !== before?.time_zone && !(await knowsZone(tx, zone)))
    throw invalid('invalid_value', `The database does not know the time zone ${zone}.`, 'timeZone')
}

/** The e-mail address is one mailbox, or as it is stored: earlier versions took any text. */
function refuseNoMailbox(before: Row | undefined, { issuer }: ProductInput) {
  const email = issuer?.email
  if (email === undefined || isMailbox(email)) return
  const stored = JSON.parse((before?.issuer as string | null | undefined) ?? 'null')
  if (trimmed(stored?.email) !== email)
    throw invalid('invalid_value', `issuer.email ${mailboxWords}.`, 'issuer.email')
}

const logo = reference(
  { what: 'document', table: 'document', columns: ['document_id'], inProduct: true },
  ['logoDocumentID'],
)

/** The logo must be a document of the product, or its present logo; a new product has neither. */
async function refuseUnknownLogo(tx: Sql, productID: number, { issuer }: ProductInput) {
  if (!issuer || !namesAny(logo, issuer)) return
  const kept = await tx.query(sql`
    select 1 from product where product_id = ${productID}
      and issuer ->> 'logoDocumentID' = ${String(issuer.logoDocumentID)}`)
  if (kept.length === 0)
    await identify(tx, logo, issuer, { productIDs: [productID], path: () => 'issuer' })
}

/**
 * Only a user who may unlock days may lock future ones: a slip in the year stops every posting of
 * the product, and other users could not take it back.
 */
async function refuseFuture(tx: Sql, actor: Actor, before: Row | undefined, row: Row) {
  const [from, to] = [(before?.locked_date ?? '') as string, row.locked_date as string | null]
  if (!to || to <= from || actor.permissions.has('Product.Unlock')) return
  const [day] = await tx.query<{ today: string }>(sql`
    select ${today('p')}::text as today from (select ${row.time_zone}::text as time_zone) p`)
  if (to > day!.today)
    throw invalid(
      'out_of_range',
      `lockedDate ${to} is after today, ${day!.today}: only who may unlock it may lock so far.`,
      'lockedDate',
    )
}

/** Unlocking days needs a permission of its own. ISO dates compare correctly as texts. */
function refuseUnlocking({ permissions }: Actor, before: Row, row: Row) {
  const [from, to] = [before.locked_date as string | null, row.locked_date as string | null]
  if (from === null || (to !== null && to >= from) || permissions.has('Product.Unlock')) return
  throw forbidden(
    'permission_missing',
    `The product is locked up to ${from}; setting lockedDate back needs Product.Unlock.`,
    'lockedDate',
  )
}
