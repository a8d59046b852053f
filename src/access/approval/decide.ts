import type { IncomingHttpHeaders } from 'node:http'
import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import type { EventType } from '../../platform/event-types.ts'
import type { Request, WriteEndpoint } from '../../platform/http/endpoint.ts'
import type { Condition } from '../../platform/http/etag.ts'
import { eventOf } from '../../platform/http/handlers.ts'
import { canWait, permissionOf } from '../../platform/http/waiting.ts'
import {
  conflict,
  forbidden,
  notFound,
  permissionMissing,
  Refusal,
} from '../../platform/refusal.ts'
import { itemPath } from '../../platform/shape/path.ts'
import type { Database, Sql, Tx } from '../../platform/sql/handle.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import {
  type Outcome,
  unitsOfWork,
  type Write,
  type Written,
} from '../../platform/sql/unit-of-work.ts'
import type { Veil } from '../audit/veil.ts'
import { readAbsentCaller } from '../caller/absent.ts'
import { isCounted, keepCounted } from './counted.ts'
import { isOfNew, type KeptRequest, type Seal } from './gate.ts'
import { changesElse, isElsewhere, subjectOf } from './same.ts'
import type { ApprovalKey, Rejection } from './schema.ts'
import { shownApproval, visibleTo } from './sql.ts'

export type ApprovalDesk = {
  database: Database
  sealed: Seal
  veil: Veil
  /** The endpoint of the operation that a kept request asks for. */
  endpointOf: (operation: string) => WriteEndpoint | undefined
  /** All write endpoints of the API. */
  writes: () => WriteEndpoint[]
  /** The condition that the If-Match header of a request states for this endpoint. */
  conditionOf: (endpoint: WriteEndpoint, headers: IncomingHttpHeaders) => Condition | undefined
}

type Taken = Request<unknown, unknown>

type Waiting = {
  approvalID: number
  operation: string
  resource: string
  productID: number | null
  userID: number
  username: string
  requiredApprovals: number
  request: string
  changes: string
  state: string
  isPast: boolean
}

type Decider = { actor: Actor; desk: ApprovalDesk }

async function find(
  handle: Sql,
  { actor, desk }: Decider,
  id: number,
  lock = sql``,
): Promise<Waiting> {
  const [found] = await handle.query<Waiting>(sql`
    select p.approval_id as "approvalID", p.operation, p.resource,
      p.product_id as "productID", p.user_id as "userID", p.username,
      p.required_approvals as "requiredApprovals", p.request,
      p.changes::text as changes, p.state,
      p.expires_date < now() as "isPast"
    from approval p where p.approval_id = ${id} and ${visibleTo(actor, desk.veil)} ${lock}`)
  if (!found) throw notFound('not_found', `No record was found for approvalID ${id}.`, 'approvalID')
  return found
}

/** Locks a pending request, so that the second of two simultaneous decisions sees the first. */
async function lockPending(tx: Tx, decider: Decider, id: number): Promise<Waiting> {
  const found = await find(tx, decider, id, sql`for update`)
  if (found.state !== 'Pending')
    throw conflict('wrong_state', `The request is ${found.state.toLowerCase()} already.`)
  if (found.isPast)
    throw conflict(
      'approval_expired',
      'The request has waited too long and has expired; make it again.',
    )
  return found
}

/** Refuses a decider who lacks the permission of the operation itself, or who made the request. */
function refuseDecider(desk: ApprovalDesk, actor: Actor, waiting: Waiting): WriteEndpoint {
  const endpoint = desk.endpointOf(waiting.operation)
  if (!endpoint || !canWait(endpoint))
    throw conflict(
      'unknown_operation',
      `This version has no ${waiting.operation}: reject the request.`,
    )
  const needed = permissionOf(endpoint)
  if (!actor.permissions.has(needed)) throw permissionMissing(needed)
  if (waiting.userID === actor.userID)
    throw forbidden('own_request', 'You cannot approve your own request.')
  return endpoint
}

/**
 * Approves. With the last approval needed, the write is checked again and carried out as its maker,
 * in the same transaction: once, however many approve at the same moment.
 */
