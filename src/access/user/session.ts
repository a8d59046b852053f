import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { type Permission, permissionsOf, type Role } from '../../platform/permission.ts'
import { unauthenticated } from '../../platform/refusal.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'

/** A user as stored, with what they may do and see. */
export type UserRow = {
  userID: number
  username: string
  role: Role | null
  permissions: Permission[] | null
  productIDs: number[] | null
}

export const userFields: Fragment = sql`
  u.user_id as "userID", u.username, u.role, u.permissions,
  case when not u.all_products then array(
    select p.product_id from app_user_product p where p.user_id = u.user_id) end as "productIDs"`

/**
 * The user that a session belongs to. While the session lacks a demanded second factor, its actor
 * has no permissions and can only enrol one.
 */
export async function readSessionActor(handle: Sql, sessionID: string): Promise<Actor> {
  const [row] = await handle.query<UserRow & { isHalf: boolean }>(sql`
    select ${userFields}, s.is_half as "isHalf"
    from session s join app_user u using (user_id)
    where s.session_id = ${sessionID} and s.revoked_date is null and u.is_active`)
  if (!row) throw sessionEnded()
  const actor = actorOf(row, sessionID)
  return row.isHalf ? { ...actor, permissions: new Set(), isHalf: true } : actor
}

export const sessionEnded = () =>
  unauthenticated('session_ended', 'The session has ended; sign in again.')

/** A user with their present rights, for work that runs on their behalf without a session. */
export async function readAbsent(handle: Sql, userID: number): Promise<Actor | undefined> {
  const [row] = await handle.query<UserRow>(sql`
    select ${userFields} from app_user u where u.user_id = ${userID} and u.is_active`)
  return row && actorOf(row, 'away')
}

const actorOf = (row: UserRow, sessionID: string): Actor => ({
  userID: row.userID,
  username: row.username,
  productIDs: row.productIDs,
  sessionID,
  permissions: new Set(permissionsOf(row)),
})

export const revokeSession = (tx: Tx, sessionID: string) =>
  tx.query(sql`update session set revoked_date = now()
    where session_id = ${sessionID} and revoked_date is null`)

/** Ends all sessions of a user, and with them every token that was already issued. */
export const revokeAllSessions = (tx: Tx, userID: number) =>
  tx.query(sql`update session set revoked_date = now()
    where user_id = ${userID} and revoked_date is null`)

/** Lifts the restriction of a half session once its user has enrolled a second factor. */
export const completeSession = (tx: Tx, sessionID: string) =>
  tx.query(sql`update session set is_half = false where session_id = ${sessionID}`)

/** Restricts all sessions of a user to enrolment, after a required second factor was removed. */
export const halveSessions = (tx: Tx, userID: number) =>
  tx.query(sql`update session set is_half = true
    where user_id = ${userID} and revoked_date is null`)
