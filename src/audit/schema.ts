import { type Static, Type } from 'typebox'
import { DateTime, LongId, optional, requiredText, shown } from '../http/fields.ts'
import { paging } from '../http/paging.ts'
import { dateTimeFilter, filterParameters } from '../sql/filters.ts'

export const Audit = shown('Audit', {
  auditID: LongId,
  occurredDate: DateTime,
  userID: Type.Integer(),
  username: Type.String(),
  operation: Type.String(),
  resource: Type.String(),
  resourceIDs: Type.Array(Type.Integer()),
  productID: Type.Integer(),
  changes: Type.Unsafe<unknown>({
    description: 'What was asked or what changed, sensitive values blotted out.',
  }),
  requestID: Type.String(),
})

export const auditFilters = { OccurredDate: dateTimeFilter('a.occurred_date') }

export const AuditQuery = Type.Object({
  Resource: optional(requiredText(50)),
  ResourceID: optional(LongId),
  Username: optional(requiredText(100)),
  ...filterParameters(auditFilters),
  ...paging,
})
export type AuditQuery = Static<typeof AuditQuery>
