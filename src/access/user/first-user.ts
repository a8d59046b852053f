import sql from 'sql-template-tag'
import type { Database } from '../../platform/sql/handle.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import { unitOfWork } from '../../platform/sql/unit-of-work.ts'
import { generatePassword, hashPassword } from '../password/hash.ts'
import { wrongName } from './schema.ts'

export type FirstUser = { username: string; password: string; generated: boolean }

/**
 * Creates the first administrator of an empty registry; there is no default password. Two nodes
 * that start at once take turns, and the second node finds the user that the first one made.
 *
 * The user is shown before the commit. If the start ends early, the transaction leaves no user
 * behind whose password nobody has seen, and the next start makes and shows another.
 */
export async function createFirstUser(
  database: Database,
  given: { username: string | undefined; password: string | undefined },
  show: (user: FirstUser) => void = () => {},
): Promise<void> {
  if (await hasUsers(database)) return
  const password = given.password ?? generatePassword()
  const user = { username: given.username ?? 'admin', password, generated: !given.password }
  await insertFirst(database, user, await hashPassword(password), show)
}

/**
 * What is wrong with the name of the first user; undefined when it is valid or users exist already.
 */
export async function wrongFirstName(database: Database, username = 'admin') {
  const words = wrongName(username)
  return words && !(await hasUsers(database)) ? words : undefined
}

const hasUsers = async (database: Database) =>
  (await database.query(sql`select 1 from app_user limit 1`)).length > 0

async function insertFirst(
  database: Database,
  user: FirstUser,
  hash: string,
  show: (user: FirstUser) => void,
) {
  let shown = false // the transaction may have to be tried again
  const door = {
    userID: null,
    username: null,
    operation: 'first start',
    resource: 'User',
    event: 'user.created' as const,
    requestID: 'start',
  }
  await unitOfWork(database, door, async (tx) => {
    await tx.query(sql`lock table app_user in exclusive mode`)
    const [row] = await tx.query<{ id: number }>(sql`
      insert into app_user (username, password_hash, role, all_products, is_active)
      select ${user.username}, ${hash}, 'Administrator', true, true
      where not exists (select 1 from app_user)
      returning user_id as id`)
    if (row && !shown) show(user)
    shown ||= row !== undefined
    return { ...nothingLeft, ids: row ? [row.id] : [], changes: { role: 'Administrator' } }
  })
}
