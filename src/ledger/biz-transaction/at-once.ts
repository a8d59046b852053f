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
 * Postings in one statement and one round trip: nearly all there are bring units into accounts that
 * have some, or redeem those, after everything else there. The statement finds, prices, locks,
 * writes and renders such postings by the very SQL that `post` uses, and leaves out every request
 * of which anything might be refused, or waited for: those go through `post`, which has the words
 * and the patience.
 *
 * Posts what it can; gives the outcomes by the places of the requests. Those that may stand
 * anywhere bring units in, each of another account.
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

/** The answer to a request: of an array bytes, of a posting its values. */
type Told = { request: number; recordCount: number; values?: string; [bytesColumn]?: Buffer }

/** So many of several requests that it pays to look up once what they have in common. */
const manyTogether = 16

function sizeOf(postings: number): Shape['size'] {
  if (postings === 1) return 'one'
  return postings < manyTogether ? 'few' : 'many'
}

/** A posting that was written, by its place in the list. */
export type Appended = { place: number; productID: number; id: number }

/**
 * The same inside a transaction, for whoever posts a long list and tells of it as a whole: each
 * posting by itself, without an answer, an audit record and an event of its own. What is asked is
 * put together at once, and sent when it is its turn.
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

/** What each run brings, by what stands for it in the text. */
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
 * Several requests of one posting each, or one of several: the statement is made for either, since
 * to gather what is alone costs more than to write it.
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
/** As many digits as figures may have before the point. */
const limit = raw(`1e${decimalDigits}`)

/** Of a priced posting what is written and told: to carry a column costs in every step. */
const carried = raw(
  `s.place, s.product_id, s.account_id, s.investment_id, s.type_id, s.external_id,
      s.transaction_date, s.unit_price, s.charge, s.rate, s.comment, s.made_by_quantity,
      s.external_account_id, s.account_number, s.biz_entity_name, s.external_product_id,
      s.external_investment_id, s.security_code, s.investment_title`,
)
/** Its figures; what goes out is negative. */
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
 * What nothing speaks against, as the statement sees it. Of an investment without any holding the
 * decimals can still be changed, and an account without a row of the ledger must get one: both are
 * left to `post`. The version of an account's row is what everything read here depends on. An array
 * is behind a fence: the planner would else put the divisions of each figure into every condition
 * on it, which for a few postings costs less than the fence.
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
 * Units that are taken out are there, and nothing holds them. Who is named twice is left to `post`:
 * how many there are is told by what the other does.
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
 * Of the accounts those that nobody holds; in any order, since who waits for none cannot be waited
 * for in a circle. Every change of an account's units or of holds on it, and its closing, writes
 * its row anew: one that is still of the version seen has changed in nothing since this statement
 * began to read.
 */
const locked = sql`
    locked as (
      select f.* from fit f
      cross join lateral (
        select 1 from ledger_account n
        where n.ctid = f.account_at and n.product_id = f.product_id and n.xmin = f.version
        limit 1 for update skip locked) l)`

/**
 * Numbered under the lock: of two transactions of a day the later is behind. What is written then
 * may meet an external id that somebody is writing at this moment, and waits for it: briefly, where
 * a caller waits for the statement.
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
 * Whether a period is still open, now that it is held so (catalogue/product/period.ts): the
 * statement's own picture may be of before it was locked. Asked this late, since a function that
 * looks anew keeps the planner from putting the steps before together; and once for a product.
 */
const isOpen = (locked: string, day: string) => raw(`(${locked} < ${day}) is not false`)
const periodIsOpen = sql`where ${isOpen('period_lock(g.product_id)', 'g.transaction_date')}`
const eachByItself = (shape: Shape) => numbered(shape, 'ready', briefly, periodIsOpen)
/** The same of many, for which it is asked once. */
const eachOfMany = (shape: Shape, briefly: Fragment) => sql`
    ${numbered(shape, 'counted', briefly)},
    periods as materialized (
      select product_id, period_lock(product_id) as locked_to
      from (select distinct product_id from counted) c),
    ready as materialized (
      select c.* from counted c join periods p on p.product_id = c.product_id
      where ${isOpen('p.locked_to', 'c.transaction_date')})`
/** All of an array or none: what is numbered in vain leaves a gap. */
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

/** The names of a row t of `shown`; what is posted at once belongs to no distribution. */
const namesFound = raw(`
  cross join lateral (
    select t.external_account_id, t.account_number, t.biz_entity_name) a
  cross join lateral (
    select t.external_product_id, t.external_investment_id, t.security_code,
      t.investment_title) i
  cross join lateral (select null::text as external_corporate_action_id, null::text as name) d`)

const complete = raw(String(lookups.BizTransactionStatus.Complete))

/** From what is written, not from what was: the rows need not be read back. */
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
