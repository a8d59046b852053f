import sql, { empty, raw } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { decimalDigits } from '../../platform/shape/decimal.ts'
import { bytesColumn } from '../../platform/sql/bytes.ts'
import { type Form, filled, filledOnce, keptForms } from '../../platform/sql/form.ts'
import type { Fragment, Once, Tx } from '../../platform/sql/handle.ts'
import { arraysOf } from '../../platform/sql/recordset.ts'
import { tryKey } from '../../platform/sql/retry-keys.ts'
import type { Outcome } from '../../platform/sql/unit-of-work.ts'
import { closingsBefore, insertingOnePerAccount, whatIsBehind } from './behind.ts'
import { takesUnits, unimpeded } from './figures.ts'
import type { PostingRequest } from './item.ts'
import { kindOf } from './kinds.ts'
import type { Naming } from './naming.ts'
import {
  type Asked,
  type AtOnce,
  type Row,
  requestRow,
  requestTypes,
  rowOf,
  typesOf,
} from './posting-rows.ts'
import { givenOf, later, type Shape, singles } from './resolve-at-once.ts'
import { answerOfValues, writtenRows } from './sql.ts'
import { asked, telling } from './told-at-once.ts'
import {
  appending,
  appendingOnePerAccount,
  closingsAfter,
  closingsAfterEither,
  heldBy,
} from './units.ts'

/**
 * Posts in one SQL statement and one round trip (docs/decisions/0090). Nearly all postings only
 * append: they bring units into an account that has some, or redeem such units, and no transaction
 * of the account is dated later. The SQL statement finds, prices, locks, writes and renders them
 * with the same fragments as `post`. It leaves out every request that might be refused or would
 * have to wait: `post` waits for locks and refuses in words.
 *
 * Returns the outcomes of the posted requests, by their places in the list. With `isAnywhere`,
 * postings may be dated before others of their account (behind.ts); each must then bring units in,
 * and no two may be of one account.
 */
export async function postAtOnce(
  { once }: Once,
  actor: Actor,
  naming: Naming,
  requests: readonly AtOnce[],
  isAnywhere = false,
): Promise<Map<number, Outcome>> {
  const rows = await once<Told>(statement(actor, naming, requests, isAnywhere))
  return new Map(
    rows.map(({ request, values, recordCount, [bytesColumn]: bytes }) => [
      request,
      { answer: { json: bytes ?? answerOfValues(values!), recordCount }, replayed: false },
    ]),
  )
}

/** The answer to one request: bytes for an array, packed values for a single posting. */
type Told = { request: number; recordCount: number; values?: string; [bytesColumn]?: Buffer }

/** From this many single postings on, it pays to look up once what they have in common. */
const manyTogether = 16

function sizeOf(postings: number): Shape['size'] {
  if (postings === 1) return 'one'
  return postings < manyTogether ? 'few' : 'many'
}

/** A posting that was written, with its place in the list and the id of its transaction. */
export type Appended = { place: number; productID: number; id: number }

/**
 * Posts a list inside the caller's database transaction, for imports, which record and announce the
 * list as a whole: each posting is written or left out by itself, without its own answer, audit
 * record or event. The SQL statement is assembled now, and sent by the function returned.
 */
export function appendAtOnce(actor: Actor, naming: Naming, list: readonly Asked[]) {
  const rows = list.map(rowOf)
  const shape = shapeOf(actor, naming, rows, { isArray: true, size: 'many', isAnywhere: false })
  const statement = filledOnce(appendOf(shape), valuesOf(actor, shape, rows))
  return (tx: Tx) => tx.query<Appended>(statement)
}

const formOf = keptForms()
const keyOf = ({ naming, used, ...how }: Shape) =>
  `${naming.account} ${naming.investment} ${naming.product} ${used} ${how.isArray} ${how.size} ` +
  `${how.hasRepeats} ${how.takesOut} ${how.isAnywhere} ${how.isScoped}`

