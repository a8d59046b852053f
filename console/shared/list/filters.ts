import type { Category } from '../api/lookups.ts'
import { beginOf } from '../format.ts'

/** One filter of a list read; its key is the parameter's own name, which also stands in the URL. */
export type Filter = { key: string; label: string } & (
  | { kind: 'text' | 'date' }
  /** A day of whoever looks, of records that have a moment: from when it begins. */
  | { kind: 'moment' }
  | { kind: 'lookup'; category: Category }
  | { kind: 'choice'; options: { value: string; label: string }[] }
)

export type Search = Record<string, string>

/** The parameters of a request that stand in the URL. */
export const paramsOf = (filters: Filter[], search: Search): Search =>
  Object.fromEntries(
    filters.flatMap(({ key, kind }) => {
      const value = search[key]
      return value ? [[key, kind === 'moment' ? beginOf(value) : value] as const] : []
    }),
  )

/** What a URL may hold: texts, nothing else. */
export const readSearch = (given: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
    ),
  )