export async function approve(
  desk: ApprovalDesk,
  actor: Actor,
  write: Write,
  { approvalID }: ApprovalKey,
): Promise<Outcome> {
  const decider = { actor, desk }
  const seen = await find(desk.database, decider, approvalID)
  const endpoint = refuseDecider(desk, actor, seen)
  const { userID, username, operation, resource } = seen
  const { requestID } = write
  const event = eventOf(endpoint)
  const makers: Write = { userID, username, operation, resource, event, requestID }
  const [end] = await unitsOfWork(desk.database, [write, makers], async (tx, places) => {
    if (!places.includes(0)) return places.map(() => untold) // replayed by its Idempotency-Key
    const waiting = await lockPending(tx, decider, approvalID)
    await refuseInvolved(tx, desk, actor, endpoint, waiting)
    const { approvers, lapsed } = await addDecision(tx, decider, waiting)
    if (approvers.length < waiting.requiredApprovals)
      return [await decided(tx, decider, waiting, `Approved by one.${wordsOf(lapsed)}`), untold]
    await tx.query(keepCounted(desk.writes(), approvalID))
    const kept = keptOf(desk, waiting)
    const done = await carryOut(tx, desk, endpoint, waiting, kept)
    refuseOther(waiting, kept, done, isOfNew(makers))
    await tx.query(sql`
      update approval set state = 'Approved', decided_date = now(), resource_ids = ${[...done.ids]}
      where approval_id = ${approvalID}`)
    const changes = { approvalID, approvedBy: approvers, changes: done.changes }
    // A distribution stage over many accounts has only been accepted so far; its work goes on
    // later.
    const words = done.accepted ? 'Approved; it is under way.' : 'Approved and done.'
    const told = await decided(tx, decider, waiting, words, 'approval.approved')
    return [told, { ...done, changes }]
  })
  if (end instanceof Refusal) throw end
  return end!
}

const untold: Written = { ...nothingLeft, ids: [], isToldLater: true }

type Approvers = { approvers: string[]; lapsed: string[] }

/** Adds the caller's approval, and returns whose approvals count now and whose no longer do. */
async function addDecision(
  tx: Tx,
  { actor: { userID, username }, desk }: Decider,
  { approvalID, requiredApprovals }: Waiting,
): Promise<Approvers> {
  const added = await tx.query(sql`
    insert into approval_decision (approval_id, user_id, username)
    values (${approvalID}, ${userID}, ${username}) on conflict do nothing returning true`)
  const all = await tx.query<{ username: string; isCounted: boolean }>(sql`
    select d.username, ${isCounted(desk.writes())} as "isCounted"
    from approval_decision d join approval p using (approval_id)
    where d.approval_id = ${approvalID} order by d.decided_date, d.user_id`)
  const names = (counted: boolean) =>
    all.flatMap((one) => (one.isCounted === counted ? one.username : []))
  const approvers = names(true)
  if (added.length === 0 && approvers.length < requiredApprovals)
    throw conflict('decided_already', 'You have approved this already.')
  return { approvers, lapsed: names(false) }
}

const wordsOf = (lapsed: readonly string[]) =>
  lapsed.length === 0
    ? ''
    : ` The approval of ${lapsed.join(', ')} does not count: they may not decide on it any more.`

/**
 * Does the write as its maker, if the maker still may: with the rights of the API key if one made
 * the request.
 */
async function carryOut(
  tx: Tx,
  desk: ApprovalDesk,
  endpoint: WriteEndpoint,
  waiting: Waiting,
  kept: KeptRequest,
): Promise<Written> {
  const { apiKeyID = null } = kept
  const maker = await readAbsentCaller(tx, { userID: waiting.userID, apiKeyID })
  if (!maker?.permissions.has(permissionOf(endpoint)) || !sees(maker, waiting.productID))
    throw conflict('maker_may_not', `${waiting.username} no longer has the rights for this.`)
  const taken = takenBy(maker, kept)
  const done = await perform(endpoint, taken, tx)
  if (done.refusal) throw done.refusal
  try {
    desk.conditionOf(endpoint, taken.headers)?.(done)
  } catch (error) {
    // The If-Match header is the maker's. An approver cannot read the record and send it again.
    throw error instanceof Refusal ? outdated() : error
  }
  return done
}

