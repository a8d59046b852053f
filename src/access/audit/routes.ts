import type { Actor } from '../../platform/actor.ts'
import { arrayOf, type Endpoint, reading } from '../../platform/http/endpoint.ts'
import { turns } from '../../platform/http/turns.ts'
import { forbidden } from '../../platform/refusal.ts'
import { nullable } from '../../platform/shape/fields.ts'
import type { Database, Sql } from '../../platform/sql/handle.ts'
import type { Answer } from '../../platform/sql/render.ts'
import { Audit, AuditQuery, AuditSeal, AuditVerification, VerifyQuery } from './schema.ts'
import { readSeal } from './seal.ts'
import { readAudit } from './sql.ts'
import { verifyChain } from './verify.ts'

/** The whole trail is read: one at a time is enough. */
const inTurn = turns({
  most: 1,
  longestQueue: 5,
  full: 'The audit trail is being verified already.',
})

/** Leaves out of a page of the trail what it tells of records that the caller may not see. */
type Veil = (handle: Sql, actor: Actor, page: Answer<Buffer>) => Promise<Answer<Buffer>>

export const auditEndpoints = (database: Database, veil: Veil): Endpoint[] => [
  reading({
    operation: 'GET /Audit',
    name: 'listAuditRecords',
    access: 'Audit.Read',
    summary: 'Read the audit trail: who did what, when, to which records.',
    query: AuditQuery,
    data: arrayOf(Audit),
    read: async ({ query, actor }, handle) =>
      veil(handle, actor, await readAudit(handle, actor, query)),
  }),
  reading({
    operation: 'GET /Audit/Seal',
    access: 'Audit.Read',
    summary: 'Read the signed head of the audit chain, to be kept elsewhere.',
    data: nullable(AuditSeal),
    read: (_request, handle) => readSeal(handle),
  }),
  reading({
    operation: 'GET /Audit/Verify',
    access: 'Audit.Read',
    summary: 'Recompute the audit chain; names the first record that is not as it was sealed.',
    query: VerifyQuery,
    data: AuditVerification,
    read: async ({ query, actor, caller }) => {
      if (actor.productIDs !== null)
        throw forbidden('all_products_needed', 'The chain is of all products: so must be yours.')
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
