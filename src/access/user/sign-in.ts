import { randomUUID } from 'node:crypto'
import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { type Refusal, unauthenticated } from '../../platform/refusal.ts'
import type { Sql, Tx } from '../../platform/sql/handle.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { isPassword } from '../password/hash.ts'
import {
  countFailure,
  forgetFailures,
  refuseThrottled,
  type Tried,
  triedBy,
  waitForName,
} from '../password/throttle.ts'
import { hasSecondFactor, type Seal, spendCode } from '../second-factor/sql.ts'
import type { Login, Refresh } from './schema.ts'
import { revokeSession } from './session.ts'
import {
  accessTokenSeconds,
  newRefreshToken,
  refreshTokenDays,
  refreshTokenHash,
  type Tokens,
} from './token.ts'

type Account = { userID: number; username: string; passwordHash: string }

/** Where a password comes from. `nameKey` hashes the names whose failures are counted. */
export type Caller = { nameKey: Buffer; address: string; userAgent?: string | undefined }

/** What signing in needs beside the caller. */
export type Desk = { tokens: Tokens; factors: Seal; requireSecondFactor: boolean }

/** Signs a user in with the password, and with a code if the user has a second factor. */
export async function signIn(tx: Tx, desk: Desk, caller: Caller, login: Login): Promise<Written> {
  const attempt = await beginAttempt(tx, caller, login.username)
  const { account } = attempt
  if (!(await isPassword(account?.passwordHash, login.password)) || !account)
    return failPassword(tx, attempt)
  await refuseOldPassword(tx, account)
  const isFull = await hasSecondFactor(tx, account.userID)
  if (isFull && login.code === undefined) throw codeRequired()
  if (isFull && !(await spendCode(tx, desk.factors, account.userID, login.code!)))
    return failCode(tx, attempt)
  await forgetFailures(tx, attempt.tried)
  return startSession(tx, desk, { ...account, isHalf: desk.requireSecondFactor && !isFull }, caller)
}

const codeRequired = () =>
  unauthenticated('code_required', 'Send the code of your second factor too.', 'code')
const codeWrong = () =>
  unauthenticated('code_wrong', 'The code is wrong, or was used before.', 'code')

type Attempt = { tried: Tried; failures: number; account: Account | undefined }

/**
 * Begins an attempt: waits for its turn on this name and network, and refuses it after too many
 * failures.
 */
export async function beginAttempt(tx: Tx, caller: Caller, username: string): Promise<Attempt> {
  const tried = await triedAs(tx, caller, username)
  const failures = await refuseThrottled(tx, tried, 'failed sign-ins')
  return { tried, failures, account: await findAccount(tx, username) }
}

const wrongPassword = () =>
  unauthenticated('sign_in_failed', 'The username or the password is wrong.')

const fail =
  (isCode: boolean, refusal: () => Refusal) =>
  async (tx: Tx, { tried, failures, account }: Attempt): Promise<Written> => {
    const told = await countFailure(tx, tried, failures, { userID: account?.userID, isCode })
    return refusedSignIn(account, told, refusal())
  }
const failPassword = fail(false, wrongPassword)
/** Counts a wrong code. */
export const failCode = fail(true, codeWrong)

/** Checks a password and counts a wrong one as a failure. */
export async function checkPassword(
  tx: Tx,
  caller: Caller,
  username: string,
  password: string,
  whenRight: () => Promise<Written>,
): Promise<Written> {
  const attempt = await beginAttempt(tx, caller, username)
  const { account } = attempt
  if (!(await isPassword(account?.passwordHash, password)) || !account)
    return failPassword(tx, attempt)
  await refuseOldPassword(tx, account)
  await forgetFailures(tx, attempt.tried)
  return whenRight()
}

/** Delays a sign-in for a name that is tried from everywhere, before it takes its turn. */
export async function waitToSignIn(
  handle: Sql,
  caller: Caller,
  username: string,
  stopping: AbortSignal,
) {
  await waitForName(handle, await triedAs(handle, caller, username), stopping)
}

const triedAs = async (handle: Sql, { nameKey, address }: Caller, username: string) =>
  triedBy(nameKey, await folded(handle, username), address)

/**
 * The username in the letter case that accounts are found by. PostgreSQL folds it, because
 * JavaScript folds some letters differently (İ), and each spelling would then have ten failures of
 * its own.
 */
async function folded(handle: Sql, username: string): Promise<string> {
  const [row] = await handle.query<{ name: string }>(sql`select lower(${username}::text) as name`)
  return row!.name
}

async function findAccount(tx: Tx, username: string): Promise<Account | undefined> {
  const [account] = await tx.query<Account>(sql`
    select user_id as "userID", username, password_hash as "passwordHash"
    from app_user where lower(username) = lower(${username}) and is_active`)
  return account
}

/**
 * Refuses the sign-in if the password was replaced or the user deactivated while the hash was being
 * verified, which takes a while. Both changes end all sessions: the row lock makes a later change
 * wait for this sign-in, so that it ends the new session too. The attempt is not counted as a
 * failure, since the password was right when it was sent.
 */
