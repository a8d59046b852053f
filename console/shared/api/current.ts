import { useQuery } from '@tanstack/react-query'
import type { Params } from './client.ts'
import { readQuery } from './products.ts'

const everyMs = 5000

/**
 * A record that was opened from a list, as it is now: others decide on it while it is looked at.
 * Undefined where it is not there any more, or not to be seen.
 */
export function useCurrent<T>(path: string, params: Params, listed: T): T | undefined {
  const { data } = useQuery({
    ...readQuery<T[]>(path, params),
    staleTime: 0,
    refetchInterval: everyMs,
  })
  return data ? data[0] : listed
}
