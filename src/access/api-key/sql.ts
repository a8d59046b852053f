import { createHash, randomBytes } from 'node:crypto'
import sql from 'sql-template-tag'
import { oneOfProducts } from '../../catalogue/product/schema.ts'
import type { Actor } from '../../platform/actor.ts'
import { type Permission, permissionsOf } from '../../platform/permission.ts'
import { forbidden, invalid, notFound, unauthenticated } from '../../platform/refusal.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { identifyAll } from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns, nothingLeft, render } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { requireUserWrite } from '../user/rights.ts'
import { sessionEnded, type UserRow, userFields } from '../user/session.ts'
import { manageable } from '../user/sessions.ts'
import { visible } from '../user/sql.ts'
import { ApiKey, type ApiKeyEnd, type ApiKeyInput, type ApiKeyQuery } from './schema.ts'

export const keyPattern = /^(?:Bearer +)?(rk_[\w-]{43})$/i
const newKey = () => `rk_${randomBytes(32).toString('base64url')}`
const hashOf = (key: string) => createHash('sha256').update(key).digest()

const keyColumns = columns(ApiKey, 'k', { username: 'u.username', expires: 'k.expires_date' })

const selectKey = (where: Fragment) => sql`
  select ${keyColumns}, to_json(k.permissions) as permissions,
    to_json(k.product_ids) as "productIDs", to_json(k.allowed_networks) as "allowedNetworks"
  from api_key k join app_user u using (user_id) where k.revoked_date is null and ${where}`

/** Lists the caller's API keys, and with User.Read those of every user the caller may see. */
export function readKeys(handle: Sql, actor: Actor, { ApiKeyID, UserID, ...paging }: ApiKeyQuery) {
  const own = sql`k.user_id = ${actor.userID}`
  const mine = actor.permissions.has('User.Read') ? sql`(${own} or ${visible(actor)})` : own
  const asked = sql`${ApiKeyID ? sql`k.api_key_id = ${ApiKeyID}` : sql`true`}
    and ${UserID ? sql`k.user_id = ${UserID}` : sql`true`}`
  return renderPage(handle, paging, {
    key: ['apiKeyID'],
    rows: (wanted) =>
      selectKey(sql`${asked} and ${mine} ${page(wanted, 'api_key k', 'k.api_key_id')}`),
  })
}

export async function createKey(tx: Tx, actor: Actor, input: ApiKeyInput): Promise<Written> {
  const { name, permissions, productIDs, expires, allowedNetworks } = input
  await refuseEnded(tx, actor)
  await refuseWider(tx, actor, input)
  const [given] = await tx.query<{ isPast: boolean }>(sql`
    select coalesce(${expires}::timestamptz <= now(), false) as "isPast"`)
  if (given!.isPast) throw invalid('invalid_value', 'expires must be in the future.', 'expires')
  const key = newKey()
  const [row] = await tx.query<{ id: number }>(sql`
    insert into api_key
      (user_id, name, key_hash, permissions, product_ids, expires_date, allowed_networks)
    values (${actor.userID}, ${name}, ${hashOf(key)}, ${permissions}::text[],
      ${productIDs ?? null}::int[], ${expires}, ${allowedNetworks ?? null}::text[])
    returning api_key_id as id`)
  const { id } = row!
  const { json } = await render(tx, selectKey(sql`k.api_key_id = ${id}`))
  const shown = { ...JSON.parse(json)[0], key }
  return { json: JSON.stringify([shown]), recordCount: 1, ids: [id], changes: input }
}

/**
 * A user who is being deactivated at this moment must not make a key that outlives the
 * deactivation: the row lock waits for it to commit.
 */
async function refuseEnded(tx: Tx, { userID }: Actor) {
  const still = await tx.query(sql`
    select 1 from app_user where user_id = ${userID} and is_active for share`)
  if (still.length === 0) throw sessionEnded()
}

