import { useQuery } from '@tanstack/react-query'
import type { Params } from './client.ts'
import { readQuery } from './products.ts'

const everyMs = 5000

/**
 * The present state of a record opened from a list, since others may act on it while it is open.
 * Undefined where it no longer exists or may not be seen.
 */
export function useCurrent<T>(path: string, params: Params, listed: T): T | undefined {
  const { data } = useQuery({
    ...readQuery<T[]>(path, params),
    staleTime: 0,
    refetchInterval: everyMs,
  })
  return data ? data[0] : listed
}
