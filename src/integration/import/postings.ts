import sql, { raw } from 'sql-template-tag'
import { type Appended, appendAtOnce } from '../../ledger/biz-transaction/at-once.ts'
import type { Body, Operation } from '../../ledger/biz-transaction/legs.ts'
import { type Naming, namingOf, sameNaming } from '../../ledger/biz-transaction/naming.ts'
import { post } from '../../ledger/biz-transaction/post.ts'
import {
  Adjustment,
  Allotment,
  Conversion,
  Deposit,
  Redemption,
  SetQuantity,
  Transfer,
} from '../../ledger/biz-transaction/schema.ts'
import { Contested } from '../../ledger/biz-transaction/write.ts'
import { accountReference } from '../../parties/account/reference.ts'
import type { Actor } from '../../platform/actor.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { type Problem, Refusal, tryLater } from '../../platform/refusal.ts'
import { itemOf } from '../../platform/shape/path.ts'
import { sharesOf } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { nameOf } from '../../platform/sql/identify.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import type { Item, Part, Perform } from './item.ts'
import { attempt } from './savepoint.ts'
import { areApart, touchesOf } from './touches.ts'

export const postingShapes = {
  Deposit,
  Allotment,
  Redemption,
  Adjustment,
  SetQuantity,
  Conversion,
  Transfer,
} as const satisfies Record<Operation, unknown>

export const wholeName = (operation: string) => `POST /BizTransaction/${operation}`

type Row = { place: number; operation: Operation; body: Body }
type Done = Row & { written: Written }

/** Posts rows in order, like a list of requests that each succeed or fail alone. */
export const postRows: Perform = (actor, items) => {
  const runs = readyRuns(actor, items)
  return async (tx) => {
    const { done, refused } = await postEach(tx, actor, runs)
    return { parts: partsOf(done), refused }
  }
}

/** Posts opening balances. A second one of the same holding would double it, so it is refused. */
export const openBalances: Perform = (actor, items) => {
  const allotted = items.map((item) => ({ ...item, operation: 'Allotment' }))
  const runs = readyRuns(actor, allotted)
  return async (tx) => {
    const { done, refused } = await postEach(tx, actor, runs)
    await refuseSecond(tx, done)
    return { parts: partsOf(done), refused }
  }
}

/** Rows that are posted together, and which of them one SQL statement may append. */
type Run = { rows: readonly Row[]; appending: Appending }

const readyRuns = (actor: Actor, items: readonly Item[]): Run[] =>
  runsOf(items.map(rowOf)).map((rows) => ({ rows, appending: appendingIn(actor, rows) }))

async function postEach(tx: Tx, actor: Actor, runs: readonly Run[]) {
  const done: Done[] = []
  const refused = new Map<number, Problem[]>()
  for (const run of runs)
    for (const [row, end] of await postRun(tx, actor, run))
      if (end instanceof Refusal) refused.set(row.place, end.problems)
      else done.push({ ...row, written: end })
  return { done: done.sort((one, other) => one.place - other.place), refused }
}

const rowOf = ({ operation, body }: Item, place: number): Row => ({
  place,
  operation: operation as Operation, // guaranteed by the type of the import
  body: body as Body,
})

/**
 * Splits rows into runs. SetQuantity rows get runs of their own, because what they post depends on
 * the present units, which earlier rows may change.
 */
function runsOf(rows: readonly Row[]): Row[][] {
  const runs: Row[][] = []
  for (const row of rows) {
    const run = runs.at(-1)
    if (run?.[0] && sets(run[0]) === sets(row)) run.push(row)
    else runs.push([row])
  }
  return runs
}
const sets = ({ operation }: Row) => operation === 'SetQuantity'

type End = [Row, Written | Refusal]

/** `unread`: no answers are rendered, because an import does not use them. */
const how = { waits: true, unread: true }

/**
 * Posts the rows that only append with one SQL statement, then the other rows together. Rows that
 * another row of the run stood in the way of (Contested) are then posted one by one, in order.
 */
async function postRun(tx: Tx, actor: Actor, { rows, appending }: Run): Promise<End[]> {
  const appended = await append(tx, appending)
  const rest = rows.filter((row) => !appended.has(row))
  return [...appended, ...(await postRest(tx, actor, rest))]
}

/** Appends rows to which no objection is found: in most files all rows, in others none. */
async function append(tx: Tx, { rows, post }: Appending): Promise<Map<Row, Written>> {
  if (rows.length === 0 || (await tx.isSpread())) return new Map()
  const appended = await post(tx)
  return new Map(
    appended.map(({ place, productID, id }) => {
      const row = rows[place]! // `place` is an index of `rows`
      const shares = [{ productID, ids: [id] }]
      return [row, { ...nothingLeft, recordCount: 1, ids: [id], productID, shares }]
    }),
  )
}

type Appending = { rows: readonly Row[]; post: (tx: Tx) => Promise<Appended[]> }
const nothingAppends: Appending = { rows: [], post: async () => [] }

