import type { BizEntityUpdate } from './schema.ts'

/** An entity of a request, with its id. A new entity gets its id before it is written. */
export type Draft = {
  id: number
  isNew: boolean
  input: BizEntityUpdate
  /** The entity's place in the request: [3], or empty if it is the whole body. */
  path: string
}
