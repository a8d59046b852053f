import type { Sql as Statement } from 'sql-template-tag'
import type { Actor } from '../src/platform/actor.ts'
import { permissions } from '../src/platform/permission.ts'
import { recordsColumn } from '../src/platform/sql/bytes.ts'
import type { Sql } from '../src/platform/sql/handle.ts'

/** Sees everything, as the user of the bench does. */
export const everybody: Actor = {
  userID: 1,
  username: 'bench',
  sessionID: 'bench',
  productIDs: null,
  permissions: new Set(permissions),
}

/** The first statement that a read sends, caught on its way. */
export async function statementOf(read: (handle: Sql) => Promise<unknown>): Promise<Statement> {
  let caught: Statement | undefined
  await read({
    query: async (statement) => {
      caught ??= statement
      return [{ json: '[]', count: 0, [recordsColumn]: { count: 0 } }] as never
    },
    isSpread: async () => false,
  })
  return caught!
}

/** A statement of ours as a script of pgbench or psql, with its parameters written in. */
export function scriptOf(
  { text, values }: Statement,
  inPlace: Record<string, string> = {},
): string {
  return (
    text
      .replace(/\$(\d+)/g, (_, place) => {
        const value = values[Number(place) - 1]
        return inPlace[String(value)] ?? literal(value)
      })
      // pgbench would take these for variables of its own.
      .replaceAll('HH24:MI:SS', "HH24' || ':' || 'MI' || ':' || 'SS")
  )
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return `'{${value.join(',')}}'`
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : `'${String(value).replaceAll("'", "''")}'`
}
