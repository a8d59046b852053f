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

/** Who a session speaks for. One that still lacks its second factor may do nothing but enrol. */
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

/** A user as they are now, for work that is done for them while they are away. */
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

/** Every token of a user ends, those already out included. */
export const revokeAllSessions = (tx: Tx, userID: number) =>
  tx.query(sql`update session set revoked_date = now()
    where user_id = ${userID} and revoked_date is null`)

/** A session that was to enrol a second factor first has done so. */
export const completeSession = (tx: Tx, sessionID: string) =>
  tx.query(sql`update session set is_half = false where session_id = ${sessionID}`)

/** Who must have a second factor and has none left may only enrol one, wherever they are. */
export const halveSessions = (tx: Tx, userID: number) =>
  tx.query(sql`update session set is_half = true
    where user_id = ${userID} and revoked_date is null`)
