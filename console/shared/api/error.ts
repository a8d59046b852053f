import { type Problem, RegistryError } from '../../../client/src/errors.ts'

export type { Problem }
/** What the service refused, with everything it said about it. */
export { RegistryError }

export type Envelope<T> = {
  result: boolean
  message: string | null
  recordCount: number
  data: T
  errors?: Problem[]
  totalCount?: number
  nextCursor?: string | null
}

/** The connection did not hold: nothing is known about what became of the request. */
export const noConnection = () =>
  new RegistryError(
    0,
    'The service cannot be reached. Check the connection and try again.',
    [],
    null,
  )
