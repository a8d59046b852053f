import { useQuery } from '@tanstack/react-query'
import { api, type Params } from './client.ts'

const everyMs = 5000

/**
 * A record that was opened from a list, as it is now: others decide on it while it is looked at.
 * Undefined where it is not there any more, or not to be seen.
 */
export function useCurrent<T>(path: string, params: Params, listed: T): T | undefined {
  const { data } = useQuery({
    queryKey: ['read', path, params],
    queryFn: async () => (await api.get<T[]>(path, params)).data,
    staleTime: 0,
    refetchInterval: everyMs,
  })
  return data ? data[0] : listed
}
