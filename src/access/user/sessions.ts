import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { invalid, notFound } from '../../platform/refusal.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns, nothingLeft, renderOne } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { refuseBeyond, requireUserWrite } from './rights.ts'
import { Me, Session, type SessionEnd, type SessionQuery } from './schema.ts'
import { revokeAllSessions, revokeSession } from './session.ts'
import { lockUser, visible } from './sql.ts'

const sessionColumns = columns(Session, 's', {
  sessionID: 's.session_number',
  userID: 'u.user_id',
  username: 'u.username',
  isCurrent: 'c.is_current',
})

/**
 * Lists live sessions: the caller's own, and with User.Read those of every user the caller may see.
 */
export function readSessions(handle: Sql, actor: Actor, query: SessionQuery) {
  const own = sql`u.user_id = ${actor.userID}`
  const mine: Fragment = actor.permissions.has('User.Read')
    ? sql`(${own} or ${visible(actor)})`
    : own
  const asked = query.UserID ? sql`u.user_id = ${query.UserID}` : sql`true`
  const living = sql`s.revoked_date is null and u.is_active and exists (
    select 1 from refresh_token t
    where t.session_id = s.session_id and t.used_date is null and t.expires_date > now())`
  return renderPage(handle, query, {
    key: ['sessionID'],
    rows: (wanted) => sql`
      select ${sessionColumns}
      from session s join app_user u using (user_id)
        cross join lateral (select s.session_id::text = ${actor.sessionID} as is_current) c
      where ${asked} and ${mine} and ${living}
        ${page(wanted, 'session s', 's.session_number')}`,
  })
}

/** Ends one session or all sessions of a user; other users' sessions take User.Write. */
export async function endSessions(tx: Tx, actor: Actor, end: SessionEnd): Promise<Written> {
  const { SessionID, UserID, All } = end
  if (SessionID !== undefined) return endOne(tx, actor, SessionID)
  if (!UserID && !All)
    throw invalid('required', 'Give SessionID, UserID, or All=true for your own.', 'SessionID')
  const userID = UserID ?? actor.userID
  if (userID !== actor.userID) await manageable(tx, actor, userID)
  await revokeAllSessions(tx, userID)
  return ended(userID, 'All sessions have ended.')
}

async function endOne(tx: Tx, actor: Actor, number: number): Promise<Written> {
  const [found] = await tx.query<{ userID: number; sessionID: string }>(sql`
    select s.user_id as "userID", s.session_id as "sessionID"
    from session s join app_user u using (user_id)
    where s.session_number = ${number} and s.revoked_date is null
      and (u.user_id = ${actor.userID} or ${visible(actor)})`)
  if (found?.userID !== actor.userID) requireUserWrite(actor)
  if (!found) throw notFound('not_found', `No session ${number} was found.`, 'SessionID')
  if (found.userID !== actor.userID) await manageable(tx, actor, found.userID)
  await revokeSession(tx, found.sessionID)
  return ended(found.userID, 'The session has ended.')
}

/** Locks and returns a user; refuses callers who may not manage this user. */
export async function manageable(tx: Tx, actor: Actor, userID: number) {
  requireUserWrite(actor)
  const user = await lockUser(tx, actor, { userID })
  refuseBeyond(actor, user)
  return user
}

const ended = (userID: number, message: string): Written => ({
  ...nothingLeft,
  ids: [userID],
  message,
  changes: { sessions: 'ended' },
})

const meColumns = columns(Me, 'u', {
  hasSecondFactor: 'm.has_second_factor',
  secondFactorRequired: 'm.second_factor_required',
  apiKeyID: 'm.api_key_id',
})

/** The caller with the rights that this very request has. */
export async function readMe(handle: Sql, actor: Actor) {
  const answer = await renderOne(
    handle,
    sql`
      select ${meColumns}, to_json(${[...actor.permissions].sort()}::text[]) as permissions,
        to_json(${actor.productIDs}::int[]) as "productIDs"
      from app_user u cross join lateral (
        select ${actor.isHalf ?? false}::boolean as second_factor_required,
          ${actor.apiKeyID ?? null}::int as api_key_id,
          exists (select 1 from second_factor f where f.user_id = u.user_id
            and f.confirmed_date is not null) as has_second_factor) m
      where u.user_id = ${actor.userID}`,
  )
  if (!answer) throw notFound('not_found', 'The user no longer exists.')
  return answer
}
