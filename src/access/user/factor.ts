import type { Actor } from '../../platform/actor.ts'
import { invalid, notFound } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { forgetCodes } from '../password/throttle.ts'
import type { Confirmation, FactorRemoval } from '../second-factor/schema.ts'
import { confirm, enrol, removeFactor, type Seal, spendCode } from '../second-factor/sql.ts'
import { otpauthUrl } from '../second-factor/totp.ts'
import { completeSession, halveSessions } from './session.ts'
import { manageable } from './sessions.ts'
import { beginAttempt, type Caller, type Desk, failCode } from './sign-in.ts'

/**
 * Begins the enrolment of the caller's own second factor; the factor counts after a first code
 * confirms it.
 */
export async function enrolFactor(tx: Tx, actor: Actor, factors: Seal): Promise<Written> {
  const secret = await enrol(tx, factors, actor.userID)
  const data = { secret, otpauthUrl: otpauthUrl(actor.username, secret) }
  return written(actor.userID, 'enrolment begun', data)
}

export async function confirmFactor(
  tx: Tx,
  actor: Actor,
  factors: Seal,
  caller: Caller,
  { code }: Confirmation,
): Promise<Written> {
  const attempt = await beginAttempt(tx, caller, actor.username)
  const recoveryCodes = await confirm(tx, factors, actor.userID, code)
  if (!recoveryCodes) return failCode(tx, attempt)
  await forgetCodes(tx, attempt.tried)
  await completeSession(tx, actor.sessionID)
  return written(actor.userID, 'added', { recoveryCodes })
}

/** Removes a second factor: the caller's own takes a code, another user's takes User.Write. */
export async function deleteFactor(
  tx: Tx,
  actor: Actor,
  { factors, requireSecondFactor }: Pick<Desk, 'factors' | 'requireSecondFactor'>,
  caller: Caller,
  { Code, UserID }: FactorRemoval,
): Promise<Written> {
  const isOwn = !UserID || UserID === actor.userID
  if (!isOwn) {
    const { userID } = await manageable(tx, actor, UserID)
    return removed(tx, userID, requireSecondFactor)
  }
  if (Code === undefined) throw invalid('required', 'Code is required for your own.', 'Code')
  const attempt = await beginAttempt(tx, caller, actor.username)
  if (!(await spendCode(tx, factors, actor.userID, Code))) return failCode(tx, attempt)
  await forgetCodes(tx, attempt.tried)
  return removed(tx, actor.userID, requireSecondFactor)
}

export async function removed(tx: Tx, userID: number, isRequired: boolean): Promise<Written> {
  if (!(await removeFactor(tx, userID)))
    throw notFound('not_found', 'This user has no second factor.')
  if (isRequired) await halveSessions(tx, userID)
  return written(userID, 'removed')
}

const written = (userID: number, secondFactor: string, data?: object): Written => ({
  ...(data ? { json: JSON.stringify(data), recordCount: 1 } : nothingLeft),
  ids: [userID],
  changes: { secondFactor },
})
