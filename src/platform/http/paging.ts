import { type TObject, Type } from 'typebox'
import { defaultPageSize } from '../sql/paging.ts'

/**
 * The paging parameters of a read; limitPages adds the largest page size when the server starts.
 */
export const paging = {
  PageNumber: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1 }),
  ),
  PageSize: Type.Optional(Type.Integer({ minimum: 1, default: defaultPageSize })),
  Cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The nextCursor of the previous page. Equally fast for every page.',
    }),
  ),
  Order: Type.Optional(
    Type.Unsafe<'asc' | 'desc'>({
      type: 'string',
      enum: ['asc', 'desc'],
      default: 'asc',
      description: 'desc: newest first.',
    }),
  ),
  IncludeTotal: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Adds totalCount, the number of records on all pages.',
    }),
  ),
}

/** Whether a request has any paging parameter. */
export const asksForPage = (query: object) => Object.keys(paging).some((name) => name in query)

/** For reads that can answer with what the register knew at a moment: see platform/sql/known.ts. */
export const knownAt = {
  KnownAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Answers with the data as known at this moment. If left out: the current data.',
    }),
  ),
}

/** The largest page size is a setting, so it enters the schema when the server is assembled. */
export function limitPages(query: TObject, maximum: number): TObject {
  const { PageSize } = query.properties
  if (!PageSize) return query
  const limited = { ...PageSize, maximum, pageLimit: true }
  return { ...query, properties: { ...query.properties, PageSize: limited } }
}
