import { constraints } from '../constraints.ts'
import { Refusal } from '../refusal.ts'
import { inside } from '../shape/path.ts'

type Row = Record<string, unknown>
type Violation = { code?: string; constraint?: string; detail?: string }

/**
 * Turns a broken unique constraint into a refusal at the item that breaks it: PostgreSQL names the
 * duplicate key, and the last row of the request with that key is reported. Other errors are
 * returned unchanged.
 */
export function atItem<T extends Row>(
  error: unknown,
  rows: readonly T[],
  pathOf: ((row: T) => string) | undefined,
): unknown {
  const { code, constraint, detail } = error as Violation
  const known = constraint === undefined ? undefined : constraints[constraint]
  const key = /^Key \((.*?)\)=\((.*)\) (?:already exists|conflicts)/s.exec(detail ?? '')
  if (!known?.field || !key || !pathOf || (code !== '23505' && code !== '23P01')) return error
  const row = rows.findLast((one) => keyOf(one, key[1]!) === key[2]!.toLowerCase())
  if (!row) return error
  const { status, field, ...problem } = known
  return new Refusal(status, [{ ...problem, field: inside(pathOf(row), field) }])
}

/** The values of a row for a key as PostgreSQL writes it: lower(name::text), product_id. */
const keyOf = (row: Row, key: string) =>
  key
    .split(', ')
    .map((part) => /\(?(\w+)::|^(\w+)$/.exec(part)?.slice(1).find(Boolean) ?? '')
    .map((column) => String(row[column] ?? 'null').toLowerCase())
    .join(', ')
