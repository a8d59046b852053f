import sql, { raw } from 'sql-template-tag'
import { firstMissing } from '../../catalogue/product/sql.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import type { WriteEndpoint } from '../../platform/http/endpoint.ts'
import { canWait, permissionOf } from '../../platform/http/waiting.ts'
import { invalid, notFound } from '../../platform/refusal.ts'
import { changesBetween, recordOf } from '../../platform/shape/mask.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns, nothingLeft, render, utc } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import type { Veil } from '../audit/veil.ts'
import { isCounted } from './counted.ts'
import { refuseIdle } from './judge.ts'
import type { Rule } from './match.ts'
import {
  Approval,
  type ApprovalQuery,
  ApprovalRule,
  type ApprovalRuleInput,
  type ApprovalRuleKey,
  type ApprovalRuleQuery,
  type ApprovalRuleUpdate,
} from './schema.ts'

const ruleColumns = columns(ApprovalRule, 'r')
const selectRule = (where: Fragment, products = sql`r.product_ids`) => sql`
  select ${ruleColumns}, to_json(r.fields) as fields, to_json(${products}) as "productIDs"
  from approval_rule r where ${where}`

/** The products of a rule that the caller sees. */
const seenProducts = ({ productIDs }: Actor): Fragment =>
  productIDs === null
    ? sql`r.product_ids`
    : sql`case when r.product_ids is not null then array(
        select id from unnest(r.product_ids) id where id = any(${productIDs}::int[])) end`

/**
 * A caller who sees some products only sees the rules that apply to one of them, and may change a
 * rule only if all its products are among them.
 */
const concerns = ({ productIDs }: Actor): Fragment =>
  productIDs === null
    ? sql`true`
    : sql`(r.product_ids is null or r.product_ids && ${productIDs}::int[])`
const isOwn = ({ productIDs }: Actor): Fragment =>
  productIDs === null ? sql`true` : sql`coalesce(r.product_ids <@ ${productIDs}::int[], false)`

export const readRules = (handle: Sql, actor: Actor, query: ApprovalRuleQuery) =>
  renderPage(handle, query, {
    key: ['approvalRuleID'],
    rows: (wanted) =>
      selectRule(
        sql`
          ${concerns(actor)} and ${
            query.ApprovalRuleID ? sql`r.approval_rule_id = ${query.ApprovalRuleID}` : sql`true`
          }
          ${page(wanted, 'approval_rule r', 'r.approval_rule_id')}`,
        seenProducts(actor),
      ),
  })

export const activeRules = (handle: Sql) =>
  handle.query<Rule>(sql`
    select approval_rule_id as "approvalRuleID", operation, resource, fields,
      minimum_amount as "minimumAmount", product_ids as "productIDs",
      required_approvals as "requiredApprovals"
    from approval_rule where is_active order by required_approvals desc, approval_rule_id`)

const shownRule = (tx: Tx, id: number) => render(tx, selectRule(sql`r.approval_rule_id = ${id}`))

export async function createRule(
  tx: Tx,
  actor: Actor,
  writes: readonly WriteEndpoint[],
  input: ApprovalRuleInput,
): Promise<Written> {
  const { operation, resource, fields, minimumAmount } = input
  const productIDs = await productsFor(tx, actor, input.productIDs)
  if ((operation === undefined) === (resource === undefined))
    throw invalid('required', 'Give either an operation or a resource.', 'operation')
  refuseIdle(writes, input)
  const [row] = await tx.query<{ id: number }>(sql`
    insert into approval_rule
      (operation, resource, fields, minimum_amount, product_ids, required_approvals, is_active)
    values (${operation}, ${resource}, ${fields ?? null}::text[], ${minimumAmount},
      ${productIDs ?? null}::int[], ${input.requiredApprovals ?? 1}, ${input.isActive ?? true})
    returning approval_rule_id as id`)
  return { ...(await shownRule(tx, row!.id)), ids: [row!.id], changes: input }
}

/**
 * Refuses products that the caller does not see; without given products, a rule gets the caller's.
 */
async function productsFor(tx: Tx, actor: Actor, given: number[] | null | undefined) {
  const missing = await firstMissing(tx, actor, given ?? [])
  if (missing !== undefined)
    throw notFound('not_found', `No record was found for productIDs ${missing}.`, 'productIDs')
  return given ?? actor.productIDs
}

export async function updateRule(
  tx: Tx,
  actor: Actor,
  writes: readonly WriteEndpoint[],
  input: ApprovalRuleUpdate,
): Promise<Written> {
  const { approvalRuleID: id, fields, minimumAmount } = input
  const before = await lockRule(tx, actor, id, 'approvalRuleID')
  if (fields) refuseIdle(writes, { ...(recordOf(before) as ApprovalRuleInput), fields })
  const given = input.productIDs
  const products = given === undefined ? undefined : await productsFor(tx, actor, given)
  await tx.query(sql`
    update approval_rule set
      fields = ${fields === undefined ? sql`fields` : sql`${fields}::text[]`},
      minimum_amount = ${minimumAmount === undefined ? sql`minimum_amount` : sql`${minimumAmount}`},
      product_ids = ${products === undefined ? sql`product_ids` : sql`${products}::int[]`},
      required_approvals = coalesce(${input.requiredApprovals}, required_approvals),
      is_active = coalesce(${input.isActive}, is_active)
    where approval_rule_id = ${id}`)
  const after = await shownRule(tx, id)
  const changes = changesBetween(ApprovalRule, before, after.json)
  return { ...after, ids: [id], changes, before }
}

