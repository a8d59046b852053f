export type Problem = { code: string; field?: string; message: string }

export type Envelope<T> = {
  result: boolean
  message: string | null
  recordCount: number
  data: T
  errors?: Problem[]
  totalCount?: number
  nextCursor?: string | null
}

/** What the service refused, with everything it said about it. */
export class ApiError extends Error {
  readonly status: number
  readonly problems: Problem[]
  readonly requestID: string | null

  constructor(status: number, message: string, problems: Problem[], requestID: string | null) {
    super(message)
    this.status = status
    this.problems = problems
    this.requestID = requestID
  }

  static of(answer: Response, envelope: Envelope<unknown> | undefined) {
    const { message = null, errors = [] } = envelope ?? {}
    const words = message || `The service answered ${answer.status} without a reason.`
    return new ApiError(answer.status, words, errors, answer.headers.get('x-request-id'))
  }
}

/** The connection did not hold: nothing is known about what became of the request. */
export const noConnection = () =>
  new ApiError(0, 'The service cannot be reached. Check the connection and try again.', [], null)
