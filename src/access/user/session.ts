import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { type Permission, type Role, roles } from '../../platform/permission.ts'
import { unauthenticated } from '../../platform/refusal.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import type { Tokens } from './token.ts'

/**
 * Who a token speaks for, as the database knows them now. The answer is kept for half a second, so
 * that a change of a user reaches every node within a second, and a busy caller costs two looks at
 * the token and at the database a second rather than one per request.
 */
const keptFor = 500
const mostKept = 10_000

/** By a clock that nobody sets: one that was put back would keep an answer for as long. */
type Kept = { until: number; actor: Actor | Promise<Actor> }

export function sessionsOf(handle: Sql, tokens: Tokens) {
  const kept = new Map<string | undefined, Kept>()

  return (authorization: string | undefined): Actor | Promise<Actor> => {
    const found = kept.get(authorization)
    return found && found.until > performance.now() ? found.actor : load(authorization)
  }

  function load(authorization: string | undefined) {
    const { sid, exp } = tokens.claims(authorization)
    if (kept.size >= mostKept) kept.clear()
    const actor = readActor(handle, sid)
    const entry: Kept = {
      until: performance.now() + Math.min(keptFor, exp * 1000 - Date.now()),
      actor,
    }
    kept.set(authorization, entry)
    actor.then(
      (known) => {
        entry.actor = known
      },
      // A failed look-up is not an answer: the next request asks again.
      () => kept.delete(authorization),
    )
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

async function readActor(handle: Sql, sessionID: string): Promise<Actor> {
  const actor = await readUser(
    handle,
    sessionID,
    sql`from session s join app_user u using (user_id)
      where s.session_id = ${sessionID} and s.revoked_date is null and u.is_active`,
  )
  if (!actor) throw unauthenticated('session_ended', 'The session has ended; sign in again.')
  return actor
}

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
  role?: Role | null | undefined
  permissions?: readonly Permission[] | null | undefined
}): readonly Permission[] => (user.role ? roles[user.role] : (user.permissions ?? []))
