import sql, { raw } from 'sql-template-tag'
import { productReference } from '../../catalogue/product/schema.ts'
import { type Actor, inLedgerScope, inScope } from '../../platform/actor.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Code } from '../../platform/problem-codes.ts'
import type { Problem } from '../../platform/refusal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import {
  type Located,
  locateAll,
  namesAny,
  noSuch,
  reference,
} from '../../platform/sql/identify.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import { leftOf } from './left.ts'

const event = {
  what: 'event notice',
  table: 'biz_event',
  columns: ['biz_event_id', 'external_transaction_id'],
  inProduct: true,
  inLedger: true,
} as const
export const eventReference = reference(event, ['bizEventID', 'externalTransactionId'])

/** What the hand-off needs of a posting, which may name a notice and take fields from it. */
type Taker = {
  operation: string
  path: string
  body: object
  events: readonly TakenEvent[]
  request: number
}

/** A notice that a posting settles, with the account and investment that the posting must have. */
export type TakenEvent = { id: number; accountID: number; investmentID: number }

type Refused<T> = {
  item: T
  status: 400 | 404 | 409
  problem: Problem
  /** The refusal is due to another request in the same list. */
  contested?: boolean
}

type EventRow = {
  root: number
  bizEventID: number
  productID: number
  typeID: number
  statusID: number
  accountID: number
  investmentID: number
  date: string
  amount: string | null
  quantity: string | null
  comment: string | null
  methodID: number | null
  factor: string | null
  /** Null once a transaction has it: the rest of a notice settled in part has no external id. */
  externalID: string | null
  entryFeeAmount: string | null
  entryFeeDiscountPercentage: string | null
  entryFeeOverridePercentage: string | null
  entryFeePercentage: string | null
}

const { BizEventType: types, BizEventStatus: statuses, ConversionMethod: methods } = lookups

/**
 * Takes the notices that postings name: locks them, refuses notices that are not pending, and fills
 * fields that a posting leaves out from its notice. Notices are always locked before any account.
 */
export async function takeEvents<T extends Taker>(
  tx: Tx,
  actor: Actor,
  takers: readonly T[],
): Promise<{ items: T[]; flaws: Refused<T>[] }> {
  const naming = takers.filter(({ body }) => namesAny(eventReference, body))
  if (naming.length === 0) return { items: [...takers], flaws: [] }
  const located = await locateEvents(tx, actor, naming)
  const families = await familiesOf(tx, actor, located)
  const handed = new Map<T, T>()
  const firsts = new Map<EventRow[], T>()
  const flaws = naming.flatMap((item, i): Refused<T>[] => {
    const one = located[i]! // there is an entry for each item in `naming`
    if ('problem' in one) return [{ item, status: one.status, problem: one.problem }]
    const family = families.get(one.id)
    // Deleting an entity deletes its cancelled notices: this one was deleted since it was located.
    if (!family) return goneOf(item)
    const first = firsts.get(family)
    firsts.set(family, first ?? item)
    const problem = flawOf(item, family, first !== undefined)
    if (!problem) handed.set(item, hand(item, family))
    const contested = first !== undefined && first.request !== item.request
    return problem ? [{ item, status: 409, problem, contested }] : []
  })
  return { items: takers.map((item) => handed.get(item) ?? item), flaws }
}

const goneOf = <T extends Taker>(item: T): Refused<T>[] =>
  noSuch(eventReference, item.body, item.path).problems.map((problem) => ({
    item,
    status: 404,
    problem,
  }))

/** Locks the notices that were found; gives each with the other half of its conversion, by id. */
async function familiesOf(tx: Tx, actor: Actor, located: readonly Located[]) {
  const ids = located.flatMap((one) => ('id' in one ? [one.id] : []))
  const rows = ids.length > 0 ? await lockEvents(tx, actor, ids) : []
  const roots = [...new Set(rows.map(({ root }) => root))]
  const families = new Map(roots.map((root) => [root, rows.filter((row) => row.root === root)]))
  return new Map(rows.map(({ bizEventID, root }) => [bizEventID, families.get(root)!]))
}

async function locateEvents(tx: Tx, actor: Actor, naming: readonly Taker[]) {
  const bodies = naming.map(({ body }) => body)
  const path = (i: number) => naming[i]?.path ?? ''
  const products = await locateAll(tx, productReference, bodies, {
    visible: inScope(actor, 'r.product_id'),
    path,
  })
  const events = await locateAll(tx, eventReference, bodies, {
    visible: inLedgerScope(actor, 'r.product_id'),
    productIDs: products.map((one) => ('id' in one ? one.id : undefined)),
    path,
  })
  return events.map((event, i) => {
    const product = products[i]!
    // A posting that names no product takes that of its notice.
    const isMissing = 'problem' in product && namesAny(productReference, bodies[i]!)
    return isMissing ? product : event
  })
}

/** Locks notices, with the other halves of their conversions, product by product. */
export async function lockEvents(tx: Tx, actor: Actor, ids: number[]): Promise<EventRow[]> {
  // Read without a lock: which halves belong together never changes.
  const families = await tx.query<{ productID: number; roots: string[] }>(sql`
    select product_id as "productID",
      array_agg(distinct coalesce(parent_biz_event_id, biz_event_id)::text) as roots
    from biz_event e
    where ${inLedgerScope(actor, 'e.product_id')} and e.biz_event_id = any(${ids}::bigint[])
    group by product_id order by product_id`)
  const locked: EventRow[] = []
  for (const { productID, roots } of families)
    locked.push(...(await lockFamilies(inProduct(tx, productID), productID, roots)))
  return locked
}

