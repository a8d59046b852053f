import sql, { raw } from 'sql-template-tag'
import { type Problem, Refusal } from '../../platform/refusal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import { accountsOnHold, holdProblems, takesOut } from '../on-hold/held.ts'
import { lockReached, recountAll } from './carry.ts'
import type { Posted, Priced } from './item.ts'
import { newLines } from './marks.ts'
import { isNone, settingFlaws, tooLarge } from './price.ts'
import { touchedHoldings } from './recount.ts'
import { setQuantities } from './set-quantity.ts'
import { type Shortfall, shortfallProblems } from './shortfall.ts'
import {
  append,
  createAccounts,
  insertUncounted,
  type Locked,
  lockAccounts,
  type NewRow,
  newRows,
  postingColumns,
} from './units.ts'
import { releaseExternalIDs } from './versions.ts'
import { takeWholeHoldings } from './whole-holding.ts'

/**
 * A refusal because of another request: one in the same list, one that holds a lock, or one that
 * changed something meanwhile. Tried again, the refused request may pass.
 */
export class Contested extends Refusal {}

type Refused = Map<number, Refusal>

/** What was written, and the refusals by the place of the request in the list. */
export type Outcome = { written: Posted[]; refused: Refused }

/** The last stage, product by product: locks accounts, checks what needs the lock, and writes. */
export async function write(
  tx: Tx,
  rows: readonly Priced[],
  { waits }: { waits: boolean },
): Promise<Outcome> {
  const products = [...new Set(rows.map(({ productID }) => productID))].sort((a, b) => a - b)
  const outcomes: Outcome[] = []
  for (const productID of products) {
    const own = rows.filter((row) => row.productID === productID)
    outcomes.push(await writeProduct(inProduct(tx, productID), productID, own, waits))
  }
  return {
    written: outcomes.flatMap(({ written }) => written),
    refused: new Map(outcomes.flatMap(({ refused }) => [...refused])),
  }
}

/** Either all was written, or some of it must be left out of the next attempt. */
type Attempt = { written: Posted[] } | { refused: Refused; idle: readonly Priced[] }

/** Tries to write all rows together, each time without those that could not be written before. */
async function writeProduct(
  tx: Tx,
  productID: number,
  rows: readonly Priced[],
  waits: boolean,
): Promise<Outcome> {
  const refused: Refused = new Map()
  const idle = new Set<Priced>()
  for (;;) {
    const left = rows.filter((row) => !refused.has(row.item.request) && !idle.has(row))
    if (left.length === 0) return { written: [], refused }
    const attempt = await writeOnce(tx, productID, left, waits)
    if ('written' in attempt) return { written: attempt.written, refused }
    for (const [request, refusal] of attempt.refused) refused.set(request, refusal)
    for (const row of attempt.idle) idle.add(row)
  }
}

/**
 * Undoes the account rows that an attempt created if the attempt leaves anything out. An account
 * with a row can no longer be deleted, so it must not keep one for a first transaction that was
 * refused or turned out to have no units to post.
 */
async function writeOnce(
  tx: Tx,
  productID: number,
  rows: readonly Priced[],
  waits: boolean,
): Promise<Attempt> {
  const accountIDs = rows.map(({ accountID }) => accountID)
  const known = await lockAccounts(tx, productID, accountIDs, waits)
  const undo = known ? async () => {} : await savepoint(tx, 'accounts')
  const locked = known ?? (await createAccounts(tx, productID, accountIDs, waits))
  const attempt = await writeLocked(tx, productID, rows, { locked, waits })
  if (!('written' in attempt)) await undo()
  return attempt
}

async function writeLocked(
  tx: Tx,
  productID: number,
  rows: readonly Priced[],
  { locked, waits }: { locked: Locked; waits: boolean },
): Promise<Attempt> {
  const busy = rows.filter(({ accountID }) => !locked.has(accountID))
  if (busy.length > 0) return leaveOut(busy, () => new Contested(409, []))
  const whole = await takeWholeHoldings(tx, productID, rows)
  const counted = await setQuantities(tx, productID, whole)
  const refused = new Map(counted.flatMap(refusalsOf))
  if (refused.size > 0) return { refused, idle: [] }
  const moving = counted.filter(({ figures }) => !isNone(figures.quantity))
  const moved = new Set(moving.map(({ accountID }) => accountID))
  const idle = rows.filter(
    ({ accountID }) => !moved.has(accountID) && (locked.get(accountID) ?? null) === null,
  )
  if (idle.length > 0) return { refused: new Map(), idle }
  const rewinding = rewoundBy(moving, locked)
  const reached =
    rewinding.length === 0 || (await lockReached(tx, productID, touchedBy(rewinding), waits))
  if (!reached) return leaveOut(rewinding, () => new Contested(409, []))
  if (moving.length === 0) return { written: [] }
  const ids = await newRows(
    tx,
    moving.map(({ accountID }) => accountID),
  )
  const changed = moving.filter(({ standing }, i) => ids[i]?.account !== standing.account)
  if (changed.length > 0) return leaveOut(changed, () => new Contested(409, []))
  const posted = numbered(moving, ids)
  return writeOrUndo(tx, productID, posted, locked)
}

