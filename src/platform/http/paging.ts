import { Type } from 'typebox'
import { defaultPageSize } from '../sql/paging.ts'

/** The paging parameters of a read. How large a page may be is settled when the server starts. */
export const paging = {
  PageNumber: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1 }),
  ),
  PageSize: Type.Optional(Type.Integer({ minimum: 1, default: defaultPageSize })),
}
