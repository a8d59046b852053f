import { createContext } from 'react'

/** Called when a form was saved, so that the drawer around it no longer asks before it closes. */
export const Saved = createContext(() => {})

/**
 * Called when a value is shown that cannot be read again, so that the drawer asks before it closes.
 */
export const ShownOnce = createContext((_isShown: boolean) => {})
