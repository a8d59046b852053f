import { type UseQueryResult, useQueries, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api, type Params } from '../api/client.ts'
import type { Envelope } from '../api/error.ts'
import { pagesOf } from '../api/pages.ts'
import { atOnce } from '../api/session.ts'

/** Rows fetched at a time: more than a tall screen shows, and still a short answer. */
const usualSize = 100
/** A page is fetched this many rows before it comes into view. */
const ahead = 40
/**
 * For lists up to this length every page reads the total as well; for longer lists counting is
 * slow.
 */
const countedMost = 10_000
/**
 * Milliseconds to keep pages out of view: long enough to scroll back, shorter than a scroll through
 * the whole list.
 */
const keptFor = 60_000

export type Rows<Row> = {
  /** The number of rows; until it is known, the size of one page. */
  count: number
  /** Known once the first page is there. */
  total: number | undefined
  at: (index: number) => Row | undefined
  /** Reports the rows in view, whose pages are then fetched. */
  look: (first: number, last: number) => void
  /** All rows, up to a limit. */
  all: (most: number) => Promise<Row[]>
  error: Error | null
  retry: () => void
}

/** The rows of a list; only pages in view are fetched. */
export function useRows<Row>(path: string, params: Params): Rows<Row> {
  const pageSize = atOnce(usualSize)
  const [looked, setLooked] = useState({ first: 0, last: 0 })
  const from = Math.floor(looked.first / pageSize)
  const until = Math.floor(looked.last / pageSize)
  const inView = Array.from({ length: until - from + 1 }, (_, i) => from + i)
  // The first page is always read, since it also returns the total number of rows.
  const pages = [...new Set([0, ...inView])]
  const client = useQueryClient()
  const isCounted = () => {
    const known = client.getQueryData<Envelope<Row[]>>(['rows', path, params, 0])?.totalCount
    return known !== undefined && known <= countedMost
  }
  const results = useQueries({
    queries: pages.map((page) => ({
      queryKey: ['rows', path, params, page],
      ...(page > 0 && { gcTime: keptFor }),
      queryFn: () =>
        api.get<Row[]>(path, {
          ...params,
          PageNumber: page + 1,
          PageSize: pageSize,
          ...((page === 0 || isCounted()) && { IncludeTotal: true }),
        }),
    })),
  })
  const rowsOf = new Map(pages.map((page, i) => [page, results[i]?.data?.data]))
  useSameMoment(['rows', path, params], pages, results)
  const first = results[0]?.data
  const total = first && (first.totalCount ?? first.data.length)
  const count = total ?? pageSize
  return {
    count,
    total,
    at: (index) => rowsOf.get(Math.floor(index / pageSize))?.[index % pageSize],
    look: (top, bottom) => {
      const first = Math.max(0, top - ahead)
      const last = Math.min(count - 1, bottom + ahead)
      setLooked((before) =>
        before.first === first && before.last === last ? before : { first, last },
      )
    },
    all: (most) => firstOf<Row>(path, params, most),
    error: results.find(({ error }) => error)?.error ?? null,
    retry: () => {
      for (const result of results) if (result.error) result.refetch()
    },
  }
}

/** The most re-reads: after these, rows that still look alike are taken to be different rows. */
const mostTimes = 3

/**
 * Keeps the pages consistent. A row added at the top shifts all others, so a page read later
 * repeats rows of the page before; a removed row leaves a gap between two pages, or one row too few
 * at the end. When pages were read at different moments, all of them are read again.
 */
function useSameMoment<Row>(
  queryKey: unknown[],
  pages: number[],
  results: UseQueryResult<Envelope<Row[]>>[],
) {
  const client = useQueryClient()
  const times = useRef(0)
  const read = results.map(({ dataUpdatedAt, isFetching }) => (isFetching ? '' : dataUpdatedAt))
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at once when all are read.
  useEffect(() => {
    if (read.includes('')) return
    const answers = results.flatMap(({ data }, i) => (data ? [{ page: pages[i] ?? 0, data }] : []))
    if (areOfOneMoment(answers)) times.current = 0
    else if (times.current++ < mostTimes) void client.invalidateQueries({ queryKey })
  }, [read.join()])
}

type Answer<Row> = { page: number; data: Envelope<Row[]> }

function areOfOneMoment<Row>(answers: Answer<Row>[]): boolean {
  const rows = answers.flatMap(({ data }) => data.data.map((row) => JSON.stringify(row)))
  const [total, ...others] = new Set(answers.flatMap(({ data }) => data.totalCount ?? []))
  if (new Set(rows).size < rows.length || others.length > 0) return false
  const size = atOnce(usualSize)
  return answers.every(
    ({ page, data }) =>
      total === undefined || data.data.length >= Math.min(size, total - page * size),
  )
}

async function firstOf<Row>(path: string, params: Params, most: number): Promise<Row[]> {
  const rows: Row[] = []
  for await (const page of pagesOf<Row>(path, params)) {
    rows.push(...page)
    if (rows.length >= most) break
  }
  return rows.slice(0, most)
}
