import sql from 'sql-template-tag'
import type { Actor } from '../actor.ts'
import { type Permission, type Role, roles } from '../http/permission.ts'
import { unauthenticated } from '../refusal.ts'
import type { Fragment, Sql } from '../sql/handle.ts'
import type { Tokens } from './token.ts'

/**
 * Who a token speaks for, as the database knows them now. The answer is kept for half a second, so
 * that a change of a user reaches every node within a second, and a busy caller costs two look-ups
 * a second rather than one per request.
 */
const keptFor = 500
const mostKept = 10_000

type Kept = { until: number; actor: Promise<Actor | undefined> }

export function sessionsOf(handle: Sql, tokens: Tokens) {
  const kept = new Map<string, Kept>()

  return async (authorization: string | undefined): Promise<Actor> => {
    const { sid } = tokens.claims(authorization)
    const actor = await (fresh(sid) ?? load(sid))
    if (!actor) throw unauthenticated('session_ended', 'The session has ended; sign in again.')
    return actor
  }

  function fresh(sid: string) {
    const found = kept.get(sid)
    return found && found.until > Date.now() ? found.actor : undefined
  }

  function load(sid: string) {
    if (kept.size >= mostKept) kept.clear()
    const actor = readActor(handle, sid)
    kept.set(sid, { until: Date.now() + keptFor, actor })
    // A failed look-up is not an answer: the next request asks again.
    actor.catch(() => kept.delete(sid))
    return actor
  }
}

type UserRow = {
  userID: number
  username: string
  role: Role | null
  permissions: Permission[] | null
  productIDs: number[] | null
}

const readActor = (handle: Sql, sessionID: string) =>
  readUser(
    handle,
    sessionID,
    sql`from session s join app_user u using (user_id)
      where s.session_id = ${sessionID} and s.revoked_date is null and u.is_active`,
  )

/** A user as they are now, for work that is done for them while they are away. */
export const readAbsent = (handle: Sql, userID: number) =>
  readUser(handle, 'away', sql`from app_user u where u.user_id = ${userID} and u.is_active`)

async function readUser(
  handle: Sql,
  sessionID: string,
  from: Fragment,
): Promise<Actor | undefined> {
  const [row] = await handle.query<UserRow>(sql`
    select u.user_id as "userID", u.username, u.role, u.permissions,
      case when not u.all_products then array(
        select p.product_id from app_user_product p where p.user_id = u.user_id) end as "productIDs"
    ${from}`)
  if (!row) return undefined
  const { userID, username, productIDs } = row
  return { userID, username, productIDs, sessionID, permissions: new Set(permissionsOf(row)) }
}

export const permissionsOf = (user: {
  role?: Role | null
  permissions?: readonly Permission[] | null
}): readonly Permission[] => (user.role ? roles[user.role] : (user.permissions ?? []))
