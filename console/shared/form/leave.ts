import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'

/**
 * Goes to another page, from the one it was asked on: a late answer does not fetch away who has gone
 * on to something else meanwhile.
 */
export function useGo(): (to: string) => void {
  const navigate = useNavigate()
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  return (to) => {
    if (isHere.current) void navigate({ to })
  }
}

/**
 * Leaves a page whose form is saved. The form stands there until the other page does: for as long
 * it is saved, nobody is asked about it, and its button must not be there to be pressed again.
 */
export function useLeave(): [saved: boolean, leave: (to: string) => void] {
  const go = useGo()
  const [saved, setSaved] = useState(false)
  const leave = (to: string) => {
    setSaved(true)
    // After the guard has seen that there is nothing left to lose.
    setTimeout(() => go(to))
  }
  return [saved, leave]
}
