import sql from 'sql-template-tag'
import { productReference } from '../../catalogue/product/schema.ts'
import { type Actor, inLedgerScope, inScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Problem } from '../../platform/refusal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { locateAll, namesAny, reference } from '../../platform/sql/identify.ts'

const event = {
  what: 'event notice',
  table: 'biz_event',
  columns: ['biz_event_id', 'external_transaction_id'],
  inProduct: true,
} as const
export const eventReference = reference(event, ['bizEventID', 'externalTransactionId'])

/** What the hand-off needs to know of a posting: it may name a notice, and take fields from it. */
type Taker = {
  kind: string
  path: string
  body: Record<string, unknown>
  eventIDs: number[]
  flaws: { status: 400 | 404 | 409; problem: Problem }[]
  request: number
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
  externalID: string | null
  entryFeeAmount: string | null
  entryFeeDiscountPercentage: string | null
  entryFeeOverridePercentage: string | null
  entryFeePercentage: string | null
}

const { BizEventType: types, BizEventStatus: statuses, ConversionMethod: methods } = lookups

/**
 * Takes the notices that postings name: locks them, refuses those that are not pending, and lets
 * the fields a posting leaves out come from its notice. Notices are locked before any account.
 */
export async function takeEvents(tx: Tx, actor: Actor, takers: Taker[]) {
  const naming = takers.filter(({ body }) => namesAny(eventReference, body))
  if (naming.length === 0) return
  const found = await locateEvents(tx, actor, naming)
  const families = await lockEvents(
    tx,
    actor,
    found.flatMap((id) => id ?? []),
  )
  const taken = new Map<number, Taker>()
  for (const [i, taker] of naming.entries()) {
    const id = found[i]
    if (!id) continue
    const { root } = families.find(({ bizEventID }) => bizEventID === id)!
    const family = families.filter((other) => other.root === root)
    const first = taken.get(root)
    const flaw = flawOf(taker, family, first)
    if (flaw) taker.flaws.push({ status: 409, problem: flaw })
    else hand(taker, family)
    if (first && first.request !== taker.request) taker.contested = true
    taken.set(root, first ?? taker)
  }
}

async function locateEvents(tx: Tx, actor: Actor, naming: Taker[]) {
  const products = await locateAll(
    tx,
    productReference,
    naming.map(({ body }) => body),
    { visible: inScope(actor, 'r.product_id') },
  )
  const located = await locateAll(
    tx,
    eventReference,
    naming.map(({ body }) => body),
    {
      visible: inLedgerScope(actor, 'r.product_id'),
      productIDs: products.map((one) => ('id' in one ? one.id : undefined)),
      path: (i) => naming[i]!.path,
    },
  )
  return located.map((one, i): number | undefined => {
    if (!('problem' in one)) return one.id
    naming[i]!.flaws.push(one)
    return undefined
  })
}

/** The notices named, each with the other half of its conversion, locked product by product. */
export async function lockEvents(tx: Tx, actor: Actor, ids: number[]): Promise<EventRow[]> {
  // Which halves belong together is settled when they are written.
  const families = await tx.query<{ productID: number; roots: string[] }>(sql`
    select product_id as "productID",
      array_agg(distinct coalesce(parent_biz_event_id, biz_event_id)::text) as roots
    from biz_event e
    where ${inLedgerScope(actor, 'e.product_id')} and e.biz_event_id = any(${ids}::bigint[])
    group by product_id order by product_id`)
  const locked: EventRow[] = []
  for (const { productID, roots } of families)
    locked.push(...(await lockFamilies(tx, productID, roots)))
  return locked
}

