import sql from 'sql-template-tag'
import type { WriteEndpoint } from '../../platform/http/endpoint.ts'
import { canWait, permissionOf } from '../../platform/http/waiting.ts'
import { roles } from '../../platform/permission.ts'
import type { Fragment } from '../../platform/sql/handle.ts'

const deciding = 'Approval.Write'

/**
 * As JSON, for each operation: the permission that deciding on it needs, and the roles that have
 * it.
 */
const decidersOf = (writes: readonly WriteEndpoint[]): string => {
  const known = deciders.get(writes)
  if (known) return known
  const entries = writes.filter(canWait).map((endpoint) => {
    const permission = permissionOf(endpoint)
    const able = Object.entries(roles).filter(([, has]) =>
      [deciding, permission].every((one) => (has as readonly string[]).includes(one)),
    )
    return [endpoint.operation, { permission, roles: able.map(([role]) => role) }]
  })
  const made = JSON.stringify(Object.fromEntries(entries))
  deciders.set(writes, made)
  return made
}

/** The JSON above is made once per set of endpoints, not for every list of approvals. */
const deciders = new WeakMap<readonly WriteEndpoint[], string>()

/**
 * Whether an approval `d` of a request `p` counts. The request is carried out at the last approval:
 * whoever gave an earlier one must still be able to give it then, just as the maker must still be
 * allowed to ask. An approver who regains the rights counts again. A user who sees some products
 * only decides on requests of one of those products. Once the request is decided the result is
 * stored (keepCounted), and later changes of rights no longer affect it.
 */
export const isCounted = (writes: readonly WriteEndpoint[]): Fragment => sql`
  (case when p.state <> 'Pending' then d.is_counted else exists (
    select 1 from app_user u, lateral (select ${decidersOf(writes)}::jsonb -> p.operation as able) n
    where u.user_id = d.user_id and u.is_active
      and case when u.role is not null then n.able -> 'roles' ? u.role
        else u.permissions @> array[${deciding}::text, n.able ->> 'permission'] end
      and (u.all_products or exists (select 1 from app_user_product s
        where s.user_id = u.user_id and s.product_id = p.product_id))) end)`

/**
 * Stores which approvals count, before the request is decided: the write it asks for may take away
 * the rights of an approver.
 */
export const keepCounted = (writes: readonly WriteEndpoint[], approvalID: number): Fragment => sql`
  update approval_decision d set is_counted = false from approval p
  where p.approval_id = d.approval_id and d.approval_id = ${approvalID}
    and not ${isCounted(writes)}`
