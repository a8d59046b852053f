import sql from 'sql-template-tag'
import { oneOfProducts } from '../../catalogue/product/schema.ts'
import type { Actor } from '../../platform/actor.ts'
import { type Permission, type Role, roles } from '../../platform/permission.ts'
import { conflict, forbidden, invalid } from '../../platform/refusal.ts'
import { changesBetween, masked } from '../../platform/shape/mask.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identifyAll } from '../../platform/sql/identify.ts'
import { lockSpaces } from '../../platform/sql/lock-numbers.ts'
import { nothingLeft, render } from '../../platform/sql/render.ts'
import {
  defineTable,
  givenColumns,
  listText,
  lockRow,
  put,
  type Row,
  rowFrom,
} from '../../platform/sql/rows.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { hashPassword } from '../password/hash.ts'
import { forgetName, nameHash } from '../password/throttle.ts'
import { beyondOwn, refuseBeyond, requireUserWrite } from './rights.ts'
import {
  type PasswordChange,
  User,
  UserInput,
  UserRecord,
  type UserUpdate,
  wrongName,
} from './schema.ts'
import { revokeAllSessions } from './session.ts'
import { type Caller, checkPassword } from './sign-in.ts'
import { type LockedUser, lockUser, selectUser, setProducts } from './sql.ts'

type Rights = {
  role?: Role | undefined
  permissions?: Permission[] | undefined
  productIDs?: number[] | undefined
}

const userTable = defineTable('app_user', {
  key: 'user_id',
  record: UserRecord,
  others: { password_hash: 'text', permissions: 'text[]', all_products: 'boolean' },
})

/**
 * The columns that hold a user's rights. The products of a user without all_products are rows of
 * app_user_product.
 */
const rightsIn = ({ role, permissions, productIDs }: Rights): Row => ({
  role: role ?? null,
  permissions: permissions ? listText(permissions) : null,
  all_products: productIDs === undefined,
})

export async function createUser(tx: Tx, actor: Actor, input: UserInput): Promise<Written> {
  await checkRights(tx, actor, input)
  const { password, productIDs, isActive = true } = input
  const row = rowFrom(userTable, { ...input, isActive }, rightsIn(input))
  const id = await put(tx, userTable, undefined, {
    ...row,
    password_hash: await hashPassword(password),
  })
  await setProducts(tx, id, productIDs ?? [])
  return { ...(await shownUser(tx, id)), ids: [id], changes: masked(UserInput, input) }
}

export async function updateUser(
  tx: Tx,
  actor: Actor,
  nameKey: Buffer,
  input: UserUpdate,
): Promise<Written> {
  // Updates take turns: two at once could each remove an administrator and count on the other one.
  await tx.query(sql`select pg_advisory_xact_lock(${lockSpaces.users}::int, 1)`)
  const user = await lockUser(tx, actor, input)
  const { userID } = user
  refuseBeyond(actor, user)
  refuseNewName(user, input)
  const rights = rightsAfter(user, input)
  await checkRights(tx, actor, rights)
  const before = await shownUser(tx, userID)
  const { productIDs } = rights
  const { password, isActive = user.isActive } = input
  const stored = await lockRow(tx, userTable, userID)
  const given = givenColumns(userTable, { ...input, userID })
  await put(tx, userTable, stored, { ...stored, ...given, ...rightsIn(rights) })
  await setProducts(tx, userID, productIDs ?? [])
  if (password !== undefined) await setPassword(tx, nameKey, userID, password)
  // Sessions and keys of a deactivated user end for good: reactivation must not revive old tokens.
  if (!isActive) {
    await revokeAllSessions(tx, userID)
    await revokeKeys(tx, userID)
  }
  await refuseWithoutAdministrator(tx)
  const after = await shownUser(tx, userID)
  const changes = {
    ...changesBetween(User, before.json, after.json),
    ...(password !== undefined && { password: '***' }),
  }
  return { ...after, ids: [userID], before: before.json, changes }
}

/**
 * Checks a new username. The user's present name is accepted even if wrongName would refuse it,
 * because clients send it back with each PUT.
 */
function refuseNewName({ username: known }: LockedUser, { username = known }: UserUpdate) {
  const isKnown = username.toLowerCase() === known.toLowerCase()
  const words = isKnown ? undefined : wrongName(username)
  if (words) throw invalid('invalid_value', `username ${words}.`, 'username')
}

/**
 * The rights after an update; what is left out stays. A client that does not know of productIDs
 * leaves it out, which must not give the user all products.
 */
