import sql, { raw } from 'sql-template-tag'
import { constraints } from '../constraints.ts'
import { type Problem, refuseAll } from '../refusal.ts'
import { inside } from '../shape/path.ts'
import type { Tx } from './handle.ts'
import type { PathOf, Row } from './rows.ts'

/**
 * Refuses all new rows of a request whose external id is taken, also by an earlier row of the
 * request: a file that is imported again has thousands. A single row is left to the unique
 * constraint, which reports it just as well.
 */
export const refuseTakenIDs =
  (table: string) =>
  async (tx: Tx, rows: readonly Row[], pathOf: PathOf): Promise<void> => {
    const column = `external_${table}_id`
    const named = rows.filter((row) => row[column] !== null)
    if (named.length < 2) return
    const found = await tx.query<{ external: string }>(sql`
      select ${raw(column)} as external from ${raw(table)}
      where ${raw(column)} = any(${named.map((row) => row[column])}::text[])`)
    const taken = new Set<unknown>(found.map(({ external }) => external))
    const { status, field, ...problem } = constraints[`${table}_external_id_unique`]!
    refuseAll(
      status,
      named.flatMap((row): Problem[] => {
        if (taken.has(row[column])) return [{ ...problem, field: inside(pathOf(row), field!) }]
        taken.add(row[column])
        return []
      }),
    )
  }
