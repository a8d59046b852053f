import { createContext } from 'react'

/** Told by what saves a form to what would ask before it is left: nothing of it can be lost now. */
export const Saved = createContext(() => {})

/** Told by what is shown this once, to what would ask before it goes: it cannot be had again. */
export const ShownOnce = createContext((_isShown: boolean) => {})