async function refuseOldPassword(tx: Tx, { userID, passwordHash }: Account) {
  const still = await tx.query(sql`
    select 1 from app_user where user_id = ${userID} and password_hash = ${passwordHash}
      and is_active for no key update`)
  if (still.length === 0) throw wrongPassword()
}

/**
 * The failure stays counted and audited. The audit record names the user only if the user exists.
 */
const refusedSignIn = (account: Account | undefined, told: number, refusal: Refusal): Written => ({
  ...nothingLeft,
  ids: account ? [account.userID] : [],
  changes: { signIn: 'failed', ...(told > 1 && { times: told }) },
  ...(account && { by: account }),
  ...(told === 0 && { isToldLater: true }),
  refusal,
})

type Signed = { userID: number; username: string; isHalf: boolean }

async function startSession(
  tx: Tx,
  { tokens }: Desk,
  user: Signed,
  { address, userAgent }: Caller,
): Promise<Written> {
  const sid = randomUUID()
  const { userID, isHalf } = user
  await tx.query(sql`
    with started as (
      insert into session (session_id, user_id, address, user_agent, last_used_date, is_half)
      values (${sid}, ${userID}, ${address}, left(${userAgent}, 300), now(), ${isHalf}))
    update app_user set last_login_date = now() where user_id = ${userID}`)
  return issueTokens(tx, tokens, user, sid)
}

async function issueTokens(
  tx: Tx,
  tokens: Tokens,
  { userID, username, isHalf }: Signed,
  sid: string,
): Promise<Written> {
  const refreshToken = newRefreshToken()
  await tx.query(sql`
    insert into refresh_token (token_hash, session_id, expires_date)
    values (${refreshTokenHash(refreshToken)}, ${sid},
      now() + ${refreshTokenDays} * interval '1 day')`)
  const data = {
    accessToken: tokens.issue({ sub: String(userID), sid }),
    refreshToken,
    expiresIn: accessTokenSeconds,
    tokenType: 'Bearer',
    ...(isHalf && { secondFactorRequired: true }),
  }
  return { json: JSON.stringify(data), recordCount: 1, ids: [userID], by: { userID, username } }
}

type KnownToken = {
  userID: number
  username: string
  sid: string
  used: boolean
  ended: boolean
  /** The session is half (it has not shown a second factor), or its user has no confirmed one. */
  lacksFactor: boolean
}

/** Whether a refresh token was used more than `secondsAgo` seconds ago. */
export async function wasUsed(handle: Sql, refreshToken: string, secondsAgo: number) {
  const rows = await handle.query(sql`
    select 1 from refresh_token where token_hash = ${refreshTokenHash(refreshToken)}
      and used_date < now() - make_interval(secs => ${secondsAgo})`)
  return rows.length > 0
}

/**
 * Trades a refresh token for new tokens. A token works once: a second use means that it was stolen
 * or copied, and ends the whole session.
 */
export async function refresh(
  tx: Tx,
  { tokens, requireSecondFactor }: Desk,
  caller: Caller,
  { refreshToken }: Refresh,
  authorization: string | undefined,
): Promise<Written> {
  const hash = refreshTokenHash(refreshToken)
  const [token] = await tx.query<KnownToken>(sql`
    select u.user_id as "userID", u.username, s.session_id as sid, t.used_date is not null as used,
      (s.revoked_date is not null or t.expires_date < now() or not u.is_active) as ended,
      (s.is_half or not exists (select 1 from second_factor f
        where f.user_id = u.user_id and f.confirmed_date is not null)) as "lacksFactor"
    from refresh_token t join session s using (session_id) join app_user u using (user_id)
    where t.token_hash = ${hash}
    for update of t, s`)
  if (!token || token.ended) throw refreshRefused()
  if (authorization && tokens.oldClaims(authorization).sub !== String(token.userID))
    throw refreshRefused()
  if (token.used) return endedSession(tx, token)
  // A second factor that was confirmed in another session was shown there, not in this one.
  const isHalf = requireSecondFactor && token.lacksFactor
  await tx.query(sql`
    with used as (update refresh_token set used_date = now() where token_hash = ${hash})
    update session set last_used_date = now(), address = ${caller.address},
      user_agent = left(${caller.userAgent}, 300), is_half = ${isHalf}
    where session_id = ${token.sid}`)
  return issueTokens(tx, tokens, { ...token, isHalf }, token.sid)
}

async function endedSession(tx: Tx, { userID, username, sid }: KnownToken): Promise<Written> {
  await revokeSession(tx, sid)
  const changes = { session: 'ended: a refresh token was used twice' }
  const by = { userID, username }
  return { ...nothingLeft, ids: [userID], changes, by, refusal: refreshRefused() }
}

const refreshRefused = (): Refusal =>
  unauthenticated('refresh_refused', 'The refresh token is not valid any more; sign in again.')

export async function signOut(tx: Tx, { sessionID, userID }: Actor): Promise<Written> {
  await revokeSession(tx, sessionID)
  return { ...nothingLeft, ids: [userID], message: 'Signed out.' }
}