function appendingIn(actor: Actor, run: readonly Row[]): Appending {
  const { naming, rows } = thoseAlike(run)
  if (!naming || rows.length < 2) return nothingAppends
  return { rows, post: appendAtOnce(actor, naming, rows) }
}

type Alike = { naming: Naming | undefined; rows: readonly Row[] }
const noneAlike: Alike = { naming: undefined, rows: [] }

/**
 * The rows that one SQL statement may append: those that bring units in, and redemptions from an
 * account that no other row names. A row is left out if a row outside this set names the same
 * account or external id, because the rows about an account must keep their order.
 */
function thoseAlike(run: readonly Row[]): Alike {
  const namings = new Map(run.map((row) => [row, namingOf(requestOf(row))]))
  const naming = [...namings.values()].find(Boolean)
  const often = namedOften(run)
  const isLike = (row: Row) =>
    naming !== undefined &&
    sameNaming(namings.get(row), naming) &&
    !(row.operation === 'Redemption' && often.has(accountOf(row)))
  const [rows, others] = [run.filter(isLike), run.filter((row) => !isLike(row))]
  const ids = rows.flatMap(({ body }) => body.externalBizTransactionId ?? [])
  if (new Set(ids).size < ids.length) return noneAlike
  if (others.length === 0) return { naming, rows }
  const touched = touchesOf(others.map(({ body }) => body))
  return { naming, rows: rows.filter(({ body }) => areApart(touchesOf([body]), touched)) }
}

const accountOf = ({ body }: Row) => nameOf(accountReference, body)?.value

/** The accounts that more than one row names. */
function namedOften(run: readonly Row[]) {
  const [once, often] = [new Set<unknown>(), new Set<unknown>()]
  for (const account of run.map(accountOf)) (once.has(account) ? often : once).add(account)
  return often
}

async function postRest(tx: Tx, actor: Actor, run: readonly Row[]): Promise<End[]> {
  const ends: End[] = []
  const alone: Row[] = []
  const together = run.length > 1 ? await post(tx, actor, run.map(requestOf), how) : []
  for (const [i, row] of run.entries()) {
    const end = together[i]
    if (end && !(end instanceof Contested)) ends.push([row, end])
    else alone.push(row)
  }
  for (const row of alone) ends.push([row, await postAlone(tx, actor, row)])
  return ends
}

const requestOf = ({ operation, body }: Row) => ({ operation, bodies: [body], path: () => '' })

async function postAlone(tx: Tx, actor: Actor, row: Row): Promise<Written | Refusal> {
  try {
    const [end] = await attempt(tx, () => post(tx, actor, [requestOf(row)], how))
    return end!
  } catch (error) {
    if (error instanceof Contested && error.problems.length === 0)
      throw tryLater(503, 'busy', 'The account is busy with another change.', 1)
    if (error instanceof Refusal && error.status < 500) return error
    throw error
  }
}

/** One audit record per operation and one event per product, as for a request with an array. */
function partsOf(done: readonly Done[]): Part[] {
  return [...new Set(done.map(({ operation }) => operation))].map((operation) => {
    const own = done.filter((row) => row.operation === operation)
    const placed = own.flatMap(({ written: { shares = [] } }) =>
      shares.flatMap(({ productID, ids }) => ids.map((id) => ({ productID: productID!, id }))),
    )
    const shares = sharesOf(placed)
    const ids = placed.map(({ id }) => id)
    return {
      operation: wholeName(operation),
      resource: 'BizTransaction',
      event: 'biztransaction.posted',
      result: {
        ...nothingLeft,
        recordCount: ids.length,
        ids,
        productID: shares.length === 1 ? shares[0]?.productID : undefined,
        shares,
        events: own.flatMap(({ written: { events = [] } }) => events),
        changes: own.map(({ body }) => body),
      },
    }
  })
}

async function refuseSecond(tx: Tx, done: readonly Done[]) {
  const places = new Map(done.flatMap(({ place, written }) => written.ids.map((id) => [id, place])))
  const problems: Problem[] = []
  const shares = done.flatMap(({ written }) => written.shares ?? [])
  for (const productID of new Set(shares.map((share) => share.productID))) {
    const ids = shares.flatMap((share) => (share.productID === productID ? share.ids : []))
    const second = await tx.query<{ id: number }>(sql`
      select t.biz_transaction_id as id from biz_transaction t
      where t.product_id = ${productID} and t.biz_transaction_id = any(${ids}::bigint[])
        and exists (
          select 1 from biz_transaction o
          where o.product_id = ${productID} and o.account_id = t.account_id
            and o.investment_id = t.investment_id and o.biz_transaction_id < t.biz_transaction_id
            and ${raw(counts('o'))})`)
    for (const { id } of second)
      problems.push({
        code: 'has_holding',
        field: `${itemOf('', places.get(id) ?? 0)}.accountID`,
        message: 'The account has transactions in the investment already.',
      })
  }
  if (problems.length > 0) throw new Refusal(409, problems)
}
