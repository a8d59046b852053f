import { useQuery } from '@tanstack/react-query'
import { api, type Params } from './client.ts'
import type { Envelope } from './error.ts'

const most = 1000

/**
 * All rows of a list, page by page. Each page starts after the last row of the page before,
 * whatever is added meanwhile.
 */
export async function* pagesOf<Row>(
  path: string,
  params: Params,
  step = most,
): AsyncGenerator<Row[]> {
  for (let after: Params | null = {}; after; ) {
    const page: Envelope<Row[]> = await api.get<Row[]>(path, {
      ...params,
      ...after,
      PageSize: step,
    })
    yield page.data
    after = page.nextCursor ? { Cursor: page.nextCursor } : null
  }
}

export async function allOf<Row>(path: string, params: Params): Promise<Row[]> {
  const all: Row[] = []
  for await (const rows of pagesOf<Row>(path, params)) all.push(...rows)
  return all
}

/** Reads all rows of a list, however many there are, because they are added up. */
export const useReadAll = <Row>(path: string, params: Params, enabled = true) =>
  useQuery({
    queryKey: ['read all', path, params],
    queryFn: () => allOf<Row>(path, params),
    enabled,
  })
