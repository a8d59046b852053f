import sql, { raw } from 'sql-template-tag'
import type { Fragment } from './sql/handle.ts'

/** The caller: the signed-in user with their permissions and visible products. */
export type Actor = {
  userID: number
  username: string
  sessionID: string
  permissions: ReadonlySet<string>
  /** The products this user may see; null: all. */
  productIDs: readonly number[] | null
  /**
   * Signed in without the second factor that is required: the caller may enrol one, and nothing
   * else.
   */
  isHalf?: boolean
  /** The API key that the request used, if any. */
  apiKeyID?: number
}

/** The condition that restricts a read or a write to the caller's products. */
export const inScope = ({ productIDs }: Actor, column: string): Fragment =>
  productIDs === null ? sql`true` : withinScope(sql`${productIDs}`, column)

/** Like inScope, with the products as an SQL fragment. */
export const withinScope = (products: Fragment, column: string): Fragment =>
  sql`${raw(column)} = any(${products}::int[])`

/**
 * Like inScope, for tables of the ledger. Their keys begin with the product: listing the existing
 * products lets every look-up use such an index, whichever other id it goes by.
 */
export const inLedgerScope = (actor: Actor, column: string): Fragment =>
  sql`${raw(column)} = any(array(
    select product_id from product where ${inScope(actor, 'product_id')}))`
