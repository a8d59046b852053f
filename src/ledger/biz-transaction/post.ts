import sql, { raw } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { type Problem, Refusal } from '../../platform/refusal.ts'
import { compareDecimals, decimalDigits } from '../../platform/shape/decimal.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { completeEvents, takeEvents } from '../biz-event/hand-off.ts'
import { type Figures, workOutFigures } from './figures.ts'
import { addFlaws, type Item, type Row } from './item.ts'
import { type Body, type Kind, latestDate, problemsOf } from './legs.ts'
import { resolve } from './resolve.ts'
import { setQuantities } from './set-quantity.ts'
import { renderPerRequest } from './sql.ts'
import {
  append,
  appendEach,
  insertUncounted,
  type Locked,
  lockAccounts,
  newTransactionIDs,
  postingColumns,
  recount,
  type Shortfall,
  touchedAccounts,
} from './units.ts'

/** One call of a posting operation: its bodies stand or fall together. */
export type PostingRequest = { kind: Kind; bodies: Body[]; path: (item: number) => string }

/** A refusal because of what another request in the list does; alone this one may pass. */
export class Contested extends Refusal {}

/**
 * Posts what several requests ask for, each accepted or refused by itself: resolves, prices, locks,
 * checks, writes, in a number of statements that does not depend on how many they are. The requests
 * come from callers who see the same products. Without `waits`, one whose account is locked by
 * somebody else is contested. One that is alone is refused by throwing: of an array over several
 * products some may have been written by then.
 */
export async function post(
  tx: Tx,
  actor: Actor,
  requests: readonly PostingRequest[],
  waits: boolean,
): Promise<(Written | Refusal)[]> {
  const items = requests.flatMap(itemsOf)
  await takeEvents(tx, actor, items)
  const latest = latestDate()
  // What a refused notice would have filled in is not asked for.
  for (const item of items.filter(({ flaws }) => flaws.length === 0))
    addFlaws(item, 400, problemsOf(item, latest))
  const rows = await resolve(tx, actor, items)
  await price(tx, rows)
  await refuseTaken(tx, rows)
  const refusals = requests.map((_, request) => refusalOf(items, request))
  const accepted = rows.filter(({ item }) => !refusals[item.request])
  await write(tx, accepted, refusals, waits)
  if (refusals.length === 1 && refusals[0]) throw refusals[0]
  await completeEvents(
    tx,
    accepted.filter(({ item }) => !refusals[item.request]),
  )
  return answer(tx, requests, rows, refusals)
}

const itemsOf = ({ kind, bodies, path }: PostingRequest, request: number): Item[] =>
  bodies.map((body, i) => ({
    request,
    kind,
    body,
    path: path(i),
    eventIDs: [],
    flaws: [],
  }))

/** Everything wrong with a request that has the gravest kind of flaw: 400 before 404 before 409. */
function refusalOf(items: Item[], request: number): Refusal | undefined {
  const own = items.filter((item) => item.request === request)
  const flaws = own.flatMap((item) => item.flaws)
  if (flaws.length === 0) return undefined
  const status = Math.min(...flaws.map((flaw) => flaw.status))
  const problems = flaws.filter((flaw) => flaw.status === status).map(({ problem }) => problem)
  return own.some(({ contested }) => contested)
    ? new Contested(status, problems)
    : new Refusal(status, problems)
}

async function price(tx: Tx, rows: Row[]) {
  const whole = rows.filter(({ item }) => item.flaws.length === 0)
  if (whole.length === 0) return
  const numbers = new Map([...new Set(whole.map(({ item }) => item))].map((item, i) => [item, i]))
  const figures = await workOutFigures(
    tx,
    whole.map((row, place) => ({
      place,
      item: numbers.get(row.item)!,
      type_id: row.typeID,
      investment_id: row.investmentID,
      transaction_date: row.item.body.transactionDate!,
      quantity: row.quantity,
      amount: row.amount,
      price: row.price,
      fee: row.fee?.entryFeeAmount,
      fee_override: row.fee?.entryFeeOverridePercentage,
      fee_percentage: row.fee?.entryFeePercentage,
      fee_discount: row.fee?.entryFeeDiscountPercentage,
      factor: row.conversion?.factor,
    })),
  )
  for (const [place, row] of whole.entries()) {
    row.figures = figures[place]!
    checkFigures(row, row.figures)
    // Money does not change its currency on the way, and no rate is known here.
    if (row.figures.currencyID !== row.first!.figures!.currencyID)
      addFlaws(row.item, 400, [
        { code: 'other_currency', message: 'Both investments must be in the same currency.' },
      ])
  }
}