export async function deleteRule(
  tx: Tx,
  actor: Actor,
  { ApprovalRuleID }: ApprovalRuleKey,
): Promise<Written> {
  const before = await lockRule(tx, actor, ApprovalRuleID, 'ApprovalRuleID')
  await tx.query(sql`delete from approval_rule where approval_rule_id = ${ApprovalRuleID}`)
  const changes = { deleted: recordOf(before) }
  return { ...nothingLeft, ids: [ApprovalRuleID], changes, before }
}

async function lockRule(tx: Tx, actor: Actor, id: number, field: string): Promise<string> {
  const found = await tx.query(sql`
    select 1 from approval_rule r where r.approval_rule_id = ${id} and ${isOwn(actor)} for update`)
  if (found.length === 0)
    throw notFound('not_found', `No record was found for ${field} ${id}.`, field)
  return (await shownRule(tx, id)).json
}

const isExpired = `p.state = 'Pending' and p.expires_date < now()`
const stateNow = `case when ${isExpired} then 'Expired' else p.state end`
const isPending = raw(`(p.state = 'Pending' and p.expires_date >= now())`)
const approvalColumns = columns(Approval, 'p', { state: stateNow })

type Writes = readonly WriteEndpoint[]

const selectApproval = (writes: Writes, where: Fragment) => sql`
  select ${approvalColumns}, to_json(coalesce(p.resource_ids, '{}')) as "resourceIDs",
    (select coalesce(json_agg(json_build_object('userID', d.user_id, 'username', d.username,
        'decidedDate', ${raw(utc('d.decided_date'))}, 'isCounted', ${isCounted(writes)})
        order by d.decided_date, d.user_id), '[]')
      from approval_decision d where d.approval_id = p.approval_id) as approvals
  from approval p where ${where}`

const asked = { changes: sql`p.changes`, isDone: sql`(p.state = 'Approved')` }

/**
 * Whether the caller made the request. An API key may see less than its user or the user's other
 * keys, so only what the key itself asked for is its own.
 */
const isAskedBy = ({ userID, apiKeyID }: Actor): Fragment =>
  apiKeyID === undefined ? sql`p.user_id = ${userID}` : sql`p.api_key_id = ${apiKeyID}`

/**
 * Requests of the caller's products that name nobody outside them, and the caller's own requests.
 */
export const visibleTo = (actor: Actor, { namesUnseen }: Veil): Fragment => sql`(
  (${inScope(actor, 'p.product_id')} and not ${namesUnseen(actor, asked)})
  or ${isAskedBy(actor)})`

/**
 * Resources about rights and about where events go: their requests are shown only to callers who
 * have a permission for the resource, and to the maker.
 */
const confidential = ['User', 'Webhook', 'ApprovalRule']

const isShown = (actor: Actor): Fragment => {
  const known = new Set([...actor.permissions].map((name) => name.replace(/\..*/, '')))
  const hidden = confidential.filter((resource) => !known.has(resource))
  return sql`(p.resource <> all(${hidden}::text[]) or ${isAskedBy(actor)})`
}

/** The operations that a caller may approve. */
const decidable = ({ permissions }: Actor, writes: Writes) =>
  permissions.has('Approval.Write')
    ? writes
        .filter((one) => canWait(one) && permissions.has(permissionOf(one)))
        .map(({ operation }) => operation)
    : []

/**
 * Requests that the caller can decide. A request that already has enough approvals is carried out
 * when any of its approvers approves once more: an approver whose rights were missing at the last
 * approval may have them again.
 */
const awaits = (actor: Actor, writes: Writes): Fragment => sql`(
  ${isPending} and p.user_id <> ${actor.userID}
  and p.operation = any(${decidable(actor, writes)}::text[])
  and (not exists (select 1 from approval_decision d
      where d.approval_id = p.approval_id and d.user_id = ${actor.userID})
    or (select count(*) from approval_decision d
      where d.approval_id = p.approval_id and ${isCounted(writes)}) >= p.required_approvals))`

/** Filters by the stored columns, because the state that is shown (stateNow) has no index. */
const inState = (state: ApprovalQuery['State']): Fragment => {
  if (state === undefined) return sql`true`
  if (state === 'Pending') return sql`${isPending}`
  return state === 'Expired' ? sql`(${raw(isExpired)})` : sql`p.state = ${state}`
}

const toDecide = (wanted: boolean | undefined, waiting: () => Fragment): Fragment => {
  if (wanted === undefined) return sql`true`
  return wanted ? waiting() : sql`not ${waiting()}`
}

type Desk = { veil: Veil; writes: () => Writes }

export async function readApprovals(
  handle: Sql,
  actor: Actor,
  { veil, writes }: Desk,
  query: ApprovalQuery,
) {
  const waiting = () => awaits(actor, writes())
  const requests = await renderPage(handle, query, {
    key: ['approvalID'],
    rows: (wanted) =>
      selectApproval(
        writes(),
        sql`
        ${query.ApprovalID ? sql`p.approval_id = ${query.ApprovalID}` : sql`true`}
        and ${inState(query.State)}
        and ${query.UserID ? sql`p.user_id = ${query.UserID}` : sql`true`}
        and ${toDecide(query.ToDecide, waiting)}
        and ${visibleTo(actor, veil)} and ${isShown(actor)}
        ${page(wanted, 'approval p', 'p.approval_id')}`,
      ),
  })
  return veil.over(handle, actor, requests)
}

export const shownApproval = async (tx: Tx, actor: Actor, { veil, writes }: Desk, id: number) =>
  veil.over(tx, actor, await render(tx, selectApproval(writes(), sql`p.approval_id = ${id}`)))
