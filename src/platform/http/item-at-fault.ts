import type { Problem } from '../refusal.ts'
import { inside, itemOf } from '../shape/path.ts'

/** `Key (product_id, external_account_id)=(1, A-7) already exists.` */
const keyInDetail = /\)=\((.*)\) (?:already exists|is not present|conflicts)/

/**
 * The path of the list item whose value a database constraint refused, from the key that PostgreSQL
 * quotes. Where two items have the value, the second is at fault. The quoted value is only
 * compared, never passed on.
 */
export function itemAtFault(problem: Problem, detail: string | undefined, list: unknown) {
  const { field } = problem
  const key = keyInDetail.exec(detail ?? '')?.[1]
  if (field === undefined || key === undefined || !Array.isArray(list)) return undefined
  const values = new Set([key, ...key.split(', ')].map((value) => value.trim().toLowerCase()))
  const found = list.flatMap((item, i) => placesOf(item, itemOf('', i), field, values))
  return found.at(-1)
}

function placesOf(value: unknown, path: string, field: string, values: Set<string>): string[] {
  if (Array.isArray(value))
    return value.flatMap((item, i) => placesOf(item, itemOf(path, i), field, values))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === field && isAmong(inner, values)
      ? [inside(path, name)]
      : placesOf(inner, inside(path, name), field, values),
  )
}

const isAmong = (value: unknown, values: Set<string>) =>
  (typeof value === 'string' || typeof value === 'number') &&
  values.has(String(value).trim().toLowerCase())