/**
 * Whether the maker still sees the product. Without this check the write would answer that the
 * record does not exist, although the approver can see it.
 */
const sees = ({ productIDs }: Actor, productID: number | null) =>
  productIDs === null || productID === null || productIDs.includes(productID)

const keptOf = ({ sealed }: ApprovalDesk, { request }: Waiting) =>
  JSON.parse(sealed.unseal(request)) as KeptRequest

/** A kept request as it came, with the actor on whose behalf it is done now. */
const takenBy = (actor: Actor, { query, body, isList, ifMatch, secret }: KeptRequest): Taken => ({
  query,
  body,
  pathOf: itemPath(isList ? [] : {}),
  actor,
  headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
  address: '',
  caller: `user ${actor.userID}`,
  secret,
})

/** Refuses an approver who has a part in what the request is about: they are no second person. */
async function refuseInvolved(
  tx: Tx,
  desk: ApprovalDesk,
  actor: Actor,
  endpoint: WriteEndpoint,
  waiting: Waiting,
) {
  if (endpoint.kind === 'write')
    await endpoint.refuseApprover?.(takenBy(actor, keptOf(desk, waiting)), tx)
}

/** Refuses if the write has done something other than what its approvers were shown. */
function refuseOther(
  { changes }: Waiting,
  { subject }: KeptRequest,
  done: Written,
  isOfNew: boolean,
) {
  const isOther = changesElse(JSON.parse(changes), JSON.parse(JSON.stringify(done.changes ?? null)))
  if (isOther || isElsewhere(subject, subjectOf(done, isOfNew))) throw outdated()
}

const outdated = () =>
  new Refusal(412, [
    {
      code: 'changed_meanwhile',
      message:
        'The data has changed since the request was made. Reject it, and have it made again.',
    },
  ])

/** Does a write inside a transaction that is already open. */
function perform(endpoint: WriteEndpoint, taken: Taken, tx: Tx): Promise<Written> {
  return endpoint.kind === 'shared'
    ? endpoint.alone(taken, tx)
    : endpoint.write(taken as Request<unknown, never>, tx) // uploads never wait: see canWait
}

async function decided(
  tx: Tx,
  { actor, desk }: Decider,
  { approvalID, productID }: Waiting,
  message: string,
  type?: EventType,
): Promise<Written> {
  const about = { ids: [approvalID], productID: productID ?? undefined }
  return {
    ...(await shownApproval(tx, actor, desk, approvalID)),
    ...about,
    message,
    changes: { approvalID },
    events: type ? [{ type, resource: 'Approval', ...about }] : [],
  }
}

export async function reject(
  tx: Tx,
  desk: ApprovalDesk,
  actor: Actor,
  { approvalID, reason }: Rejection,
): Promise<Written> {
  const decider = { actor, desk }
  const waiting = await lockPending(tx, decider, approvalID)
  refuseDecider(desk, actor, waiting)
  await end(tx, desk, waiting, { state: 'Rejected', reason })
  const rejected = await decided(tx, decider, waiting, 'Rejected.', 'approval.rejected')
  return { ...rejected, changes: { state: 'Rejected', reason } }
}

/** Cancels the caller's own request before it is decided. */
export async function cancel(
  tx: Tx,
  desk: ApprovalDesk,
  actor: Actor,
  { approvalID }: ApprovalKey,
): Promise<Written> {
  const decider = { actor, desk }
  const waiting = await lockPending(tx, decider, approvalID)
  if (waiting.userID !== actor.userID)
    throw forbidden(
      'not_own_request',
      'Only the user who made the request can cancel it; you can reject it.',
    )
  await end(tx, desk, waiting, { state: 'Cancelled' })
  const cancelled = await decided(tx, decider, waiting, 'Cancelled.', 'approval.cancelled')
  return { ...cancelled, changes: { state: 'Cancelled' } }
}

async function end(
  tx: Tx,
  desk: ApprovalDesk,
  { approvalID }: ApprovalKey,
  { state, reason }: { state: string; reason?: string },
) {
  await tx.query(keepCounted(desk.writes(), approvalID))
  await tx.query(sql`
    update approval set state = ${state}, reason = ${reason ?? null}, decided_date = now()
    where approval_id = ${approvalID}`)
}
