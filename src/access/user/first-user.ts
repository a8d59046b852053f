import sql from 'sql-template-tag'
import type { Database } from '../../platform/sql/handle.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import { unitOfWork } from '../../platform/sql/unit-of-work.ts'
import { generatePassword, hashPassword } from '../password/hash.ts'

export type FirstUser = { username: string; password: string; generated: boolean }

/**
 * An empty registry gets its first administrator; there is no default password. Two nodes that
 * start at once take turns, and the second finds the first's.
 */
export async function createFirstUser(
  database: Database,
  given: { username: string | undefined; password: string | undefined },
): Promise<FirstUser | undefined> {
  const [known] = await database.query(sql`select from app_user limit 1`)
  if (known) return undefined
  const password = given.password ?? generatePassword()
  const username = given.username ?? 'admin'
  const id = await insertFirst(database, username, await hashPassword(password))
  return id === undefined
    ? undefined
    : { username, password, generated: given.password === undefined }
}

async function insertFirst(database: Database, username: string, hash: string) {
  let created: number | undefined
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
      select ${username}, ${hash}, 'Administrator', true, true
      where not exists (select from app_user)
      returning user_id as id`)
    created = row?.id
    return { ...nothingLeft, ids: row ? [row.id] : [], changes: { role: 'Administrator' } }
  })
  return created
}
