import { createContext } from 'react'

/** Told by what saves a form to what would ask before it is left: nothing of it can be lost now. */
export const Saved = createContext(() => {})
