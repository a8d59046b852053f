import type { TSchema } from 'typebox'
import { parseJson } from './json.ts'
import { ownNode } from './keywords.ts'

/**
 * A value as audit records may hold it: fields that the schema marks sensitive are blotted out. If
 * a sensitive value differs from `before`, the blot says so: otherwise the change could not be
 * seen.
 */
export function masked(schema: TSchema, value: unknown, before?: unknown): unknown {
  const { sensitive, items, properties } = ownNode(schema)
  if (value === null || value === undefined) return value
  if (sensitive) return isOther(value, before) ? '*** (changed)' : '***'
  if (items && Array.isArray(value)) {
    const earlier = byOwnID(before)
    return value.map((item) => masked(items, item, earlier.get(ownID(item))))
  }
  if (!properties || typeof value !== 'object') return value
  const was = before as Record<string, unknown> | null | undefined
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      masked(properties[name] ?? {}, field, was?.[name]),
    ]),
  )
}

const isOther = (value: unknown, before: unknown) =>
  before !== undefined && before !== null && JSON.stringify(value) !== JSON.stringify(before)

/** The identity of a record in a list: its first field, which is its own id. */
export const ownID = (record: unknown): string => JSON.stringify(Object.values(Object(record))[0])
const byOwnID = (records: unknown): Map<string, unknown> =>
  new Map(Array.isArray(records) ? records.map((one) => [ownID(one), one]) : [])

/** The fields that differ between two answers about one record: { name: { from, to } }. */
export function changesBetween(schema: TSchema, before: string, after: string): object {
  const from = recordOf(before)
  const to = recordOf(after)
  const changed = Object.keys(to).filter(
    (name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]),
  )
  const shownFrom = masked(schema, from) as Record<string, unknown>
  const shownTo = masked(schema, to, from) as Record<string, unknown>
  return Object.fromEntries(
    changed.map((name) => [name, { from: shownFrom[name] ?? null, to: shownTo[name] ?? null }]),
  )
}

/** The single record of an answer, with numbers as they were written. */
export function recordOf(json: string): Record<string, unknown> {
  const parsed = parseJson(json)
  return (Array.isArray(parsed) ? (parsed[0] ?? {}) : parsed) as Record<string, unknown>
}
