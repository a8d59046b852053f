import sql, { raw } from 'sql-template-tag'
import type { Fragment } from '../../platform/sql/handle.ts'

/** Accounts by their ids: those above `after`, up to `upTo` and with it. */
export type Span = { after: number; upTo: number }

const lastID = 2_147_483_647
export const everyone: Span = { after: 0, upTo: lastID }
export const isLast = ({ upTo }: Span) => upTo === lastID

export const within = (column: string, { after, upTo }: Span): Fragment =>
  sql`${raw(column)} > ${after} and ${raw(column)} <= ${upTo}`

/** The span of the next so many accounts of a table in the order of their ids. */
export const spanFrom = (after: number, boundary: number | undefined): Span => ({
  after,
  upTo: boundary ?? lastID,
})
