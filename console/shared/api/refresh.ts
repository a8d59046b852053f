import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

const everyMs = 1500

/** Reads the data of the page again and again while something is under way. */
export function useRefresh(busy: boolean) {
  const client = useQueryClient()
  useEffect(() => {
    if (!busy) return
    // A request under way is not restarted: restarted each time, a slow answer would never arrive.
    const refresh = () => void client.invalidateQueries({}, { cancelRefetch: false })
    const timer = setInterval(refresh, everyMs)
    return () => clearInterval(timer)
  }, [busy, client])
}
