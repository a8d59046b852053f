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
  triedBy,
  waitForName,
} from '../password/throttle.ts'
import type { Login, Refresh } from './schema.ts'
import {
  accessTokenSeconds,
  newRefreshToken,
  refreshTokenDays,
  refreshTokenHash,
  type Tokens,
} from './token.ts'

type Account = { userID: number; username: string; passwordHash: string }

/** Where a password comes from; the key is that of the names whose failures are counted. */
export type Caller = { nameKey: Buffer; address: string }

/** Signs a user in. */
export async function signIn(tx: Tx, tokens: Tokens, caller: Caller, login: Login) {
  const { username, password } = login
  return checkPassword(tx, caller, username, password, (account) =>
    startSession(tx, tokens, account),
  )
}

/** Checks a password, and counts it when it is wrong. */
export async function checkPassword(
  tx: Tx,
  caller: Caller,
  username: string,
  password: string,
  whenRight: (account: Account) => Promise<Written>,
): Promise<Written> {
  const tried = await triedAs(tx, caller, username)
  const failures = await refuseThrottled(tx, tried, 'failed sign-ins')
  const account = await findAccount(tx, username)
  if (await isPassword(account?.passwordHash, password)) {
    await forgetFailures(tx, tried)
    return whenRight(account!)
  }
  return refusedSignIn(account, await countFailure(tx, tried, failures, account?.userID))
}

/** Before a try takes its turn: the wait of a name that is tried from everywhere. */
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
 * The username in the letter case that accounts are found by. JavaScript folds some letters in
 * another way than PostgreSQL (İ), and each spelling would have ten failures of its own.
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

/** The failure stays counted and audited; whose it was is told only where there is such a user. */
const refusedSignIn = (account: Account | undefined, told: number): Written => ({
  ...nothingLeft,
  ids: account ? [account.userID] : [],
  changes: { signIn: 'failed', ...(told > 1 && { times: told }) },
  ...(account && { by: account }),
  ...(told === 0 && { isToldLater: true }),
  refusal: unauthenticated('sign_in_failed', 'The username or the password is wrong.'),
})

async function startSession(tx: Tx, tokens: Tokens, account: Account): Promise<Written> {
  const sid = randomUUID()
  await tx.query(sql`
    with started as (
      insert into session (session_id, user_id) values (${sid}, ${account.userID}))
    update app_user set last_login_date = now() where user_id = ${account.userID}`)
  return issueTokens(tx, tokens, account, sid)
}

async function issueTokens(
  tx: Tx,
  tokens: Tokens,
  { userID, username }: { userID: number; username: string },
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
  }
  return { json: JSON.stringify(data), recordCount: 1, ids: [userID], by: { userID, username } }
}

type KnownToken = {
  userID: number
  username: string
  sid: string
  used: boolean
  ended: boolean
}

/** A refresh token works once. Used again, it was stolen or copied: its whole session ends. */
export async function refresh(
  tx: Tx,
  tokens: Tokens,
  { refreshToken }: Refresh,
  authorization: string | undefined,
): Promise<Written> {
  const hash = refreshTokenHash(refreshToken)
  const [token] = await tx.query<KnownToken>(sql`
    select u.user_id as "userID", u.username, s.session_id as sid, t.used_date is not null as used,
      (s.revoked_date is not null or t.expires_date < now() or not u.is_active) as ended
    from refresh_token t join session s using (session_id) join app_user u using (user_id)
    where t.token_hash = ${hash}
    for update of t, s`)
  if (!token || token.ended) throw refreshRefused()
  if (authorization && tokens.oldClaims(authorization).sub !== String(token.userID))
    throw refreshRefused()
  if (token.used) return endedSession(tx, token)
  await tx.query(sql`update refresh_token set used_date = now() where token_hash = ${hash}`)
  return issueTokens(tx, tokens, token, token.sid)
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

const revokeSession = (tx: Tx, sessionID: string) =>
  tx.query(sql`update session set revoked_date = now()
    where session_id = ${sessionID} and revoked_date is null`)

/** Every token of a user ends, those already out included. */
export const revokeAllSessions = (tx: Tx, userID: number) =>
  tx.query(sql`update session set revoked_date = now()
    where user_id = ${userID} and revoked_date is null`)