/**
 * Writes the rows, or nothing of them. A refusal undoes everything, also that a transaction gave up
 * its external id. Most rows merely append: where one of those is short, nothing was written that
 * would have to be undone, so they need no savepoint.
 */
async function writeOrUndo(
  tx: Tx,
  productID: number,
  rows: readonly Posted[],
  locked: Locked,
): Promise<Attempt> {
  const released = rows.flatMap(({ releases }) => releases ?? [])
  const outgoing = await takingFromHeld(tx, productID, rows)
  const inserted = rewoundBy(rows, locked)
  const merelyAppends = [released, outgoing, inserted].every(({ length }) => length === 0)
  const undo = merelyAppends ? async () => {} : await savepoint(tx, 'posting')
  await releaseExternalIDs(tx, productID, released)
  const shortfalls = await writeRows(tx, productID, rows, inserted)
  if (shortfalls.length > 0) {
    await undo()
    return { refused: await refuseShort(tx, rows, shortfalls), idle: [] }
  }
  const held = await refuseHeld(tx, productID, outgoing, rows)
  if (held.size === 0) return { written: [...rows] }
  await undo()
  return { refused: held, idle: [] }
}

/** The rows that take units out of accounts with holds: usually none. */
async function takingFromHeld(tx: Tx, productID: number, rows: readonly Posted[]) {
  const outgoing = rows.filter(({ asked }) => takesOut(asked.typeID))
  const held = await accountsOnHold(
    tx,
    productID,
    outgoing.map(({ accountID }) => accountID),
  )
  return outgoing.filter(({ accountID }) => held.has(accountID))
}

/** The refusals of the requests that take units which are on hold. */
async function refuseHeld(
  tx: Tx,
  productID: number,
  outgoing: readonly Posted[],
  all: readonly Posted[],
): Promise<Refused> {
  if (outgoing.length === 0) return new Map()
  const taken = outgoing.map((row) => ({
    ...row,
    date: dateOf(row),
    quantity: row.figures.quantity ?? '0',
  }))
  const problems = await holdProblems(tx, productID, taken)
  return refusalsFor(
    all,
    [...problems].map(([place, problem]) => {
      const { request, path } = outgoing[place]!.item
      return { request, problem: { ...problem, field: inside(path, 'quantity') } }
    }),
  )
}

/** The refusal of a request for figures that are known only under the lock. */
function refusalsOf(row: Priced): [number, Refusal][] {
  const { item, figures } = row
  const large = tooLarge(figures).map((one) => ({ ...one, field: inside(item.path, one.field) }))
  const set = settingFlaws(row).map(({ problem }) => problem)
  if (large.length > 0) return [[item.request, new Refusal(400, large)]]
  return set.length > 0 ? [[item.request, new Refusal(409, set)]] : []
}

const leaveOut = (rows: readonly Priced[], why: (row: Priced) => Refusal): Attempt => ({
  refused: new Map(rows.map((row) => [row.item.request, why(row)])),
  idle: [],
})

/** Gives the rows their ids; a second leg also gets that of the first, which stands before it. */
const numbered = (rows: readonly Priced[], ids: readonly NewRow[]): Posted[] =>
  rows.map((row, i) => {
    const parentID = row.leg === 0 ? null : ids[i - 1]!.id
    return { ...row, id: ids[i]!.id, parentID } // newRows gives an id for each row
  })

/**
 * The rows of accounts whose past changes, since a row is dated before their newest transaction.
 * Rows that carry cost are treated alike: only a recount works the cost out.
 */
function rewoundBy<Row extends Priced>(rows: readonly Row[], locked: Locked): Row[] {
  const rewinding = new Set(
    rows.flatMap((row) =>
      row.asked.carries || dateOf(row) < (locked.get(row.accountID) ?? '') ? [row.accountID] : [],
    ),
  )
  return rows.filter(({ accountID }) => rewinding.has(accountID))
}

