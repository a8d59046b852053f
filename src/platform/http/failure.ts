import type { FastifyError } from 'fastify'
import { constraints } from '../constraints.ts'
import { conflict, type Problem, Refusal, tryLater } from '../refusal.ts'
import { itemAtFault } from './item-at-fault.ts'

/**
 * Turns any error into a refusal. `undefined` means an internal fault: it is logged in full, and
 * the caller learns nothing of it.
 */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  const { code = '' } = error as { code?: string }
  return ofConstraint(error) ?? ofDatabase(code) ?? ofFramework(error as FastifyError)
}

/**
 * Turns a broken constraint into a refusal; where `body` is a list, the item at fault is found in
 * it.
 */
export function ofConstraint(error: unknown, body?: unknown): Refusal | undefined {
  const { constraint = '', detail } = error as { constraint?: string; detail?: string }
  const known = constraints[constraint]
  if (!known) return undefined
  const { status, ...problem } = known
  const field = itemAtFault(problem, detail, body) ?? problem.field
  return new Refusal(status, [{ ...problem, ...(field !== undefined && { field }) }])
}

/**
 * Errors that pass by themselves: a timeout of a lock or an SQL statement, or a server out of room.
 */
function ofDatabase(code: string): Refusal | undefined {
  if (code === '57014' || code === '55P03' || code === '40001' || code === '40P01')
    return tryLater(503, 'busy', 'The database is busy with this record; try again shortly.', 1)
  if (code.startsWith('53'))
    return tryLater(
      503,
      'no_room',
      'The database is out of room or connections; try again later.',
      5,
    )
  const message = unnamedConflicts[code]
  return message === undefined ? undefined : conflict('conflict', message)
}

// Messages for constraints that are not listed in constraints.ts.
const unnamedConflicts: Record<string, string> = {
  23503: 'Refused: another record refers to this one, or one that this refers to is gone.',
  23505: 'Refused: there is such a record already.',
}

function ofFramework({ statusCode, code }: FastifyError): Refusal | undefined {
  if (!statusCode || statusCode >= 500) return undefined
  return new Refusal(statusCode, [frameworkProblems[code] ?? notUnderstood])
}

/** A library's own message is not passed on: it tells of our internals, or nothing useful. */
const notUnderstood: Problem = {
  code: 'bad_request',
  message: 'The service cannot read the request.',
}

const frameworkProblems: Record<string, Problem> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'body_too_large', message: 'The request body is too large.' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'not_json',
    message: 'The body must be JSON: send the header Content-Type: application/json.',
  },
  FST_ERR_BAD_URL: { code: 'bad_url', message: 'The path is not a valid URL.' },
}

/** The envelope of every failure. */
export function failureBody(message: string, problems: Problem[]): string {
  return JSON.stringify({
    result: false,
    message,
    recordCount: 0,
    data: null,
    errors: problems,
  })
}

export const internalFailure = () =>
  failureBody('Something went wrong on our side. The request id tells us what.', [
    { code: 'internal', message: 'Something went wrong on our side.' },
  ])
