import { type Static, Type } from 'typebox'
import { paging } from '../../platform/http/paging.ts'
import { DateTime, LongId, optional, requiredText, shown } from '../../platform/shape/fields.ts'
import { dateTimeFilter, filterParameters } from '../../platform/sql/filters.ts'

export const Audit = shown(
  'Audit',
  {
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
  },
  {
    auditID: 4711,
    occurredDate: '2026-01-01T00:00:00Z',
    userID: 2,
    username: 'ann',
    operation: 'PUT /Product',
    resource: 'Product',
    resourceIDs: [1],
    productID: 1,
    changes: { name: { from: 'Growth', to: 'Growth Fund' } },
    requestID: '0b3c8a1e-5a39-4a53-9d1c-5f6f0e0f3c11',
  },
)

export const auditFilters = { OccurredDate: dateTimeFilter('a.occurred_date') }

export const AuditQuery = Type.Object({
  Resource: optional(requiredText(50)),
  ResourceID: optional(LongId),
  Username: optional(requiredText(100)),
  ...filterParameters(auditFilters),
  ...paging,
})
export type AuditQuery = Static<typeof AuditQuery>
