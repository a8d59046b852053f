import { type Problem, RegistryError } from '../../../client/src/errors.ts'

export type { Problem }
/** A refusal of the service with all its details. */
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

/** The error for a broken connection; whether the request was carried out is unknown. */
export const noConnection = () =>
  new RegistryError(
    0,
    'The service cannot be reached. Check the connection and try again.',
    [],
    null,
  )
