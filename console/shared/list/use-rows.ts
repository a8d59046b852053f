import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Params } from '../api/client.ts'
import { pageSize } from './page-size.ts'

export type Rows<Row> = {
  /** How many rows there are, as far as is known: a page more than was seen until the end was. */
  count: number
  ended: boolean
  at: (index: number) => Row | undefined
  /** Tells which rows are looked at; their pages are fetched. */
  look: (first: number, last: number) => void
  error: Error | null
  retry: () => void
  isLoading: boolean
}

/** The pages of a list read that are looked at; the others are neither fetched nor kept in view. */
export function useRows<Row>(path: string, params: Params): Rows<Row> {
  const [looked, setLooked] = useState({ first: 0, last: 0 })
  const [seen, setSeen] = useState<{ key: string; pages: number }>({ key: '', pages: 1 })
  const key = JSON.stringify([path, params])
  const known = seen.key === key ? seen.pages : 1
  const from = Math.floor(looked.first / pageSize)
  const until = Math.min(Math.floor(looked.last / pageSize), known)
  const pages = Array.from({ length: Math.max(until - from, 0) + 1 }, (_, i) => from + i)
  const results = useQueries({
    queries: pages.map((page) => ({
      queryKey: ['rows', path, params, page],
      queryFn: async () => {
        const range = { PageNumber: page + 1, PageSize: pageSize }
        return (await api.get<Row[]>(path, { ...params, ...range })).data
      },
    })),
  })
  const rowsOf = new Map(pages.map((page, i) => [page, results[i]?.data]))
  const last = pages.findLast((page) => rowsOf.get(page) !== undefined)
  const lastRows = last === undefined ? undefined : rowsOf.get(last)
  const ended = lastRows !== undefined && lastRows.length < pageSize
  const full = lastRows === undefined || last === undefined ? 0 : last * pageSize + lastRows.length
  const failed = results.find(({ error }) => error)
  const most = Math.max(known, (last ?? 0) + (ended ? 0 : 1))
  if (most > known) setSeen({ key, pages: most })
  return {
    count: ended ? full : Math.max(full, known * pageSize),
    ended,
    at: (index) => rowsOf.get(Math.floor(index / pageSize))?.[index % pageSize],
    look: (first, lastIndex) =>
      setLooked((before) =>
        before.first === first && before.last === lastIndex ? before : { first, last: lastIndex },
      ),
    error: failed?.error ?? null,
    retry: () => {
      for (const result of results) if (result.error) result.refetch()
    },
    isLoading: lastRows === undefined && !failed,
  }
}
