import { type TObject, Type } from 'typebox'
import { defaultPageSize } from '../sql/paging.ts'

/** The paging parameters of a read. How large a page may be is settled when the server starts. */
export const paging = {
  PageNumber: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1 }),
  ),
  PageSize: Type.Optional(Type.Integer({ minimum: 1, default: defaultPageSize })),
}

/** How large a page may be is a setting, so it enters the schema when the server is assembled. */
export function limitPages(query: TObject, maximum: number): TObject {
  const { PageSize } = query.properties
  if (!PageSize) return query
  const limited = { ...PageSize, maximum, pageLimit: true }
  return { ...query, properties: { ...query.properties, PageSize: limited } }
}