const lockFamilies = (tx: Tx, productID: number, roots: string[]) =>
  tx.query<EventRow>(sql`
    select coalesce(e.parent_biz_event_id, e.biz_event_id) as root,
      e.biz_event_id as "bizEventID", e.product_id as "productID",
      e.biz_event_type_id as "typeID", e.biz_event_status_id as "statusID",
      e.account_id as "accountID", e.investment_id as "investmentID", e.biz_event_date as date,
      e.amount, e.quantity, e.comment, e.conversion_method_id as "methodID",
      e.conversion_factor as factor, e.external_transaction_id as "externalID",
      e.entry_fee_amount as "entryFeeAmount",
      e.entry_fee_discount_percentage as "entryFeeDiscountPercentage",
      e.entry_fee_override_percentage as "entryFeeOverridePercentage",
      e.entry_fee_percentage as "entryFeePercentage"
    from biz_event e
    where e.product_id = ${productID}
      and (e.biz_event_id = any(${roots}::bigint[])
        or e.parent_biz_event_id = any(${roots}::bigint[]))
    order by e.biz_event_id for update`)

const settledBy: Record<string, (family: EventRow[]) => boolean> = {
  Deposit: (family) => family.length === 1 && family[0]!.typeID === types.Deposit,
  Allotment: (family) => family.length === 1 && family[0]!.typeID === types.Deposit,
  Redemption: (family) => family.length === 1 && family[0]!.typeID === types.Redemption,
  Conversion: (family) => family.length === 2,
}

function flawOf({ kind, path, body }: Taker, family: EventRow[], first: Taker | undefined) {
  const name = body.bizEventID ?? body.externalTransactionId
  const field = inside(path, 'bizEventID')
  const problem = (code: string, words: string): Problem => ({
    code,
    field,
    message: `The event notice ${name} ${words}.`,
  })
  if (!settledBy[kind]?.(family)) return problem('wrong_event', `is not settled by a ${kind}`)
  if (first || family.some(({ statusID }) => statusID !== statuses.Pending))
    return problem('event_not_pending', 'is not pending')
  return undefined
}

/** Fields a notice offers together; none is taken where the posting gives any, or one of these. */
type Offer = { fields: Record<string, unknown>; unless?: string[] }

/** The fields left out come from the notice. */
function hand(taker: Taker, [first, second]: EventRow[]) {
  const own = second ? offersOfConversion(first!, second) : offersOfOne(taker.kind, first!)
  const body = { ...taker.body }
  for (const { fields, unless = [] } of [...offersOfAny(first!), ...own])
    if (![...Object.keys(fields), ...unless].some((field) => body[field] !== undefined))
      Object.assign(body, withoutNulls(fields))
  taker.body = body
  taker.eventIDs = [first!, ...(second ? [second] : [])].map(({ bizEventID }) => bizEventID)
}

const withoutNulls = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))

const offersOfAny = ({ productID, accountID, date, comment }: EventRow): Offer[] => [
  { fields: { productID }, unless: ['externalProductId'] },
  { fields: { accountID }, unless: ['externalAccountId'] },
  { fields: { transactionDate: date } },
  { fields: { comment } },
]

function offersOfOne(kind: string, own: EventRow): Offer[] {
  const { investmentID, externalID, amount, quantity, entryFeeAmount } = own
  const { entryFeeDiscountPercentage, entryFeeOverridePercentage, entryFeePercentage } = own
  return [
    { fields: { investmentID }, unless: ['externalInvestmentId', 'securityCode'] },
    { fields: { externalBizTransactionId: externalID } },
    { fields: kind === 'Deposit' ? { amount } : { amount, quantity } },
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

/** A written leg and the item whose notices it may settle. */
type Settling = {
  id: number | undefined
  leg: number
  productID: number
  item: { eventIDs: number[] }
}

/** Each notice is completed by the transaction of its leg. */
export async function completeEvents(tx: Tx, rows: Settling[]) {
  const links = rows.flatMap(({ id, leg, productID, item }) =>
    id !== undefined && item.eventIDs[leg] ? [{ id, productID, event: item.eventIDs[leg]! }] : [],
  )
  if (links.length === 0) return
  await tx.query(sql`
    update biz_event e set biz_event_status_id = ${statuses.Completed}, updated_date = now(),
      parent_biz_transaction_id = g.transaction_id
    from unnest(${links.map(({ productID }) => productID)}::int[],
      ${links.map(({ event }) => event)}::bigint[], ${links.map(({ id }) => id)}::bigint[])
      g (product_id, event_id, transaction_id)
    where e.product_id = g.product_id and e.biz_event_id = g.event_id`)
}
