import sql, { raw } from 'sql-template-tag'
import { Refusal } from '../../platform/refusal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import type { Posted, Priced } from './item.ts'
import { isNone, tooLarge } from './price.ts'
import { setQuantities } from './set-quantity.ts'
import { type Shortfall, shortfallProblems } from './shortfall.ts'
import {
  append,
  createAccounts,
  insertUncounted,
  type Locked,
  lockAccounts,
  newTransactionIDs,
  postingColumns,
  recount,
  touchedAccounts,
} from './units.ts'

/** A refusal because of what another request in the list does; alone this one may pass. */
export class Contested extends Refusal {}

type Refused = Map<number, Refusal>

/** What was written, and by the place of the request what was not and why. */
export type Outcome = { written: Posted[]; refused: Refused }

/** The last stage: locks accounts, checks what only they tell, writes; product by product. */
export async function write(
  tx: Tx,
  rows: readonly Priced[],
  { waits }: { waits: boolean },
): Promise<Outcome> {
  const products = [...new Set(rows.map(({ productID }) => productID))].sort((a, b) => a - b)
  const outcomes: Outcome[] = []
  for (const productID of products) {
    const own = rows.filter((row) => row.productID === productID)
    outcomes.push(await writeProduct(tx, productID, own, waits))
  }
  return {
    written: outcomes.flatMap(({ written }) => written),
    refused: new Map(outcomes.flatMap(({ refused }) => [...refused])),
  }
}

/** Either all was written, or some of it must be left out of the next attempt. */
type Attempt = { written: Posted[] } | { refused: Refused; idle: readonly Priced[] }

/** Leaves out, again and again, what cannot be written; the rest goes in together. */
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
 * An account must not keep the row that it got for a first transaction which then is refused, or
 * turns out to be none: an account with a row cannot be deleted any more. So what an attempt
 * created is undone when it leaves anything out.
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
  const attempt = await writeLocked(tx, productID, rows, locked)
  if (!('written' in attempt)) await undo()
  return attempt
}

async function writeLocked(
  tx: Tx,
  productID: number,
  rows: readonly Priced[],
  locked: Locked,
): Promise<Attempt> {
  const busy = rows.filter(({ accountID }) => !locked.has(accountID))
  if (busy.length > 0) return leaveOut(busy, () => new Contested(409, []))
  const counted = await setQuantities(tx, productID, rows)
  const large = counted.filter(({ item, figures }) => tooLarge(item, figures).length > 0)
  if (large.length > 0)
    return leaveOut(large, ({ item, figures }) => new Refusal(400, tooLarge(item, figures)))
  const moving = counted.filter(({ figures }) => !isNone(figures.quantity))
  const moved = new Set(moving.map(({ accountID }) => accountID))
  const idle = rows.filter(
    ({ accountID }) => !moved.has(accountID) && (locked.get(accountID) ?? null) === null,
  )
  if (idle.length > 0) return { refused: new Map(), idle }
  const posted = await numbered(tx, moving)
  const shortfalls = posted.length > 0 ? await writeRows(tx, productID, posted, locked) : []
  if (shortfalls.length === 0) return { written: posted }
  return { refused: await refuseShort(tx, posted, shortfalls), idle: [] }
}

const leaveOut = (rows: readonly Priced[], why: (row: Priced) => Refusal): Attempt => ({
  refused: new Map(rows.map((row) => [row.item.request, why(row)])),
  idle: [],
})

/** Ids in the order of the rows; a second leg knows that of the first, which stands before it. */
async function numbered(tx: Tx, rows: readonly Priced[]): Promise<Posted[]> {
  if (rows.length === 0) return []
  const ids = await newTransactionIDs(tx, rows.length)
  return rows.map((row, i) => {
    const parentID = row.leg === 0 ? null : ids[i - 1]!
    return { ...row, id: ids[i]!, parentID } // as many ids as were asked for
  })
}

/** Accounts that only append are one statement; those whose past changes are counted anew. */
async function writeRows(tx: Tx, productID: number, rows: readonly Posted[], locked: Locked) {
  const rewinding = new Set(
    rows.flatMap(({ accountID, item }) =>
      dateOf({ item }) < (locked.get(accountID) ?? '') ? [accountID] : [],
    ),
  )
  const appended = rows.filter(({ accountID }) => !rewinding.has(accountID))
  const inserted = rows.filter(({ accountID }) => rewinding.has(accountID))
  const undo = inserted.length > 0 ? await savepoint(tx, 'posting') : async () => {}
  const shortfalls = [
    ...(inserted.length > 0 ? await insert(tx, productID, inserted) : []),
    ...(appended.length > 0 ? await append(tx, productID, selectPostings(appended)) : []),
  ]
  if (shortfalls.length > 0) await undo()
  return shortfalls
}

async function insert(tx: Tx, productID: number, rows: readonly Posted[]) {
  await insertUncounted(tx, productID, selectPostings(rows))
  const touched = rows.map((row) => ({ accountID: row.accountID, from: dateOf(row) }))
  return recount(tx, productID, touchedAccounts(touched))
}

/** Every item has its day since it was accepted. */
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
    biz_event_id: item.eventIDs[leg],
  }))
  return sql`select * from ${recordset('p', postings, postingColumns)}`
}

/** Of each request that takes units out of a holding that is short: the row that goes wrong. */
async function refuseShort(tx: Tx, rows: readonly Posted[], shortfalls: readonly Shortfall[]) {
  const problems = await shortfallProblems(tx, shortfalls)
  const told = shortfalls.flatMap((short, i) =>
    [...takersOf(short, rows)].map(([request, { item }]) => ({
      request,
      problem: { ...problems[i]!, field: inside(item.path, 'quantity') }, // one for each shortfall
    })),
  )
  const alone = new Set(rows.map(({ item }) => item.request)).size === 1
  const requests = [...new Set(told.map(({ request }) => request))]
  return new Map(
    requests.map((request) => {
      const own = told.filter((one) => one.request === request).map(({ problem }) => problem)
      return [request, alone ? new Refusal(409, own) : new Contested(409, own)]
    }),
  )
}

/** By request: the first row that takes units out of the holding, if any does. */
function takersOf({ accountID, investmentID }: Shortfall, rows: readonly Posted[]) {
  const own = rows.filter((row) => row.accountID === accountID && row.investmentID === investmentID)
  const takesOut = ({ figures }: Posted) => figures.quantity?.startsWith('-')
  const inOrder = [...own.filter(takesOut), ...own]
  return new Map(inOrder.toReversed().map((row) => [row.item.request, row]))
}
