import sql from 'sql-template-tag'
import { type Static, Type } from 'typebox'
import { arrayOf, type Endpoint, reading } from '../../platform/http/endpoint.ts'
import { type Category, lookups } from '../../platform/lookup/lookups.ts'
import { tryLater } from '../../platform/refusal.ts'
import { optional, shown } from '../../platform/shape/fields.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { type Answer, render } from '../../platform/sql/render.ts'

const Lookup = shown(
  'Lookup',
  {
    category: Type.String(),
    id: Type.Integer(),
    code: Type.String(),
    name: Type.String(),
    description: Type.String(),
  },
  { category: 'BizEntityType', id: 3, code: 'Trust', name: 'Trust', description: null },
)
const LookupQuery = Type.Object({
  Category: optional(Type.Unsafe<Category>({ type: 'string', enum: Object.keys(lookups) })),
})
const Health = Type.Object(
  {
    status: Type.String(),
    version: Type.String(),
    database: Type.String(),
    uptimeSeconds: Type.Integer(),
  },
  {
    $id: 'Health',
    example: { status: 'ok', version: '1.0.0', database: 'ok', uptimeSeconds: 3600 },
  },
)

/** The operations that need no sign-in. */
export const commonEndpoints = (
  version: string,
  stopping: AbortSignal,
  takesWrites: () => Promise<boolean>,
): Endpoint[] => [
  reading({
    operation: 'GET /Common/Lookup',
    name: 'listLookups',
    access: 'public',
    anyVersion: true,
    summary: 'List the values of all lookup categories, or of one.',
    query: LookupQuery,
    data: arrayOf(Lookup),
    read: ({ query }, handle) => readLookups(handle, query),
  }),
  reading({
    operation: 'GET /Common/HealthCheck',
    name: 'checkHealth',
    atOnce: true,
    access: 'public',
    anyVersion: true,
    summary:
      'Whether the service is ready: it and its database answer, and it is not about to stop.',
    data: Health,
    read: async (_request, handle) => {
      if (stopping.aborted) throw aboutToStop()
      const look = handle.query(sql`select 1`).then(takesWrites)
      return healthOf(version, await inTime(look))
    },
  }),
]

const readLookups = (handle: Sql, { Category: category }: Static<typeof LookupQuery>) =>
  render(
    handle,
    sql`
      select category, id, code, name, description from lookup
      where ${category ?? null}::text is null or category = ${category ?? null}
      order by category, id`,
  )

const patience = 2_000

function inTime<T>(look: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(databaseSilent()), patience)
  })
  return Promise.race([look, late]).finally(() => clearTimeout(timer))
}

/** A read-only database still answers reads, so a load balancer need not take the node out. */
function healthOf(version: string, isWritable: boolean): Answer {
  const [status, database] = isWritable ? ['ok', 'ok'] : ['degraded', 'read-only']
  const uptimeSeconds = Math.floor(process.uptime())
  const data = { status, version, database, uptimeSeconds }
  return { json: JSON.stringify(data), recordCount: 1 }
}

const aboutToStop = () => tryLater(503, 'stopping', 'This node is about to stop; ask another.', 1)
const databaseSilent = () =>
  tryLater(503, 'database_unavailable', 'The database does not answer.', 1)
