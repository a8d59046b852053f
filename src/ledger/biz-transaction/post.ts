import type { Actor } from '../../platform/actor.ts'
import { Refusal } from '../../platform/refusal.ts'
import { sharesOf, soleProduct } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { completedNotices, completeEvents } from '../biz-event/settle.ts'
import { accept } from './accept.ts'
import {
  type Accepted,
  type Flaw,
  type Item,
  type Posted,
  type PostingRequest,
  whole,
} from './item.ts'
import { price } from './price.ts'
import { renderPerRequest } from './sql.ts'
import { Contested, type Outcome, write } from './write.ts'

/**
 * Posts several requests, each accepted or refused by itself, in a number of SQL statements that
 * does not depend on how many requests there are. All callers must see the same products. Without
 * `waits`, a request whose account is locked by another is contested. A request that is alone is
 * refused by throwing, to undo what may be written by then: an array may be of several products.
 * With `unread` no answers are rendered.
 */
export async function post(
  tx: Tx,
  actor: Actor,
  requests: readonly PostingRequest[],
  how: { waits: boolean; unread?: boolean },
): Promise<(Written | Refusal)[]> {
  const accepted = await accept(tx, actor, itemsOf(requests))
  const priced = await price(tx, accepted.rows)
  const flaws = [...accepted.flaws, ...priced.flaws]
  const flawed = new Map(requests.map((_, request) => [request, refusalOf(flaws, request)]))
  const sound = whole(priced.rows, flaws).filter(({ item }) => !flawed.get(item.request))
  const { written, refused } = await write(tx, sound, how)
  const refusals = requests.map((_, request) => flawed.get(request) ?? refused.get(request))
  if (refusals.length === 1 && refusals[0]) throw refusals[0]
  const completed = await completeEvents(tx, written.map(settling))
  return answer(tx, requests, {
    accepted: accepted.rows,
    written,
    refusals,
    completed,
    unread: how.unread ?? false,
  })
}

const itemsOf = (requests: readonly PostingRequest[]): Item[] =>
  requests
    .flatMap(({ operation, bodies, path }, request) =>
      bodies.map((body, i) => ({ request, operation, body, path: path(i) })),
    )
    .map((item, place) => ({ ...item, place, events: [] }))

/** A written leg as completeEvents takes it, with the notice that it settles, if any. */
const settling = ({ id, leg, productID, item, figures }: Posted) => ({
  id,
  productID,
  item: item.place,
  leg,
  event: item.events[leg],
  isPartial: item.body.partial === true,
  amount: figures.amount,
  quantity: figures.quantity,
  fee: figures.fee,
})

/** Everything wrong with a request that has the gravest kind of flaw: 400 before 404 before 409. */
function refusalOf(flaws: readonly Flaw[], request: number): Refusal | undefined {
  const own = flaws.filter(({ item }) => item.request === request)
  if (own.length === 0) return undefined
  const status = Math.min(...own.map((flaw) => flaw.status))
  const problems = own.filter((flaw) => flaw.status === status).map(({ problem }) => problem)
  // Two legs may have the same problem; it is reported once.
  const told = new Map(problems.toReversed().map((problem) => [problem.message, problem]))
  const each = problems.filter((problem) => told.get(problem.message) === problem)
  return own.some(({ contested }) => contested)
    ? new Contested(status, each)
    : new Refusal(status, each)
}

type Answering = {
  accepted: readonly Accepted[]
  written: Outcome['written']
  refusals: readonly (Refusal | undefined)[]
  /** The ids of the notices that the postings completed. */
  completed: ReadonlySet<number>
  unread: boolean
}

/** Each request's transactions in the order asked, rendered in one SQL statement per product. */
async function answer(
  tx: Tx,
  requests: readonly PostingRequest[],
  { accepted, written, refusals, completed, unread }: Answering,
): Promise<(Written | Refusal)[]> {
  const shown = unread ? [] : written
  const rendered = await renderPerRequest(
    tx,
    shown.map(({ item, productID, id }) => ({ request: item.request, productID, id })),
  )
  const writtenOf = grouped(written)
  const acceptedOf = grouped(accepted)
  return requests.map(({ bodies }, request): Written | Refusal => {
    const refusal = refusals[request]
    if (refusal) return refusal
    const own = writtenOf.get(request) ?? []
    const ids = own.map(({ id }) => id)
    const [lone] = bodies
    return {
      json: rendered.get(request) ?? '[]',
      recordCount: ids.length,
      ids,
      productID: soleProduct(acceptedOf.get(request) ?? []),
      shares: sharesOf(own),
      events: completedNotices(own.map(settling), completed),
      changes: bodies.length > 1 ? bodies : lone,
      ...(ids.length === 0 && { message: 'The quantity is that already; nothing was posted.' }),
    }
  })
}

/** Groups rows by the place of their request. */
function grouped<Row extends { item: Item }>(rows: readonly Row[]) {
  const groups = new Map<number, Row[]>()
  for (const row of rows) {
    const group = groups.get(row.item.request)
    if (group) group.push(row)
    else groups.set(row.item.request, [row])
  }
  return groups
}
