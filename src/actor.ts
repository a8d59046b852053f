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
}

/** The condition that keeps a read or a write inside the caller's products. */
export const inScope = ({ productIDs }: Actor, column: string): Fragment =>
  productIDs === null ? sql`true` : sql`${raw(column)} = any(${productIDs}::int[])`
