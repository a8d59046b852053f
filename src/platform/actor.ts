import sql, { raw } from 'sql-template-tag'
import type { Fragment } from './sql/handle.ts'

/** Who asks: the signed-in user with what they may do and see. */
export type Actor = {
  userID: number
  username: string
  sessionID: string
  permissions: ReadonlySet<string>
  /** The products this user may see; null: all. */
  productIDs: readonly number[] | null
  /** Signed in without the second factor that is asked for: may enrol one, and nothing else. */
  isHalf?: boolean
  /** The API key that speaks for this user. */
  apiKeyID?: number
}

/** The condition that keeps a read or a write inside the caller's products. */
export const inScope = ({ productIDs }: Actor, column: string): Fragment =>
  productIDs === null ? sql`true` : withinScope(sql`${productIDs}`, column)

/** The same by a fragment that has the products. */
export const withinScope = (products: Fragment, column: string): Fragment =>
  sql`${raw(column)} = any(${products}::int[])`

/**
 * The same for tables of the ledger, whose keys begin with the product: naming the products there
 * are makes any look-up one of the index, whichever other id it goes by.
 */
export const inLedgerScope = (actor: Actor, column: string): Fragment =>
  sql`${raw(column)} = any(array(
    select product_id from product where ${inScope(actor, 'product_id')}))`
