import { Refusal, tryLater } from '../refusal.ts'

/** What an error of the database means: that it is away, or a constraint, or a plan gone stale. */
export const codeOf = (error: unknown) => (error as { code?: string }).code ?? ''

/** Somebody else holds what was to be locked, for longer than was to be waited. */
export const isLocked = (error: unknown) => codeOf(error) === '55P03'

/**
 * A server may speak any language (lc_messages): what its code does not tell, the name of the
 * routine does that says it. Of a worker's words Citus passes on no such names.
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

/** A warning that what is committed here has not reached the standby that must have it. */
export const isUnreplicated = ({ routine, message = '' }: Said) =>
  routine === 'SyncRepWaitForLSN' ||
  /canceling( the)? wait for synchronous replication/.test(message)

/**
 * What the row refers to went after it was found: tried again, it is told as unknown. The other
 * error of this code, of what is still referred to, names the table that does in its detail.
 */
export const isOfWhatWent = (error: unknown) => {
  const { detail = '', table } = error as Said
  const isOther = table === undefined || detail.split(/\W+/).includes(table)
  return codeOf(error) === '23503' && (!isOther || / is not present in table /.test(detail))
}

// Classes 08, 57P0x and 25P0[34] (too long in one transaction) are PostgreSQL's words for it; the
// others are the socket's.
export const isLostConnection = (error: unknown) =>
  /^(08|57P0|25P0[34])/.test(codeOf(error)) ||
  isLostWorker(error) ||
  /^E(CONN|PIPE|TIMEDOUT|NOENT|HOSTUNREACH|AI_AGAIN)/.test(codeOf(error)) ||
  /Connection terminated|Client has encountered a connection error|Query read timeout/.test(
    (error as Error).message,
  )

/** What Citus has no code for. */
const internal = 'XX000'

/**
 * Nor has Citus one of its own for a worker that died while it was asked, or was sent rows. It says
 * so in its words, or passes on those of the connection, or the last ones of the worker.
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

/** The server has no connection left for us, or for our login or database. */
export const isFull = (error: unknown) => codeOf(error) === '53300'

const gone = 'database_unavailable'
const unknown = 'outcome_unknown'
const full = 'no_room'

/** Not the request is at fault but the database is out of reach, or was at the last moment. */
export const isAway = (error: unknown) =>
  error instanceof Refusal && [gone, unknown, full].includes(error.problems[0]?.code ?? '')

export const unreachable = (cause: unknown) =>
  Object.assign(tryLater(503, gone, 'The database does not answer; try again shortly.', 1), {
    cause,
  })
/** A standby, or one that is set so: reads go on. */
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
 * Citus adds the number of a shard to the name, and of a worker's refusal passes on the words; not
 * even the code where it copies to the worker what an insert selects.
 */
export function nameConstraint(error: unknown): never {
  const broken = error as { code?: string; constraint?: string; message: string }
  const [, kind = '', said] = / violates (.+) constraint "(\w+)"/.exec(broken.message) ?? []
  if (broken.code === internal) broken.code = brokenKinds[kind] ?? internal
  const name = broken.constraint ?? said
  if (name && codeOf(error).startsWith('23')) broken.constraint = name.replace(/_\d{6,}$/, '')
  throw error
}