/**
 * External ids that are taken, by the ledger or earlier in the list. The unique index has the last
 * word; asking first lets one duplicate be refused without undoing its neighbours.
 */
async function refuseTaken(tx: Tx, rows: Row[]) {
  const naming = rows.filter(({ externalID, item }) => externalID && item.flaws.length === 0)
  if (naming.length === 0) return
  const taken = await tx.query<{ productID: number; externalID: string }>(sql`
    select t.product_id as "productID", t.external_biz_transaction_id as "externalID"
    from unnest(${naming.map(({ productID }) => productID)}::int[],
      ${naming.map(({ externalID }) => externalID)}::text[]) g (product_id, external_id)
    join biz_transaction t on t.product_id = g.product_id
      and t.external_biz_transaction_id = g.external_id`)
  const inLedger = new Set(taken.map(({ productID, externalID }) => `${productID} ${externalID}`))
  const asked = new Map<string, number>()
  for (const row of naming) {
    const name = `${row.productID} ${row.externalID}`
    const first = asked.get(name) ?? row.item.request
    if (inLedger.has(name) || asked.has(name)) addFlaws(row.item, 409, [duplicate(row)])
    if (!inLedger.has(name) && first !== row.item.request) row.item.contested = true
    asked.set(name, first)
  }
}

function duplicate({ item: { path }, externalID, externalIDField }: Row): Problem {
  const field = externalIDField ?? 'externalBizTransactionId'
  const name = JSON.stringify(externalID)
  return {
    code: 'duplicate',
    field: path ? `${path}.${field}` : field,
    message: `A transaction of this product has the externalBizTransactionId ${name} already.`,
  }
}

const { BizTransactionType: types } = lookups
const takesMoneyIn = new Set<number>([types.Deposit, types.Allotment, types['Conversion in']])

function checkFigures({ item, typeID }: Row, { isActive, quantity, amount, fee }: Figures) {
  const at = (field: string) => (item.path ? `${item.path}.${field}` : field)
  const problem = (status: 400 | 409, code: string, field: string, message: string) =>
    addFlaws(item, status, [{ code, field: at(field), message }])
  if (!isActive && takesMoneyIn.has(typeID))
    problem(409, 'investment_inactive', 'investmentID', 'The investment takes no new money.')
  if (quantity === null || amount === null)
    problem(
      400,
      'no_price',
      'investmentPrice',
      `There is no price on or before ${item.body.transactionDate}: give investmentPrice, or ` +
        'both amount and quantity.',
    )
  else if (Number(quantity) === 0 && typeID !== types['Set quantity'])
    problem(400, 'too_small', 'quantity', 'This comes to no units at all after rounding.')
  else if (typeID === types.Deposit && compareDecimals(fee, amount) > 0)
    problem(400, 'invalid_value', 'entryFeeAmount', 'The entry fee is more than the amount.')
  // What a set quantity posts is known only when its account is locked.
  if (typeID !== types['Set quantity']) addFlaws(item, 400, tooLarge(item, { quantity, amount }))
}

const tooLarge = ({ path }: Item, figures: Pick<Figures, 'quantity' | 'amount'>): Problem[] =>
  (['quantity', 'amount'] as const).flatMap((field) =>
    (figures[field]?.length ?? 0) > decimalDigits && /^-?\d{19}/.test(figures[field]!)
      ? {
          code: 'out_of_range',
          field: path ? `${path}.${field}` : field,
          message: `The ${field} comes to more than ${decimalDigits} digits.`,
        }
      : [],
  )

/** By product, in the order of their ids. */
async function write(tx: Tx, rows: Row[], refusals: (Refusal | undefined)[], waits: boolean) {
  const products = [...new Set(rows.map(({ productID }) => productID))].sort((a, b) => a - b)
  for (const productID of products) {
    const own = rows.filter((row) => row.productID === productID)
    while (!(await writeOnce(tx, productID, { rows: own, refusals, waits })));
  }
}

type Attempt = { rows: Row[]; refusals: (Refusal | undefined)[]; waits: boolean }

/**
 * An account must not keep the row that it got for a first transaction which then is refused, or
 * turns out to be none. If that happens everything is undone, and done again without.
 */