const left = raw(`${leftOf('e.amount')} as amount, ${leftOf('e.quantity')} as quantity`)

const lockFamilies = (tx: Tx, productID: number, roots: string[]) =>
  tx.query<EventRow>(sql`
    select coalesce(e.parent_biz_event_id, e.biz_event_id) as root,
      e.biz_event_id as "bizEventID", e.product_id as "productID",
      e.biz_event_type_id as "typeID", e.biz_event_status_id as "statusID",
      e.account_id as "accountID", e.investment_id as "investmentID", e.biz_event_date as date,
      ${left}, e.comment, e.conversion_method_id as "methodID",
      e.conversion_factor as factor,
      case when not exists (select 1 from biz_transaction t
        where t.product_id = e.product_id
          and t.external_biz_transaction_id = e.external_transaction_id
          and t.biz_event_id = e.biz_event_id
          and ${raw(counts('t'))})
        then e.external_transaction_id end as "externalID",
      case when e.entry_fee_amount < 0 then 0 else e.entry_fee_amount end as "entryFeeAmount",
      e.entry_fee_discount_percentage as "entryFeeDiscountPercentage",
      e.entry_fee_override_percentage as "entryFeeOverridePercentage",
      e.entry_fee_percentage as "entryFeePercentage"
    from biz_event e
    where e.product_id = ${productID}
      and (e.biz_event_id = any(${roots}::bigint[])
        or e.parent_biz_event_id = any(${roots}::bigint[]))
    order by e.biz_event_id for update`)

const oneOf =
  (type: number) =>
  ([first, ...others]: EventRow[]) =>
    others.length === 0 && first?.typeID === type
const settledBy: Record<string, (family: EventRow[]) => boolean> = {
  Deposit: oneOf(types.Deposit),
  Allotment: oneOf(types.Deposit),
  Redemption: oneOf(types.Redemption),
  Conversion: (family) => family.length === 2,
}

function flawOf({ operation, path, body }: Taker, family: EventRow[], isTaken: boolean) {
  const { bizEventID, externalTransactionId } = body as Record<string, unknown>
  const problem = (code: Code, words: string): Problem => ({
    code,
    field: inside(path, 'bizEventID'),
    message: `The event notice ${bizEventID ?? externalTransactionId} ${words}.`,
  })
  if (!settledBy[operation]?.(family))
    return problem('wrong_event', `is not settled by a ${operation}`)
  if (isTaken || family.some(({ statusID }) => statusID !== statuses.Pending))
    return problem('event_not_pending', 'is not pending')
  return undefined
}

/** Fields that a notice offers together: none if the posting has any of them or of `unless`. */
type Offer = { fields: Record<string, unknown>; unless?: string[] }

/** The posting, with fields that it left out filled in from its notice. */
function hand<T extends Taker>(taker: T, family: EventRow[]): T {
  const [first, second] = family as [EventRow, EventRow?] // a notice is one, or two of a conversion
  const own = second ? offersOfConversion(first, second) : offersOfOne(taker.operation, first)
  const body: Record<string, unknown> = { ...taker.body }
  for (const { fields, unless = [] } of [...offersOfAny(first), ...own])
    if (![...Object.keys(fields), ...unless].some((field) => body[field] !== undefined))
      Object.assign(body, withoutNulls(fields))
  return { ...taker, body, events: family.map(taken) }
}

const taken = ({ bizEventID, accountID, investmentID }: EventRow): TakenEvent => ({
  id: bizEventID,
  accountID,
  investmentID,
})

const withoutNulls = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

const offersOfAny = ({ productID, accountID, date, comment }: EventRow): Offer[] => [
  { fields: { productID }, unless: ['externalProductId'] },
  { fields: { accountID }, unless: ['externalAccountId'] },
  { fields: { transactionDate: date } },
  { fields: { comment } },
]

function offersOfOne(operation: string, own: EventRow): Offer[] {
  const { investmentID, externalID, amount, quantity, entryFeeAmount } = own
  const { entryFeeDiscountPercentage, entryFeeOverridePercentage, entryFeePercentage } = own
  return [
    { fields: { investmentID }, unless: ['externalInvestmentId', 'securityCode'] },
    { fields: { externalBizTransactionId: externalID } },
    { fields: operation === 'Deposit' ? { amount } : { amount, quantity } },
    {
      fields: {
        entryFeeAmount,
        entryFeeDiscountPercentage,
        entryFeeOverridePercentage,
        entryFeePercentage,
      },
    },
  ]
}

const offersOfConversion = (from: EventRow, to: EventRow): Offer[] => [
  {
    fields: { fromInvestmentID: from.investmentID },
    unless: ['fromExternalInvestmentId', 'fromSecurityCode'],
  },
  {
    fields: { toInvestmentID: to.investmentID },
    unless: ['toExternalInvestmentId', 'toSecurityCode'],
  },
  { fields: { fromExternalBizTransactionId: from.externalID } },
  { fields: { toExternalBizTransactionId: to.externalID } },
  { fields: { amount: from.amount, quantity: from.quantity } },
  {
    fields: {
      conversionFactor: from.factor,
      conversionMethod: from.methodID === methods.Factor ? 'Factor' : 'Price',
    },
  },
]