function shapeOf(
  { productIDs }: Actor,
  naming: Naming,
  rows: readonly Row[],
  how: Pick<Shape, 'isArray' | 'size' | 'isAnywhere'>,
): Shape {
  for (const [place, row] of rows.entries()) row.place = place
  return {
    naming,
    ...how,
    used: Object.keys(typesOf(how.isArray)).filter((name) =>
      rows.some((row) => (row[name] ?? null) !== null),
    ),
    hasRepeats: new Set(rows.map((row) => row.account_name)).size < rows.length,
    takesOut: rows.some((row) => kindOf(Number(row.type_id)).units === 'out'),
    isScoped: productIDs !== null,
  }
}

/** The values of one run, by the symbols that stand for them in the text. */
function valuesOf({ productIDs }: Actor, { used, size }: Shape, rows: readonly Row[]) {
  const values = size === 'one' ? used.map((name) => rows[0]![name]) : arraysOf(rows, used)
  return new Map<symbol, unknown>([
    ...used.map((name, i): [symbol, unknown] => [givenOf[name]!, values[i]]),
    [later.products, productIDs],
    [later.size, rows.length],
  ])
}

function statement(
  actor: Actor,
  naming: Naming,
  requests: readonly AtOnce[],
  isAnywhere: boolean,
): Form {
  const [{ write, request }] = requests as [AtOnce]
  const isArray = request.bodies.length > 1
  const rows = isArray
    ? postingsOf(request)
    : requests.flatMap((one, place) =>
        postingsOf(one.request).map((row) => Object.assign(row, requestRow(one, place))),
      )
  const size = isArray ? 'many' : sizeOf(rows.length)
  const shape = shapeOf(actor, naming, rows, { isArray, size, isAnywhere })
  const isKeyed = requests.some((one) => one.write.retry)
  const values = valuesOf(actor, shape, rows)
  values.set(later.resource, write.resource).set(later.event, write.event)
  if (isArray)
    for (const [name, value] of Object.entries(requestRow(requests[0]!, 0)))
      values.set(givenOf[name]!, value)
  return filled(
    formOf(`${isKeyed} ${keyOf(shape)}`, () => postForm(shape, isKeyed)),
    values,
  )
}

const postingsOf = ({ operation, bodies }: PostingRequest): Row[] =>
  bodies.map((body) => rowOf({ operation, body }))

/**
 * The text for several requests of one posting each, or for one array. The two differ because an
 * array aggregates its rows; aggregating a single posting would cost more than writing it.
 */
const postForm = (shape: Shape, isKeyed: boolean): Form => {
  const { isArray } = shape
  return sql`
    with ${isArray ? asked : empty} ${singles(shape)},
    ${fit(shape, isKeyed)}, ${locked}, ${readyOf(shape)},
    ${appendingOf(shape)}, shown as ${isArray ? raw('materialized') : empty} (${shown(isArray)}),
    ${telling(shape, isKeyed)}`
}

const appendOf = (shape: Shape): Fragment => sql`
    with ${singles(shape)},
    ${fit(shape, false)}, ${locked}, ${eachOfMany(shape, empty)}, ${appendingOf(shape)}
    select place, product_id as "productID", id from ready`

function appendingOf({ hasRepeats, isAnywhere }: Shape) {
  if (isAnywhere) return insertingOnePerAccount(postings(raw(', ids_behind')))
  return hasRepeats ? appending(sql`g.product_id`, postings()) : appendingOnePerAccount(postings())
}

const isUnimpeded = unimpeded('s')
/** The first number that has more digits before the decimal point than figures may have. */
const limit = raw(`1e${decimalDigits}`)

/** Only the columns of `single` that are written or shown: each column costs time in every CTE. */
const carried = raw(
  `s.place, s.product_id, s.account_id, s.investment_id, s.type_id, s.external_id,
      s.transaction_date, s.unit_price, s.charge, s.rate, s.comment, s.made_by_quantity,
      s.external_account_id, s.account_number, s.biz_entity_name, s.external_product_id,
      s.external_investment_id, s.security_code, s.investment_title`,
)
/** A figure of `single` with its sign: negative if the posting takes units out. */
const signed = (figure: string) =>
  `case when ${takesUnits('s')} then -s.${figure} else s.${figure} end as ${figure}`
const figuresOf = ({ takesOut }: Shape) =>
  raw(
    takesOut
      ? `, ${signed('own_amount')}, ${signed('own_quantity')}, s.cents`
      : ', s.own_amount, s.own_quantity',
  )