async function writeOnce(tx: Tx, productID: number, { rows, refusals, waits }: Attempt) {
  const left = rows.filter((row) => isWritten(row, refusals) || row.target === undefined)
  const own = left.filter(({ item }) => !refusals[item.request])
  if (own.length === 0) return true
  let undo: (() => Promise<unknown>) | undefined
  const locked = await lockAccounts(tx, productID, own.map(accountOf), waits, async () => {
    undo = await savepoint(tx, 'accounts')
  })
  for (const { accountID, item } of own)
    if (!locked.has(accountID)) refusals[item.request] ??= new Contested(409, [])
  await setQuantities(tx, productID, own)
  for (const { item, figures } of own) {
    const problems = tooLarge(item, figures!)
    if (problems.length > 0) refusals[item.request] ??= new Refusal(400, problems)
  }
  await writeProduct(tx, productID, { rows: own, locked, refusals })
  const written = new Set(own.filter((row) => isWritten(row, refusals)).map(accountOf))
  const isEmpty = [...locked].some(([id, lastDate]) => lastDate === null && !written.has(id))
  if (undo && isEmpty) await undo()
  return !(undo && isEmpty)
}

const isWritten = ({ item, figures }: Row, refusals: (Refusal | undefined)[]) =>
  !refusals[item.request] && !isNone(figures!.quantity)
const accountOf = ({ accountID }: Row) => accountID

type Writing = { rows: Row[]; locked: Locked; refusals: (Refusal | undefined)[] }

/** Leaves out, again and again, what would make a holding negative; the rest goes in together. */
async function writeProduct(tx: Tx, productID: number, { rows, locked, refusals }: Writing) {
  for (;;) {
    const left = rows.filter((row) => isWritten(row, refusals))
    if (left.length === 0) return
    const shortfalls = await writeRows(tx, productID, left, locked)
    if (shortfalls.length === 0) return
    await refuseShort(tx, left, shortfalls, refusals)
  }
}

const isNone = (quantity: string | null) => !/[1-9]/.test(quantity ?? '')

/** Accounts that only append are one statement; those whose past changes are counted anew. */
async function writeRows(tx: Tx, productID: number, rows: Row[], locked: Locked) {
  const ids = await newTransactionIDs(tx, rows.length)
  for (const [i, row] of rows.entries()) row.id = ids[i]!
  const rewinding = new Set(
    rows.flatMap(({ accountID, item }) =>
      item.body.transactionDate! < (locked.get(accountID) ?? '') ? [accountID] : [],
    ),
  )
  const appended = rows.filter(({ accountID }) => !rewinding.has(accountID))
  const inserted = rows.filter(({ accountID }) => rewinding.has(accountID))
  const undo = inserted.length > 0 ? await savepoint(tx, 'posting') : undefined
  const shortfalls = [
    ...(inserted.length > 0 ? await insert(tx, productID, inserted) : []),
    ...(appended.length > 0 ? await appendRows(tx, productID, appended) : []),
  ]
  if (shortfalls.length > 0) await undo?.()
  return shortfalls
}

/**
 * Most postings are alone for their account and add units, which is half the work. Those with
 * external ids stay together: in two statements they would not be written in one order.
 */
async function appendRows(tx: Tx, productID: number, rows: Row[]) {
  const count = new Map<number, number>()
  for (const { accountID } of rows) count.set(accountID, (count.get(accountID) ?? 0) + 1)
  const isSimple = ({ accountID, figures }: Row) =>
    count.get(accountID) === 1 && !figures!.quantity!.startsWith('-')
  const simple = rows.filter(isSimple)
  const together = simple.length === rows.length || rows.every(({ externalID }) => !externalID)
  const [each, others] = together ? [simple, rows.filter((row) => !isSimple(row))] : [[], rows]
  const shortfalls = others.length > 0 ? await append(tx, productID, selectPostings(others)) : []
  if (each.length > 0 && shortfalls.length === 0)
    await appendEach(tx, productID, selectPostings(byExternalID(each)), 'list')
  return shortfalls
}

const byExternalID = (rows: Row[]) =>
  rows.toSorted(({ externalID: a = '' }, { externalID: b = '' }) => (a < b ? -1 : a > b ? 1 : 0))

