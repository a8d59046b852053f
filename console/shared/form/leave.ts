import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'

/** Whether the component that asked is still shown when a late answer comes. */
export function useIsHere() {
  const isHere = useRef(false)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  return isHere
}

/**
 * Navigates only while the page that asked is still shown, so that a late answer does not pull away
 * a user who has moved on.
 */
export function useGo(): (to: string, more?: { ignoreBlocker: true }) => void {
  const navigate = useNavigate()
  const isHere = useIsHere()
  return (to, more) => {
    if (isHere.current) void navigate({ to, ...more })
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
    // On a busy machine the guard may not know yet that nothing is left to lose.
    go(to, { ignoreBlocker: true })
  }
  return [saved, leave]
}
