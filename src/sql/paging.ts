import sql, { raw } from 'sql-template-tag'
import type { Fragment } from './handle.ts'

export type Paging = { PageNumber?: number; PageSize?: number }

export const defaultPageSize = 100

/** No table has more rows than a bigint counts, so a page beyond is as empty as the last one. */
const mostRows = 2n ** 63n - 1n

/**
 * The end of a paged select: one page by native id. PageNumber has no upper limit, so the rows to
 * skip are counted in bigints, and a page beyond the highest id is known to be empty without
 * reading up to it.
 */
export function page(query: Paging, from: string, id: string): Fragment {
  const { PageNumber = 1, PageSize = defaultPageSize } = query
  const before = (BigInt(PageNumber) - 1n) * BigInt(PageSize)
  const skip = String(before < mostRows ? before : mostRows)
  return sql`
    and (${skip}::bigint = 0 or ${skip}::bigint < (select max(${raw(id)}) from ${raw(from)}))
    order by ${raw(id)} limit ${PageSize} offset ${skip}::bigint`
}