async function insert(tx: Tx, productID: number, rows: Row[]) {
  await insertUncounted(tx, productID, selectPostings(rows))
  const touched = rows.map(({ accountID, item }) => ({
    accountID,
    from: item.body.transactionDate!,
  }))
  return recount(tx, productID, touchedAccounts(touched))
}

async function savepoint(tx: Tx, name: 'accounts' | 'posting') {
  await tx.query(sql`savepoint ${raw(name)}`)
  return () => tx.query(sql`rollback to savepoint ${raw(name)}`)
}

const selectPostings = (rows: Row[]) => {
  const postings = rows.map((row) => ({
    id: row.id,
    parent_id: row.leg === 0 ? null : row.first!.id,
    type_id: row.typeID,
    account_id: row.accountID,
    investment_id: row.investmentID,
    transaction_date: row.item.body.transactionDate,
    investment_price: row.figures!.price,
    amount: row.figures!.amount,
    quantity: row.figures!.quantity,
    entry_fee_amount: row.figures!.fee,
    external_id: row.externalID,
    comment: row.item.body.comment,
    biz_event_id: row.item.eventIDs[row.leg],
  }))
  return sql`select * from ${recordset('p', postings, postingColumns)}`
}

async function refuseShort(
  tx: Tx,
  rows: Row[],
  shortfalls: Shortfall[],
  refusals: (Refusal | undefined)[],
) {
  const alone = new Set(rows.map(({ item }) => item.request)).size === 1
  const names = await namesOf(tx, shortfalls)
  const problems = new Map<number, Problem[]>()
  for (const [i, short] of shortfalls.entries())
    for (const [request, row] of takersOf(short, rows)) {
      const { path } = row.item
      const field = path ? `${path}.quantity` : 'quantity'
      const told = problems.get(request) ?? []
      problems.set(request, [...told, { ...insufficient(short, names[i]!), field }])
    }
  for (const [request, own] of problems)
    refusals[request] = alone ? new Refusal(409, own) : new Contested(409, own)
}

/** Of each request the row to tell about: the first that takes units out, if any does. */
function takersOf({ accountID, investmentID }: Shortfall, rows: Row[]): Map<number, Row> {
  const own = rows.filter((row) => row.accountID === accountID && row.investmentID === investmentID)
  const takesOut = ({ figures }: Row) => figures!.quantity!.startsWith('-')
  const inOrder = [...own.filter(takesOut), ...own]
  return new Map(inOrder.toReversed().map((row) => [row.item.request, row]))
}

export const insufficient = ({ date, short }: Shortfall, name: string): Problem => ({
  code: 'insufficient_holding',
  message: `${name} would be short by ${short} units on ${date}.`,
})

/** The holdings in words: which account, which investment. */
export async function namesOf(tx: Tx, shortfalls: Shortfall[]): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(sql`
    select 'The holding of account ' || a.account_number || ' in '
      || coalesce(i.security_code, i.external_investment_id, i.name, i.investment_id::text) as name
    from unnest(${shortfalls.map(({ accountID }) => accountID)}::int[],
      ${shortfalls.map(({ investmentID }) => investmentID)}::int[])
      with ordinality s (account_id, investment_id, place)
    join account a on a.account_id = s.account_id
    join investment i on i.investment_id = s.investment_id
    order by s.place`)
  return rows.map(({ name }) => name)
}

/** Each request's transactions in the order asked, all rendered in one statement. */
async function answer(
  tx: Tx,
  requests: readonly PostingRequest[],
  rows: Row[],
  refusals: (Refusal | undefined)[],
): Promise<(Written | Refusal)[]> {
  const written = rows.filter((row) => isWritten(row, refusals))
  const rendered = await renderPerRequest(
    tx,
    written.map(({ item, productID, id }) => ({ request: item.request, productID, id: id! })),
  )
  return requests.map(({ bodies }, request): Written | Refusal => {
    const refusal = refusals[request]
    if (refusal) return refusal
    const own = written.filter(({ item }) => item.request === request)
    const [productID, ...others] = new Set(
      rows.flatMap((row) => (row.item.request === request ? [row.productID] : [])),
    )
    const [lone] = bodies
    return {
      json: rendered.get(request) ?? '[]',
      recordCount: own.length,
      ids: own.map(({ id }) => id!),
      productID: others.length === 0 ? productID : undefined,
      changes: bodies.length > 1 ? bodies : lone,
      ...(own.length === 0 && { message: 'The quantity is that already; nothing was posted.' }),
    }
  })
}
