import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { invalid, notFound } from '../../platform/refusal.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { User, type UserQuery } from './schema.ts'
import { type UserRow, userFields } from './session.ts'

const userColumns = columns(User, 'u')

/** A user as the API shows it. The password hash never leaves the database. */
export const selectUser = (where: Fragment) => sql`
  select ${userColumns}, to_json(u.permissions) as permissions,
    case when not u.all_products then (
      select coalesce(json_agg(p.product_id order by p.product_id), '[]')
      from app_user_product p where p.user_id = u.user_id) end as "productIDs"
  from app_user u where ${where}`

/** A caller with some products sees the users whose products are all among them. */
export const visible = ({ productIDs }: Actor): Fragment =>
  productIDs === null
    ? sql`true`
    : sql`not u.all_products and not exists (
        select 1 from app_user_product p
        where p.user_id = u.user_id and p.product_id <> all(${productIDs}::int[]))`

const named = (userID: number | undefined, username: string | undefined): Fragment => {
  if (userID) return sql`u.user_id = ${userID}`
  return username === undefined ? sql`true` : sql`lower(u.username) = lower(${username})`
}

export const readUsers = (handle: Sql, actor: Actor, query: UserQuery) =>
  renderPage(handle, query, {
    key: ['userID'],
    rows: (wanted) =>
      selectUser(sql`
        ${named(query.UserID, query.Username)} and ${visible(actor)}
        ${page(wanted, 'app_user u', 'u.user_id')}`),
  })

type NamedUser = { userID?: number | undefined; username?: string | undefined }

export type LockedUser = UserRow & { isActive: boolean }

/** Finds and locks the user that a write names. Usernames match in any letter case. */
export async function lockUser(tx: Tx, actor: Actor, { userID, username }: NamedUser) {
  if (!userID && username === undefined)
    throw invalid('required', 'Either userID or username must be provided.', 'userID')
  const [user] = await tx.query<LockedUser>(sql`
    select ${userFields}, u.is_active as "isActive" from app_user u
    where ${named(userID, username)} and ${visible(actor)} for update`)
  const [field, value] = userID ? ['userID', userID] : ['username', username]
  if (!user)
    throw notFound('not_found', `No record was found for ${field} ${JSON.stringify(value)}.`, field)
  return user
}

export const setProducts = (tx: Tx, userID: number, productIDs: readonly number[]) =>
  tx.query(sql`
    with gone as (
      delete from app_user_product
      where user_id = ${userID} and product_id <> all(${productIDs}::int[]))
    insert into app_user_product (user_id, product_id)
    select ${userID}::int, id from unnest(${productIDs}::int[]) id
    on conflict do nothing`)
