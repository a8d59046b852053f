import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

/**
 * Leaves a page whose form is saved. The form stands there until the other page does: for as long
 * it is saved, nobody is asked about it, and its button must not be there to be pressed again.
 */
export function useLeave(): [saved: boolean, leave: (to: string) => void] {
  const navigate = useNavigate()
  const [saved, setSaved] = useState(false)
  const leave = (to: string) => {
    setSaved(true)
    // After the guard has seen that there is nothing left to lose.
    setTimeout(() => void navigate({ to }))
  }
  return [saved, leave]
}