const carriedOfRequest = raw(
  Object.keys(requestTypes)
    .map((name) => `, s.${name}`)
    .join(''),
)

/**
 * The postings that nothing forbids, as far as the snapshot of the SQL statement shows. Two kinds
 * are left to `post`: an investment without any holding, because its decimals can still be changed,
 * and an account without a row in `ledger_account`, because that row must be created first.
 * `version` is the version of that row, by which `locked` notices that anything read here changed.
 *
 * With many postings, `offset 0` fences off the rows of `single`: the planner would otherwise
 * repeat the division of each figure in every condition on it. For a few postings the fence would
 * cost more than that.
 */
const fit = (shape: Shape, isKeyed: boolean) => sql`
    fit as (
      select ${carried} ${figuresOf(shape)} ${shape.isArray ? empty : carriedOfRequest}, l.version,
        l.account_at, h.* ${shape.isAnywhere ? raw(', d.*') : empty}
      from ${shape.size === 'many' ? fencedOff : raw('single')} s
      cross join lateral (
        select ctid as account_at, xmin as version, last_date from ledger_account
        where product_id = s.product_id and account_id = s.account_id limit 1) l
      left join lateral (${heldBy('s', sql`s.product_id`, heldAt)}) h on true
      ${shape.isAnywhere ? sql`cross join lateral (${whatIsBehind}) d` : empty}
      where ${isUnimpeded} and s.own_quantity > 0 and s.own_quantity < ${limit}
        and s.own_amount < ${limit} and s.charge <= s.own_amount
        ${shape.takesOut ? areThere(shape) : empty}
        ${shape.isAnywhere ? empty : isAtTheEnd}
        and (h.held_quantity is not null or exists (select 1 from holding h
          where h.product_id = s.product_id and h.investment_id = s.investment_id))
        and (s.external_id is null or not exists (select 1 from biz_transaction b
          where b.product_id = s.product_id and b.external_biz_transaction_id = s.external_id))
        ${isKeyed ? keyIsFree(shape.isArray) : empty})`

const isAtTheEnd = raw('and (l.last_date is null or l.last_date <= s.transaction_date)')

/**
 * The condition that the holding has the units that a posting takes out, and that no hold is on the
 * account. If any account is named twice in the list, all postings that take units out are left to
 * `post`: whether the units suffice may depend on another posting of the list.
 */
const areThere = ({ hasRepeats }: Shape) => {
  const brings = raw(`not ${takesUnits('s')}`)
  return hasRepeats
    ? sql`and ${brings}`
    : sql`and (${brings} or h.held_quantity >= s.own_quantity and not exists (
          select 1 from hold k
          where k.product_id = s.product_id and k.account_id = s.account_id))`
}

const fencedOff = raw('(select * from single offset 0)')
const heldAt = raw(', h.ctid as held_at')

const keyIsFree = (isArray: boolean) =>
  isArray ? sql`and (select ${isFree('a')} from asked a)` : sql`and ${isFree('s')}`
const isFree = (alias: string) => {
  const s = raw(alias)
  return sql`(${s}.key is null or (${tryKey(alias)} and not exists (
          select 1 from idempotency k where k.user_id = ${s}.user_id and k.key = ${s}.key)))`
}

/**
 * Locks the account rows that are free. They need no order: whoever skips locked rows never waits
 * for one, and so cannot deadlock over them. Every change of an account's units or holds, and its
 * closing, writes its row anew. A row that still has the version that `fit` read therefore shows
 * that none of these has changed since the SQL statement began to read.
 */
const locked = sql`
    locked as (
      select f.* from fit f
      cross join lateral (
        select 1 from ledger_account n
        where n.ctid = f.account_at and n.product_id = f.product_id and n.xmin = f.version
        limit 1 for update skip locked) l)`

/**
 * A CTE that gives each locked posting its transaction id and closing figures. The id is drawn
 * under the lock, because transactions of one day are ordered by id. The insert that follows may
 * meet an external id that another database transaction is writing, and waits for it; `briefly`
 * limits that wait where a caller waits for the answer.
 */