/** A key is never wider than its user when it is made; holderOf limits it again at each use. */
async function refuseWider(tx: Tx, actor: Actor, { permissions, productIDs }: ApiKeyInput) {
  const beyond = permissions.filter((permission) => !actor.permissions.has(permission))
  if (beyond.length > 0)
    throw forbidden(
      'beyond_own_rights',
      `You do not have ${beyond.join(', ')} yourself.`,
      'permissions',
    )
  const own = actor.productIDs
  const within = own ? sql`r.product_id = any(${own}::int[])` : sql`true`
  const named = (productIDs ?? []).map((id) => ({ productIDs: id }))
  await identifyAll(tx, oneOfProducts, named, { visible: within })
}

/** Ends one of the caller's own keys, or a key of a user the caller may manage. */
export async function deleteKey(tx: Tx, actor: Actor, { ApiKeyID }: ApiKeyEnd): Promise<Written> {
  const [key] = await tx.query<{ userID: number; name: string }>(sql`
    select k.user_id as "userID", k.name from api_key k join app_user u using (user_id)
    where k.api_key_id = ${ApiKeyID} and k.revoked_date is null
      and (k.user_id = ${actor.userID} or ${visible(actor)}) for update of k`)
  // Checked before the 404, so that a caller without User.Write cannot find out which keys exist.
  if (key?.userID !== actor.userID) requireUserWrite(actor)
  if (!key) throw notFound('not_found', `No record was found for ApiKeyID ${ApiKeyID}.`, 'ApiKeyID')
  if (key.userID !== actor.userID) await manageable(tx, actor, key.userID)
  await tx.query(sql`update api_key set revoked_date = now() where api_key_id = ${ApiKeyID}`)
  return { ...nothingLeft, ids: [ApiKeyID], changes: { deleted: { name: key.name } } }
}

type KeyRow = UserRow & {
  apiKeyID: number
  keyPermissions: Permission[]
  keyProductIDs: number[] | null
  networks: string[] | null
}

export type KeyHolder = { actor: Actor; networks: string[] | null }

/** Whether the key `k` has neither been ended nor expired. */
export const isLive: Fragment = sql`
  k.revoked_date is null and (k.expires_date is null or k.expires_date > now())`

/**
 * The actor of an API key: its user, with the rights that both the user has now and the key was
 * given.
 */
export async function readKeyHolder(handle: Sql, key: string): Promise<KeyHolder> {
  const holder = await holderOf(handle, sql`k.key_hash = ${hashOf(key)}`)
  if (!holder) throw keyRefused()
  return holder
}

/**
 * The actor of an API key for work that runs later without a request; undefined if the key has
 * ended.
 */
export const readAbsentKey = async (handle: Sql, apiKeyID: number): Promise<Actor | undefined> =>
  (await holderOf(handle, sql`k.api_key_id = ${apiKeyID}`))?.actor

async function holderOf(handle: Sql, which: Fragment): Promise<KeyHolder | undefined> {
  const [row] = await handle.query<KeyRow>(sql`
    select ${userFields}, k.api_key_id as "apiKeyID", k.permissions as "keyPermissions",
      k.product_ids as "keyProductIDs", k.allowed_networks as networks
    from api_key k join app_user u using (user_id)
    where ${which} and ${isLive} and u.is_active`)
  if (!row) return undefined
  const { userID, username, apiKeyID, networks } = row
  const own = new Set<Permission>(permissionsOf(row))
  const permissions = new Set(row.keyPermissions.filter((permission) => own.has(permission)))
  const productIDs = narrower(row.productIDs, row.keyProductIDs)
  const sessionID = `key ${apiKeyID}`
  return { actor: { userID, username, sessionID, apiKeyID, permissions, productIDs }, networks }
}

const narrower = (users: number[] | null, keys: number[] | null) =>
  users && keys ? keys.filter((id) => users.includes(id)) : (users ?? keys)

export const keyRefused = () =>
  unauthenticated(
    'key_refused',
    'The API key is not valid, has ended, or may not be used from this address.',
  )

/** Notes the last use to the minute, so that a busy program does not write at every request. */
export const touchKey = (tx: Tx, apiKeyID: number) =>
  tx.query(sql`update api_key set last_used_date = now() where api_key_id = ${apiKeyID}
    and (last_used_date is null or last_used_date < now() - interval '1 minute')`)
