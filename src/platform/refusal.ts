import type { Code, CodeOf } from './problem-codes.ts'

/** One thing wrong with a request: a stable code, the field, and a message to act on. */
export type Problem = { code: Code; field?: string; message: string }

/** A refused request. Thrown anywhere below a route, it becomes the failure envelope. */
export class Refusal extends Error {
  readonly status: number
  readonly problems: Problem[]
  readonly headers: Record<string, string>

  constructor(status: number, problems: Problem[], headers: Record<string, string> = {}) {
    super(problems.map(({ message }) => message).join(' '))
    this.status = status
    this.problems = problems
    this.headers = headers
  }
}

const refusal =
  <Status extends keyof CodeOf>(status: Status) =>
  (code: CodeOf[Status], message: string, field?: string): Refusal =>
    new Refusal(status, [field === undefined ? { code, message } : { code, field, message }])

export const invalid = refusal(400)
export const unauthenticated = refusal(401)
export const forbidden = refusal(403)
export const notFound = refusal(404)
export const conflict = refusal(409)

/** The same message for every operation. */
export const permissionMissing = (permission: string) =>
  forbidden('permission_missing', `This needs the permission ${permission}.`)
/** For a second permission, beside the one that admits the caller to the operation. */
export const permissionMissingToo = (permission: string) =>
  forbidden('permission_missing', `This needs the permission ${permission}, too.`)

/** Throws a refusal with all the problems, unless there are none. */
export function refuseAll(status: number, problems: Problem[]): void {
  if (problems.length > 0) throw new Refusal(status, problems)
}

/**
 * For a condition that passes by itself: the caller may send the same request again after a moment.
 */
export const tryLater = <Status extends 429 | 503>(
  status: Status,
  code: CodeOf[Status],
  message: string,
  seconds: number,
) => new Refusal(status, [{ code, message }], { 'Retry-After': String(Math.max(1, seconds)) })
