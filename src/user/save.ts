import sql from 'sql-template-tag'
import type { Actor } from '../actor.ts'
import { changesBetween, masked } from '../http/mask.ts'
import { productReference } from '../product/schema.ts'
import { conflict, forbidden, invalid } from '../refusal.ts'
import type { Tx } from '../sql/handle.ts'
import { identifyAll } from '../sql/identify.ts'
import { nothingLeft, render } from '../sql/render.ts'
import type { Written } from '../sql/unit-of-work.ts'
import { hashPassword } from './password.ts'
import { type PasswordChange, User, UserInput, type UserUpdate } from './schema.ts'
import { permissionsOf } from './session.ts'
import { checkPassword, revokeAllSessions } from './sign-in.ts'
import { lockUser, selectUser, setProducts } from './sql.ts'

type Rights = Pick<UserInput, 'role' | 'permissions' | 'productIDs'>

export async function createUser(tx: Tx, actor: Actor, input: UserInput): Promise<Written> {
  await checkRights(tx, actor, input)
  const { username, password, role, permissions, productIDs, isActive = true } = input
  const [row] = await tx.query<{ id: number }>(sql`
    insert into app_user (username, password_hash, role, permissions, all_products, is_active)
    values (${username}, ${await hashPassword(password)}, ${role}, ${permissions}::text[],
      ${productIDs === undefined}, ${isActive})
    returning user_id as id`)
  const { id } = row!
  await setProducts(tx, id, productIDs ?? [])
  return { ...(await shownUser(tx, id)), ids: [id], changes: masked(UserInput, input) }
}

export async function updateUser(tx: Tx, actor: Actor, input: UserUpdate): Promise<Written> {
  // Turns for all who change users: two at once could each leave the other as the last.
  await tx.query(sql`lock table app_user in share row exclusive mode`)
  const { userID, username } = await lockUser(tx, actor, input)
  await checkRights(tx, actor, input)
  const before = await shownUser(tx, userID)
  const { role, permissions, productIDs, isActive, password } = input
  await tx.query(sql`
    update app_user set username = ${input.username ?? username}, role = ${role},
      permissions = ${permissions}::text[], all_products = ${productIDs === undefined},
      is_active = ${isActive}
    where user_id = ${userID}`)
  await setProducts(tx, userID, productIDs ?? [])
  if (password !== undefined) await setPassword(tx, userID, password)
  await refuseWithoutAdministrator(tx)
  const after = await shownUser(tx, userID)
  const changes = {
    ...changesBetween(User, before.json, after.json),
    ...(password !== undefined && { password: '***' }),
  }
  return { ...after, ids: [userID], changes }
}

const shownUser = (tx: Tx, userID: number) => render(tx, selectUser(sql`u.user_id = ${userID}`))

/** Nobody hands out more than they have. */
async function checkRights(tx: Tx, actor: Actor, rights: Rights) {
  if ((rights.role === undefined) === (rights.permissions === undefined))
    throw invalid('invalid_value', 'Give either a role or a list of permissions.', 'role')
  const beyond = permissionsOf(rights).filter((permission) => !actor.permissions.has(permission))
  if (beyond.length > 0)
    throw forbidden('beyond_own_rights', `You do not have ${beyond.join(', ')} yourself.`, 'role')
  const { productIDs } = rights
  if (actor.productIDs && productIDs === undefined)
    throw forbidden('beyond_own_rights', 'You do not have all products yourself.', 'productIDs')
  const own = actor.productIDs
  const visible = own ? sql`r.product_id = any(${own}::int[])` : sql`true`
  const named = (productIDs ?? []).map((productID) => ({ productID }))
  await identifyAll(tx, productReference, named, { visible, path: (i) => `productIDs[${i}]` })
}

/** Without one active user who may manage users, nobody could mend anything any more. */
async function refuseWithoutAdministrator(tx: Tx) {
  const [left] = await tx.query(sql`
    select from app_user
    where is_active and all_products
      and (role = 'Administrator' or 'User.Write' = any(permissions)) limit 1`)
  if (!left)
    throw conflict('last_administrator', 'This is the last active user who can manage users.')
}

async function setPassword(tx: Tx, userID: number, password: string) {
  await tx.query(sql`
    update app_user set password_hash = ${await hashPassword(password)} where user_id = ${userID}`)
  await revokeAllSessions(tx, userID)
}

/** One's own password with the current one; another's with the permission to manage users. */
export async function changePassword(
  tx: Tx,
  actor: Actor,
  nameKey: Buffer,
  change: PasswordChange,
): Promise<Written> {
  const named = change.userID !== undefined || change.username !== undefined
  const target = named ? await lockUser(tx, actor, change) : actor
  if (target.userID !== actor.userID) return resetPassword(tx, actor, target.userID, change)
  const { currentPassword } = change
  if (currentPassword === undefined)
    throw invalid('required', 'currentPassword is required.', 'currentPassword')
  return checkPassword(tx, nameKey, actor.username, currentPassword, () =>
    replacePassword(tx, actor.userID, change),
  )
}

export async function resetPassword(tx: Tx, actor: Actor, userID: number, change: PasswordChange) {
  if (!actor.permissions.has('User.Write'))
    throw forbidden('permission_missing', 'This needs the permission User.Write.')
  return replacePassword(tx, userID, change)
}

async function replacePassword(tx: Tx, userID: number, { newPassword }: PasswordChange) {
  await setPassword(tx, userID, newPassword)
  const message = 'The password is changed; sign in again with the new one.'
  return { ...nothingLeft, ids: [userID], message, changes: { password: '***' } }
}
