import { Refusal, tryLater } from '../refusal.ts'

/**
 * The SQLSTATE of a database error, or an empty text. This file tells what such errors mean: the
 * database is away, a constraint is broken, a plan went stale.
 */
export const codeOf = (error: unknown) => (error as { code?: string }).code ?? ''

/** Another transaction holds the lock for longer than we wait (lock_timeout). */
export const isLocked = (error: unknown) => codeOf(error) === '55P03'

/**
 * The parts of an error that identify it. Messages come in the server's language (lc_messages), so
 * beyond the code the name of the reporting routine decides. For errors of its workers Citus passes
 * on no routine, so their English message is matched.
 */
type Said = {
  message?: string | undefined
  detail?: string | undefined
  routine?: string | undefined
  table?: string | undefined
}

export const isStalePlan = (error: unknown) => {
  const { routine, message = '' } = error as Said
  return (
    codeOf(error) === '0A000' &&
    (routine === 'RevalidateCachedQuery' || /cached plan/.test(message))
  )
}

/** The warning that a commit has not reached the synchronous standby. */
export const isUnreplicated = ({ routine, message = '' }: Said) =>
  routine === 'SyncRepWaitForLSN' ||
  /canceling( the)? wait for synchronous replication/.test(message)

/**
 * A foreign key violation because the referenced row was deleted after it had been found. A retry
 * then reports the record as unknown. The other error with this code, deleting a row that is still
 * referenced, names the referring table in its detail.
 */
export const isOfWhatWent = (error: unknown) => {
  const { detail = '', table } = error as Said
  const isOther = table === undefined || detail.split(/\W+/).includes(table)
  return codeOf(error) === '23503' && (!isOther || / is not present in table /.test(detail))
}

// Classes 08, 57P0x and 25P0[34] (idle or too long in one transaction) are PostgreSQL's codes for a
// lost connection; the E… codes are the socket's.
export const isLostConnection = (error: unknown) =>
  /^(08|57P0|25P0[34])/.test(codeOf(error)) ||
  isLostWorker(error) ||
  /^E(CONN|PIPE|TIMEDOUT|NOENT|HOSTUNREACH|AI_AGAIN)/.test(codeOf(error)) ||
  /Connection terminated|Client has encountered a connection error|Query read timeout/.test(
    (error as Error).message,
  )

/** The code of Citus errors that have no code of their own. */
const internal = 'XX000'

/**
 * Citus has no code for a worker that died during a query or a COPY. It says so in its own message,
 * or passes on the message of the connection or the worker's last one.
 */
const isLostWorker = (error: unknown) => {
  const { message = '' } = error as Said
  if (codeOf(error) === '58030') return /^failed to (complete )?COPY /.test(message)
  return codeOf(error) === internal && lostWorker.test(message)
}
const lostWorker = new RegExp(
  [
    'failure on connection marked as',
    'server closed the connection',
    'could not (send|receive) data',
    '^SSL ',
    '^terminating connection ',
  ].join('|'),
)

export const readOnly = '25006'

/** The server has no connection left, in total or for our login or database. */
export const isFull = (error: unknown) => codeOf(error) === '53300'

const gone = 'database_unavailable'
const unknown = 'outcome_unknown'
const full = 'no_room'

/**
 * The request is not at fault: the database is unreachable, or the connection broke during the
 * commit.
 */
export const isAway = (error: unknown) =>
  error instanceof Refusal && [gone, unknown, full].includes(error.problems[0]?.code ?? '')

export const unreachable = (cause: unknown) =>
  Object.assign(tryLater(503, gone, 'The database does not answer; try again shortly.', 1), {
    cause,
  })
/** The server is a standby or set to read only; reads still work. */
export const takesNoWrites = (cause: unknown) =>
  Object.assign(
    tryLater(503, gone, 'The database is read only at the moment; try again shortly.', 5),
    { cause },
  )
export const noConnectionLeft = (cause: unknown) =>
  Object.assign(tryLater(503, full, 'The database has no connection left; try again shortly.', 1), {
    cause,
  })
export const outcomeUnknown = (cause: unknown) =>
  Object.assign(
    tryLater(
      503,
      unknown,
      'The connection to the database was lost at the last moment, and the request may have been ' +
        'done. Send it again with the same Idempotency-Key, or look before you repeat it.',
      1,
    ),
    { cause },
  )
export const refuseUnreachable = (error: unknown): never => {
  throw unreachable(error)
}

const brokenKinds: Record<string, string> = {
  unique: '23505',
  'foreign key': '23503',
  check: '23514',
  exclusion: '23P01',
}

/**
 * Restores the name of a broken constraint. Citus appends the shard's number to the name, and for a
 * worker's refusal passes on only the message; where it copies the rows of an insert … select to
 * the worker, it even loses the code.
 */
export function nameConstraint(error: unknown): never {
  const broken = error as { code?: string; constraint?: string; message: string }
  const [, kind = '', said] = / violates (.+) constraint "(\w+)"/.exec(broken.message) ?? []
  if (broken.code === internal) broken.code = brokenKinds[kind] ?? internal
  const name = broken.constraint ?? said
  if (name && codeOf(error).startsWith('23')) broken.constraint = name.replace(/_\d{6,}$/, '')
  throw error
}