const touchedBy = (rows: readonly Priced[]) =>
  touchedHoldings(rows.map((row) => ({ ...row, from: dateOf(row) })))

/** Appends with one SQL statement, and recounts the accounts whose past the `inserted` change. */
async function writeRows(
  tx: Tx,
  productID: number,
  rows: readonly Posted[],
  inserted: readonly Posted[],
) {
  const rewound = new Set(inserted)
  const appended = rows.filter((row) => !rewound.has(row))
  return [
    ...(inserted.length > 0 ? await insert(tx, productID, inserted) : []),
    ...(appended.length > 0 ? await append(tx, productID, selectPostings(appended)) : []),
  ]
}

async function insert(tx: Tx, productID: number, rows: readonly Posted[]) {
  await insertUncounted(tx, productID, selectPostings(rows))
  const posted = sql`b.biz_transaction_id = any(${rows.map(({ id }) => id)}::bigint[])`
  return recountAll(tx, productID, touchedBy(rows), newLines(productID, posted))
}

/** Every item has its day: `accept` refuses those without. */
const dateOf = ({ item }: Pick<Priced, 'item'>) => item.body.transactionDate!

async function savepoint(tx: Tx, name: 'accounts' | 'posting') {
  await tx.query(sql`savepoint ${raw(name)}`)
  return async () => {
    await tx.query(sql`rollback to savepoint ${raw(name)}`)
  }
}

const selectPostings = (rows: readonly Posted[]) => {
  const postings = rows.map(({ item, leg, asked, figures, ...row }) => ({
    id: row.id,
    parent_id: row.parentID,
    type_id: asked.typeID,
    account_id: row.accountID,
    investment_id: row.investmentID,
    transaction_date: item.body.transactionDate,
    investment_price: figures.price,
    amount: figures.amount,
    quantity: figures.quantity,
    entry_fee_amount: figures.fee,
    external_id: asked.externalID,
    comment: item.body.comment,
    biz_event_id: item.events[leg]?.id,
    // The recount works the carried cost out.
    carried_cost: asked.carries ? '0' : null,
    conversion_method_id: asked.conversion?.methodID,
    conversion_factor: asked.conversion?.factor,
    entry_fee_percentage: figures.feePercentage,
    made_by_quantity: asked.quantity !== undefined && asked.amount === undefined ? true : null,
  }))
  return sql`select * from ${recordset('p', postings, postingColumns)}`
}

/** Refuses each request that takes units out of a holding that is short, naming one row of it. */
async function refuseShort(tx: Tx, rows: readonly Posted[], shortfalls: readonly Shortfall[]) {
  const problems = await shortfallProblems(tx, shortfalls)
  const told = shortfalls.flatMap((short, i) =>
    [...takersOf(short, rows)].map(([request, { item }]) => ({
      request,
      problem: { ...problems[i]!, field: inside(item.path, 'quantity') }, // one for each shortfall
    })),
  )
  return refusalsFor(rows, told)
}

/** A request that is not alone is contested: another request of the list may be the cause. */
function refusalsFor(
  rows: readonly Posted[],
  told: readonly { request: number; problem: Problem }[],
) {
  const alone = new Set(rows.map(({ item }) => item.request)).size === 1
  const requests = [...new Set(told.map(({ request }) => request))]
  return new Map(
    requests.map((request) => {
      const own = told.filter((one) => one.request === request).map(({ problem }) => problem)
      return [request, alone ? new Refusal(409, own) : new Contested(409, own)]
    }),
  )
}

/**
 * By request, the row to blame for a shortfall: the last that takes units out up to the transaction
 * after which the holding is short, else the first that does so later, else its first row of all.
 */
function takersOf({ accountID, investmentID, id, date }: Shortfall, rows: readonly Posted[]) {
  const own = rows.filter((row) => row.accountID === accountID && row.investmentID === investmentID)
  const isBefore = (row: Posted) => dateOf(row) < date || (dateOf(row) === date && row.id <= id)
  const takers = own.filter(({ figures }) => figures.quantity?.startsWith('-'))
  const inOrder = takers.toSorted((a, b) =>
    dateOf(a) === dateOf(b) ? a.id - b.id : dateOf(a) < dateOf(b) ? -1 : 1,
  )
  // For each request the last entry stands.
  return new Map(
    [...own.toReversed(), ...inOrder.toReversed(), ...inOrder.filter(isBefore)].map((row) => [
      row.item.request,
      row,
    ]),
  )
}
