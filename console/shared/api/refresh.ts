import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

const everyMs = 1500

/** While something is under way, what is on the page is read again. */
export function useRefresh(busy: boolean) {
  const client = useQueryClient()
  useEffect(() => {
    if (!busy) return
    const timer = setInterval(() => void client.invalidateQueries(), everyMs)
    return () => clearInterval(timer)
  }, [busy, client])
}