const numbered = (shape: Shape, name: string, briefly: Fragment, condition = empty) => sql`
    ${raw(name)} as materialized (
      select g.*, nextval('biz_transaction_biz_transaction_id_seq') as id, ${closingsOf(shape)}
      from ${briefly}
        ${shape.size === 'one' ? raw('locked') : inTheirOrder} g ${condition})`
const inTheirOrder = raw('(select * from locked order by place)')

function closingsOf({ takesOut, isAnywhere }: Shape) {
  if (isAnywhere) return closingsBefore('g.own_quantity', 'g.own_amount')
  if (takesOut) return closingsAfterEither('g.own_quantity', 'g.own_amount', 'g.cents')
  return closingsAfter('g.own_quantity', 'g.own_amount')
}
const briefly = raw(`(select set_config('lock_timeout', '100ms', true)) briefly,`)

/**
 * Whether the period of a product is still open. `period_lock` holds it open and reads the locked
 * date anew (catalogue/product/period.ts), because the period may have been locked after the
 * snapshot of this SQL statement was taken. The check comes this late because such a function keeps
 * the planner from merging the steps before it. A long list calls the function once per product.
 */
const isOpen = (locked: string, day: string) => raw(`(${locked} < ${day}) is not false`)
const periodIsOpen = sql`where ${isOpen('period_lock(g.product_id)', 'g.transaction_date')}`
const eachByItself = (shape: Shape) => numbered(shape, 'ready', briefly, periodIsOpen)
/** Numbers many postings, and then reads the lock of each product's period once. */
const eachOfMany = (shape: Shape, briefly: Fragment) => sql`
    ${numbered(shape, 'counted', briefly)},
    periods as materialized (
      select product_id, period_lock(product_id) as locked_to
      from (select distinct product_id from counted) c),
    ready as materialized (
      select c.* from counted c join periods p on p.product_id = c.product_id
      where ${isOpen('p.locked_to', 'c.transaction_date')})`
/** All postings of an array or none; ids drawn for an array that is not posted leave a gap. */
const wholeArray = (shape: Shape) => sql`${numbered(shape, 'counted', briefly)},
    periods as materialized (
      select bool_and(${isOpen('period_lock(product_id)', 'first_day')}) as are_open
      from (select product_id, min(transaction_date) as first_day from counted
        group by product_id) c),
    ready as not materialized (
      select * from counted where (select count(*) from counted) = ${later.size}::int
        and (select are_open from periods))`

function readyOf(shape: Shape) {
  if (shape.isArray) return wholeArray(shape)
  return shape.size === 'many' ? eachOfMany(shape, briefly) : eachByItself(shape)
}

const postings = (also = empty) => sql`
      select product_id, id, external_id, type_id, null::bigint as parent_id, account_id,
        investment_id, transaction_date, unit_price as investment_price, own_amount as amount,
        own_quantity as quantity, charge as entry_fee_amount, comment,
        null::int as corporate_action_id, null::bigint as biz_event_id,
        null::numeric as carried_cost, null::smallint as conversion_method_id,
        null::numeric as conversion_factor, rate as entry_fee_percentage, made_by_quantity,
        held_at, account_at, closing_quantity, closing_amount, closing_cost, closing_gain ${also}
      from ready`

/** Joins the names that a row t shows; a posting made here belongs to no distribution. */
const namesFound = raw(`
  cross join lateral (
    select t.external_account_id, t.account_number, t.biz_entity_name) a
  cross join lateral (
    select t.external_product_id, t.external_investment_id, t.security_code,
      t.investment_title) i
  cross join lateral (select null::text as external_corporate_action_id, null::text as name) d`)

const complete = raw(String(lookups.BizTransactionStatus.Complete))

/** Renders the answers from the rows about to be written, so that they need not be read back. */
const shown = (isArray: boolean) =>
  writtenRows(
    sql`
      select r.*, r.id as biz_transaction_id, r.type_id as biz_transaction_type_id,
        r.external_id as external_biz_transaction_id, null::bigint as parent_biz_transaction_id,
        r.unit_price as investment_price, r.own_amount as amount, r.own_quantity as quantity,
        r.charge as entry_fee_amount, null::int as corporate_action_id,
        null::timestamptz as updated_date, ${complete} as biz_transaction_status_id
      from ready r`,
    namesFound,
    !isArray,
  )
