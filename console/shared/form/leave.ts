import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'

/**
 * Navigates only while the page that asked is still shown, so that a late answer does not pull away
 * a user who has moved on.
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
 * Leaves a page after its form was saved. The form is still shown until the next page is; meanwhile
 * it counts as saved, so that nothing asks about unsaved values and its button cannot be pressed
 * again.
 */
export function useLeave(): [saved: boolean, leave: (to: string) => void] {
  const go = useGo()
  const [saved, setSaved] = useState(false)
  const leave = (to: string) => {
    setSaved(true)
    // Later, when the guard knows that nothing is left to lose.
    setTimeout(() => go(to))
  }
  return [saved, leave]
}
