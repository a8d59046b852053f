import type { Sql as Statement } from 'sql-template-tag'
import type { Actor } from '../src/platform/actor.ts'
import { permissions } from '../src/platform/permission.ts'
import { recordsColumn } from '../src/platform/sql/bytes.ts'
import type { Sql } from '../src/platform/sql/handle.ts'

/** An actor who sees everything, like the user of the bench. */
export const everybody: Actor = {
  userID: 1,
  username: 'bench',
  sessionID: 'bench',
  productIDs: null,
  permissions: new Set(permissions),
}

/** The first SQL statement that a read would send; nothing is sent. */
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

/** An SQL statement as a script for pgbench or psql, with its parameters written into the text. */
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
      // pgbench would take :MI and :SS for its own variables.
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