function rightsAfter(user: LockedUser, input: UserUpdate): Rights {
  const given = input.role !== undefined || input.permissions !== undefined
  const { role, permissions } = given ? input : user
  const productIDs = input.productIDs === undefined ? user.productIDs : input.productIDs
  return {
    role: role ?? undefined,
    permissions: permissions ?? undefined,
    productIDs: productIDs ?? undefined,
  }
}

/** Ends the API keys of a deactivated user; see api-key. */
const revokeKeys = (tx: Tx, userID: number) =>
  tx.query(sql`update api_key set revoked_date = now()
    where user_id = ${userID} and revoked_date is null`)

const shownUser = (tx: Tx, userID: number) => render(tx, selectUser(sql`u.user_id = ${userID}`))

/** Refuses rights that the caller does not have. */
async function checkRights(tx: Tx, actor: Actor, rights: Rights) {
  if ((rights.role === undefined) === (rights.permissions === undefined))
    throw invalid('invalid_value', 'Give either a role or a list of permissions.', 'role')
  const field = rights.role === undefined ? 'permissions' : 'role'
  const beyond = beyondOwn(actor, rights)
  if (beyond.length > 0)
    throw forbidden('beyond_own_rights', `You do not have ${beyond.join(', ')} yourself.`, field)
  const { productIDs } = rights
  if (actor.productIDs && productIDs === undefined)
    throw forbidden('beyond_own_rights', 'You do not have all products yourself.', 'productIDs')
  const own = actor.productIDs
  const visible = own ? sql`r.product_id = any(${own}::int[])` : sql`true`
  const named = (productIDs ?? []).map((id) => ({ productIDs: id }))
  await identifyAll(tx, oneOfProducts, named, { visible })
}

/**
 * Somebody with every permission must be left, because users can only give rights that they have
 * themselves.
 */
async function refuseWithoutAdministrator(tx: Tx) {
  const [left] = await tx.query(sql`
    select 1 from app_user
    where is_active and all_products
      and (role = 'Administrator' or permissions @> ${roles.Administrator}::text[]) limit 1`)
  if (!left)
    throw conflict('last_administrator', 'This is the last active user with every permission.')
}

/**
 * Stores a new password and ends all sessions of the user. Failed sign-ins are forgiven, so a user
 * who was locked out may try the new password at once.
 */
async function setPassword(tx: Tx, nameKey: Buffer, userID: number, password: string) {
  const [user] = await tx.query<{ name: string }>(sql`
    update app_user set password_hash = ${await hashPassword(password)} where user_id = ${userID}
    returning lower(username) as name`)
  await forgetName(tx, nameHash(nameKey, user!.name))
  await revokeAllSessions(tx, userID)
}

/** Changing one's own password takes the current one; changing another user's takes User.Write. */
export async function changePassword(
  tx: Tx,
  actor: Actor,
  caller: Caller,
  change: PasswordChange,
): Promise<Written> {
  const { nameKey } = caller
  const { userID } = await passwordOwner(tx, actor, change)
  if (userID !== actor.userID) return resetPassword(tx, actor, nameKey, userID, change)
  const { currentPassword } = change
  if (currentPassword === undefined)
    throw invalid('required', 'currentPassword is required.', 'currentPassword')
  return checkPassword(tx, caller, actor.username, currentPassword, () =>
    replacePassword(tx, nameKey, actor.userID, change),
  )
}

/**
 * The user whose password changes. User.Write is checked before the look-up, so that a caller
 * without it cannot find out which users exist.
 */
async function passwordOwner(tx: Tx, actor: Actor, { userID, username }: PasswordChange) {
  const same = (name: string) => name.toLowerCase() === actor.username.toLowerCase()
  if (userID ? userID === actor.userID : username === undefined || same(username)) return actor
  requireUserWrite(actor)
  const user = await lockUser(tx, actor, { userID, username })
  refuseBeyond(actor, user)
  return user
}

export async function resetPassword(
  tx: Tx,
  actor: Actor,
  nameKey: Buffer,
  userID: number,
  change: PasswordChange,
) {
  requireUserWrite(actor)
  return replacePassword(tx, nameKey, userID, change)
}

async function replacePassword(
  tx: Tx,
  nameKey: Buffer,
  userID: number,
  { newPassword }: PasswordChange,
) {
  await setPassword(tx, nameKey, userID, newPassword)
  const message = 'The password is changed; sign in again with the new one.'
  return { ...nothingLeft, ids: [userID], message, changes: { password: '***' } }
}
