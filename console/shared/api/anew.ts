import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

type Read = Pick<UseQueryResult, 'dataUpdatedAt' | 'errorUpdatedAt' | 'error'>

export type Anew = {
  /** Whether all was read since it was last asked for. */
  isNow: boolean
  /** Why not, where it was tried in vain. */
  error: Error | undefined
  readAnew: () => void
}

/**
 * Reads what is on the page anew, and says whether that is done: figures that somebody is asked to
 * confirm are those of now. Where they cannot be read, those of before are none.
 */
export function useAnew(...reads: Read[]): Anew {
  const client = useQueryClient()
  const [since, setSince] = useState(0)
  const failed = reads.find(({ error, errorUpdatedAt }) => error && errorUpdatedAt >= since)
  return {
    isNow: !failed && reads.every(({ dataUpdatedAt }) => dataUpdatedAt >= since),
    error: failed?.error ?? undefined,
    readAnew: () => {
      setSince(Date.now())
      void client.invalidateQueries()
    },
  }
}
