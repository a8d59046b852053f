/** One thing that is wrong with a request: a stable code, the field, and words for people. */
export type Problem = { code: string; field?: string; message: string }

/** The registry refused: look at `problems`, or ask `has('insufficient_holding')`. */
export class RegistryError extends Error {
  readonly status: number
  readonly problems: readonly Problem[]
  readonly requestID: string | null

  constructor(
    status: number,
    message: string,
    problems: readonly Problem[],
    requestID: string | null,
  ) {
    super(message)
    this.name = 'RegistryError'
    this.status = status
    this.problems = problems
    this.requestID = requestID
  }

  /** Whether any problem has this code. */
  has(code: string): boolean {
    return this.problems.some((problem) => problem.code === code)
  }
}
