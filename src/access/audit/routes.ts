import { arrayOf, reading } from '../../platform/http/endpoint.ts'
import { Audit, AuditQuery } from './schema.ts'
import { readAudit } from './sql.ts'

export const auditEndpoints = [
  reading({
    operation: 'GET /Audit',
    name: 'listAuditRecords',
    access: 'Audit.Read',
    summary: 'Read the audit trail: who did what, when, to which records.',
    query: AuditQuery,
    data: arrayOf(Audit),
    read: ({ query, actor }, handle) => readAudit(handle, actor, query),
  }),
]
