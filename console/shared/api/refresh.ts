import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

const everyMs = 1500

/** While something is under way, what is on the page is read again. */
export function useRefresh(busy: boolean) {
  const client = useQueryClient()
  useEffect(() => {
    if (!busy) return
    // What is asked for already is waited for: begun anew each time, a slow answer would never come.
    const refresh = () => void client.invalidateQueries({}, { cancelRefetch: false })
    const timer = setInterval(refresh, everyMs)
    return () => clearInterval(timer)
  }, [busy, client])
}
