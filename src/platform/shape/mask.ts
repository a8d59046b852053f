import type { TSchema } from 'typebox'
import { parseJson } from './json.ts'
import { ownNode } from './keywords.ts'

/** A value as audit records may hold it: what its schema calls sensitive is blotted out. */
export function masked(schema: TSchema, value: unknown): unknown {
  const { sensitive, items, properties } = ownNode(schema)
  if (value === null || value === undefined) return value
  if (sensitive) return '***'
  if (items && Array.isArray(value)) return value.map((item) => masked(items, item))
  if (!properties || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, masked(properties[name] ?? {}, field)]),
  )
}

/** The fields that differ between two answers about one record: { name: { from, to } }. */
export function changesBetween(schema: TSchema, before: string, after: string): object {
  const from = recordOf(before)
  const to = recordOf(after)
  const changed = Object.keys(to).filter(
    (name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]),
  )
  const blotted = (record: Record<string, unknown>) =>
    masked(schema, record) as Record<string, unknown>
  const [shownFrom, shownTo] = [blotted(from), blotted(to)]
  return Object.fromEntries(
    changed.map((name) => [name, { from: shownFrom[name] ?? null, to: shownTo[name] ?? null }]),
  )
}

/** The one record of an answer, numbers as they were written. */
export function recordOf(json: string): Record<string, unknown> {
  const parsed = parseJson(json)
  return (Array.isArray(parsed) ? (parsed[0] ?? {}) : parsed) as Record<string, unknown>
}
