import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

type Read = Pick<UseQueryResult, 'dataUpdatedAt' | 'errorUpdatedAt' | 'error'>

export type Anew = {
  /** Whether everything has been read since `readAnew` was last called. */
  isNow: boolean
  /** The error of a read that failed since then. */
  error: Error | undefined
  readAnew: () => void
}

/**
 * Reads the data of the page again and tells when that is done, so that figures a user is asked to
 * confirm are current. If they cannot be read, the earlier figures do not count.
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
