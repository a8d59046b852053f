import sql, { raw } from 'sql-template-tag'
import type { Fragment } from './handle.ts'

export type Paging = { PageNumber?: number; PageSize?: number }

export const defaultPageSize = 100

/** No table has more rows than a bigint counts, so a page beyond is as empty as the last one. */
const mostRows = 2n ** 63n - 1n

/** The end of a paged select: one page by native id. */
export const page = (query: Paging, from: string, id: string): Fragment =>
  pageBy(query, id, `(select max(${id}) from ${from})`)

/**
 * The end of a paged select, in any stable order. PageNumber has no upper limit, so the rows to
 * skip are counted in bigints; and with a bound on how many rows there can be, a page beyond it is
 * known to be empty without reading up to it.
 */
export function pageBy(query: Paging, order: string, bound: string): Fragment {
  const { PageNumber = 1, PageSize = defaultPageSize } = query
  const before = (BigInt(PageNumber) - 1n) * BigInt(PageSize)
  const skip = String(before < mostRows ? before : mostRows)
  return sql`
    and (${skip}::bigint = 0 or ${skip}::bigint < ${raw(bound)})
    order by ${raw(order)} limit ${PageSize} offset ${skip}::bigint`
}
