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
      description: 'The request itself or the changes that it made. Sensitive values are masked.',
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

const hash = 'a3f1c0de'.repeat(8)

export const AuditSeal = shown(
  'AuditSeal',
  {
    position: LongId,
    sealedDate: DateTime,
    auditID: LongId,
    publicKey: Type.String({ description: 'The Ed25519 public key, as PEM.' }),
    signature: Type.String({ description: 'The signature of signedText, in base64.' }),
    hash: Type.String({
      description: 'The SHA-256 hash over all records up to this one, in hexadecimal.',
    }),
    signedText: Type.String(),
  },
  {
    position: 4711,
    sealedDate: '2026-01-01T00:00:00Z',
    auditID: 4711,
    publicKey: '-----BEGIN PUBLIC KEY-----…',
    signature: 'c2lnbmF0dXJl',
    hash,
    signedText: `registry audit seal\nposition 4711\nsha256 ${hash}\nsealed 2026-01-01T00:00:00Z\n`,
  },
)

export const VerifyQuery = Type.Object({
  Position: optional(LongId),
  Hash: optional(
    Type.String({ pattern: '^[0-9a-fA-F]{64}$', must: 'must be the hash of a seal, in hex' }),
  ),
})

export const AuditVerification = Type.Object(
  {
    isWhole: Type.Boolean(),
    records: Type.Integer(),
    sealed: Type.Integer({ description: 'The number of records up to the first fault.' }),
    seals: Type.Integer(),
    faults: Type.Array(
      Type.Object({
        kind: Type.String(),
        auditID: Type.Union([LongId, Type.Null()]),
        position: Type.Union([LongId, Type.Null()]),
        message: Type.String(),
      }),
    ),
  },
  {
    $id: 'AuditVerification',
    example: { isWhole: true, records: 4711, sealed: 4711, seals: 120, faults: [] },
  },
)
