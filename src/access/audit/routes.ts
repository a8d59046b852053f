import { arrayOf, type Endpoint, reading } from '../../platform/http/endpoint.ts'
import { turns } from '../../platform/http/turns.ts'
import { forbidden } from '../../platform/refusal.ts'
import { nullable } from '../../platform/shape/fields.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { Audit, AuditQuery, AuditSeal, AuditVerification, VerifyQuery } from './schema.ts'
import { readSeal } from './seal.ts'
import { readAudit } from './sql.ts'
import type { Veil } from './veil.ts'
import { verifyChain } from './verify.ts'

/** A verification reads the whole audit trail, so one runs at a time. */
const inTurn = turns({
  most: 1,
  longestQueue: 5,
  full: 'The audit trail is being verified already.',
})

export const auditEndpoints = (database: Database, veil: Veil): Endpoint[] => [
  reading({
    operation: 'GET /Audit',
    name: 'listAuditRecords',
    access: 'Audit.Read',
    summary: 'List the audit trail: who did what, when, and to which records.',
    query: AuditQuery,
    data: arrayOf(Audit),
    read: ({ query, actor }, handle) => readAudit(handle, actor, veil, query),
  }),
  reading({
    operation: 'GET /Audit/Seal',
    access: 'Audit.Read',
    summary: 'Read the signed head of the audit chain. Keep a copy of it outside the registry.',
    data: nullable(AuditSeal),
    read: (_request, handle) => readSeal(handle),
  }),
  reading({
    operation: 'GET /Audit/Verify',
    access: 'Audit.Read',
    summary:
      'Recompute the audit chain. If a record is not as it was sealed, the answer names the ' +
      'first such record.',
    query: VerifyQuery,
    data: AuditVerification,
    read: async ({ query, actor, caller }) => {
      if (actor.productIDs !== null)
        throw forbidden(
          'all_products_needed',
          'The audit chain is for users with access to all products.',
        )
      const { Position, Hash } = query
      const kept = Position && Hash ? { position: Position, hash: Hash } : undefined
      const report = await inTurn(() => database.snapshot((one) => verifyChain(one, kept)), {
        caller,
      })
      const data = { isWhole: report.faults.length === 0, ...report }
      return { json: JSON.stringify(data), recordCount: 1 }
    },
  }),
]
