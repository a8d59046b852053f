import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

/**
 * Reads what is on the page anew, and says while it does: figures that somebody is asked to confirm
 * are those of now, and not of when the page was opened.
 */
export function useAnew(): [isReading: boolean, readAnew: () => void] {
  const client = useQueryClient()
  const [isReading, setReading] = useState(false)
  const readAnew = () => {
    setReading(true)
    void client.invalidateQueries().finally(() => setReading(false))
  }
  return [isReading, readAnew]
}
