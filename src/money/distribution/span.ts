import sql, { raw } from 'sql-template-tag'
import type { Fragment } from '../../platform/sql/handle.ts'
import { type DistributionID, ofDistribution } from './sql.ts'

/** Accounts by their ids: those above `after`, up to `upTo` and with it. */
export type Span = { after: number; upTo: number }

const lastID = 2_147_483_647
export const everyone: Span = { after: 0, upTo: lastID }
export const isLast = ({ upTo }: Span) => upTo === lastID

export const within = (column: string, { after, upTo }: Span): Fragment =>
  sql`${raw(column)} > ${after} and ${raw(column)} <= ${upTo}`

/**
 * The rows of a distribution in a span. Account and distribution are compared as one, which an
 * index by account does not serve: without statistics it would be taken for as good as the key, and
 * the rows of every distribution there ever was be read.
 */
export function inSpan(which: DistributionID, alias: string, span: Span): Fragment {
  if (span === everyone) return ofDistribution(which, alias)
  const pair = raw(`(${alias}.corporate_action_id, ${alias}.account_id)`)
  return sql`${ofDistribution(which, alias)} and ${pair} > (${which.id}, ${span.after})
    and ${pair} <= (${which.id}, ${span.upTo})`
}

/** The span of the next so many accounts of a table in the order of their ids. */
export const spanFrom = (after: number, boundary: number | undefined): Span => ({
  after,
  upTo: boundary ?? lastID,
})
