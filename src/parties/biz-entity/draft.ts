import type { BizEntityUpdate } from './schema.ts'

/** An entity as a request brings it: with its id, which a new one is given before it is written. */
export type Draft = {
  id: number
  isNew: boolean
  input: BizEntityUpdate
  /** Where it stands in the request: [3], or nothing where it is the whole body. */
  path: string
}
