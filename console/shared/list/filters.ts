import type { Category } from '../api/lookups.ts'
import { beginOf } from '../format.ts'

/** A filter of a list; its key is the parameter name in the API and in the address. */
export type Filter = { key: string; label: string } & (
  | { kind: 'text' | 'date' }
  /**
   * A date in the browser's time zone for records with a moment: from the beginning of that day.
   */
  | { kind: 'moment' }
  | { kind: 'lookup'; category: Category }
  | { kind: 'choice'; options: { value: string; label: string }[] }
)

export type Search = Record<string, string>

/** The request parameters that the address holds. */
export const paramsOf = (filters: Filter[], search: Search): Search =>
  Object.fromEntries(
    filters.flatMap(({ key, kind }) => {
      const value = search[key]
      return value ? [[key, kind === 'moment' ? beginOf(value) : value] as const] : []
    }),
  )

/** Reduces search parameters to texts, which is all that an address can hold. */
export const readSearch = (given: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
    ),
  )
