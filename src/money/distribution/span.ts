import sql, { raw } from 'sql-template-tag'
import type { Fragment } from '../../platform/sql/handle.ts'
import { type DistributionID, ofDistribution } from './sql.ts'

/** The accounts with ids above `after` and up to `upTo`, inclusive. */
export type Span = { after: number; upTo: number }

const lastID = 2_147_483_647
export const everyone: Span = { after: 0, upTo: lastID }
export const isLast = ({ upTo }: Span) => upTo === lastID

export const within = (column: string, { after, upTo }: Span): Fragment =>
  sql`${raw(column)} > ${after} and ${raw(column)} <= ${upTo}`

/**
 * The rows of a distribution in a span. Distribution and account are compared as a pair, for which
 * an index by account alone is no use. Without statistics the planner would rate that index as good
 * as the key, and read the rows of all distributions there ever were.
 */
export function inSpan(which: DistributionID, alias: string, span: Span): Fragment {
  if (span === everyone) return ofDistribution(which, alias)
  const pair = raw(`(${alias}.corporate_action_id, ${alias}.account_id)`)
  return sql`${ofDistribution(which, alias)} and ${pair} > (${which.id}, ${span.after})
    and ${pair} <= (${which.id}, ${span.upTo})`
}

/** The span from `after` to the boundary, or to the last account if there is no boundary. */
export const spanFrom = (after: number, boundary: number | undefined): Span => ({
  after,
  upTo: boundary ?? lastID,
})
