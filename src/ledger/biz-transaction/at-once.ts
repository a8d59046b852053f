import sql, { empty, raw } from 'sql-template-tag'
import { investmentReference } from '../../catalogue/investment/schema.ts'
import { productReference } from '../../catalogue/product/schema.ts'
import { accountReference } from '../../parties/account/reference.ts'
import { standing } from '../../parties/account/standing.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import { insertEventRows } from '../../platform/sql/event.ts'
import type { Fragment, Once, Tx } from '../../platform/sql/handle.ts'
import {
  type Name,
  type NameColumns,
  nameOf,
  namesAny,
  type Reference,
  recordNamed,
} from '../../platform/sql/identify.ts'
import { recordset } from '../../platform/sql/recordset.ts'
import { insertKeyRows, tryKey } from '../../platform/sql/retry-keys.ts'
import { insertAuditRows, type Outcome, type Write } from '../../platform/sql/unit-of-work.ts'
import { eventReference } from '../biz-event/hand-off.ts'
import { singleLegs, unimpeded } from './figures.ts'
import type { PostingRequest } from './item.ts'
import { type Body, legsOf, problemsOf } from './legs.ts'
import { shownRows } from './sql.ts'
import { appending, appendingOnePerAccount, heldBy } from './units.ts'

/**
 * Postings in one statement and one round trip: nearly all there are bring units into accounts that
 * have some, after everything else there. The statement finds, prices, locks, writes and renders
 * such postings by the very SQL that `post` uses, and leaves out every request of which anything
 * might be refused, or waited for: those go through `post`, which has the words and the patience.
 */
export type AtOnce = { write: Write; request: PostingRequest }

/** The columns by which its bodies name things; requests of one statement have the same. */
export type Naming = { account: string; investment: string; product: string | undefined }

/** How a request names things, where it is of the kind that can be posted at once. */
export function namingOf({ operation, bodies, path }: PostingRequest): Naming | undefined {
  if (operation !== 'Deposit' && operation !== 'Allotment') return undefined
  const [first] = bodies
  const naming = first && columnsOf(first)
  const fits = (body: Body, i: number) =>
    !namesAny(eventReference, body) &&
    problemsOf({ operation, body, path: path(i) }).length === 0 &&
    sameNaming(columnsOf(body), naming)
  return naming && bodies.every(fits) && !namesTwice(bodies) ? naming : undefined
}

export const sameNaming = (one: Naming | undefined, other: Naming | undefined) =>
  one?.account === other?.account &&
  one?.investment === other?.investment &&
  one?.product === other?.product

/** External ids and codes are looked up in a product: where none is named `post` says so. */
function columnsOf(body: Body): Naming | undefined {
  const [account, investment] = [accountReference, investmentReference].map((reference) =>
    nameOf(reference, body),
  )
  const product = nameOf(productReference, body)
  if (!account || !investment) return undefined
  if (!product && account.column !== accountReference.identity.columns[0]) return undefined
  return { account: account.column, investment: investment.column, product: product?.column }
}

const namesTwice = (bodies: readonly Body[]) => {
  const ids = bodies.flatMap(({ externalBizTransactionId: id }) => id ?? [])
  return new Set(ids).size < ids.length
}

/** Posts what it can; gives the outcomes by the places of the requests. */
export async function postAtOnce(
  { once }: Once,
  actor: Actor,
  naming: Naming,
  requests: readonly AtOnce[],
): Promise<Map<number, Outcome>> {
  const rows = await once<{ request: number; json: string; count: number }>(
    statement(actor, naming, requests),
  )
  return new Map(
    rows.map(({ request, json, count }) => [
      request,
      { answer: { json, recordCount: count }, replayed: false },
    ]),
  )
}

/** A posting that was written, by its place in the list. */
export type Appended = { place: number; productID: number; id: number }

/**
 * The same inside a transaction, for whoever posts a long list and tells of it as a whole: each
 * posting by itself, without an answer, an audit record and an event of its own.
 */
export const appendAtOnce = (
  tx: Tx,
  actor: Actor,
  naming: Naming,
  list: readonly Asked[],
): Promise<Appended[]> =>
  tx.query<Appended>(sql`
    with ${singleLegs(resolved(actor, naming, list.map(rowOf)), standingFound)},
    ${fit(false)}, ${locked}, ${numbered(empty, empty)},
    ${appendingFor(list.map(({ body }) => body))}
    select place, product_id as "productID", id from ready`)

/**
 * Several requests of one posting each, or one of several: the statement is made for either, since
 * to gather what is alone costs more than to write it.
 */
function statement(actor: Actor, naming: Naming, requests: readonly AtOnce[]): Fragment {
  const [{ write, request }] = requests as [AtOnce]
  const isArray = request.bodies.length > 1
  const keyed = requests.some((one) => one.write.retry)
  const append = appendingFor(requests.flatMap((one) => one.request.bodies))
  const { resource, event } = write
  return sql`
    with ${singleLegs(resolved(actor, naming, requests.flatMap(rowsOf)), standingFound)},
    ${fit(keyed)}, ${locked}, ${isArray ? wholeArray(request.bodies.length) : eachByItself},
    ${append}, shown as ${isArray ? raw('materialized') : empty} (${shown}),
    ${isArray ? toldTogether : toldOneByOne},
    audited as (${insertAuditRows(sql`
      select user_id, username, operation, ${resource}, resource_id, resource_ids, product_id,
        changes::json, request_id, ${raw(isArray ? 'null::boolean' : 'true')}
      from told`)})
    ${isArray ? raised(event, resource) : empty}
    ${keyed ? kept : empty}
    select request, json, count from told`
}

/** Of an array, which may be of several products; of one posting the audit record is the event. */
const raised = (event: Write['event'], resource: string) => sql`,
    raised as (${insertEventRows(sql`
      select ${event}, ${resource}, product_id, array_agg(biz_transaction_id order by place),
        null::json, user_id
      from shown group by product_id, user_id`)})`

/** Where an account is in it more than once, its postings are counted one after another. */
function appendingFor(bodies: readonly Body[]): Fragment {
  const names = bodies.map((body) => valued(nameOf(accountReference, body)))
  const hasRepeats = new Set(names).size < names.length
  return hasRepeats ? appending(sql`g.product_id`, postings) : onePerAccount
}

const types = {
  place: 'int',
  request: 'int',
  type_id: 'smallint',
  account_name: '',
  investment_name: '',
  product_name: '',
  transaction_date: 'date',
  quantity: 'numeric',
  amount: 'numeric',
  price: 'numeric',
  fee: 'numeric',
  fee_override: 'numeric',
  fee_percentage: 'numeric',
  fee_discount: 'numeric',
  external_id: 'text',
  comment: 'text',
  made_by_quantity: 'boolean',
  user_id: 'int',
  // What the audit record tells of a request stands with its first posting.
  username: 'text',
  operation: 'text',
  request_id: 'text',
  changes: 'text',
  key: 'text',
  fingerprint: 'text',
}

/** The postings with product, account and investment found. */
function resolved(actor: Actor, naming: Naming, given: readonly Row[]): Fragment {
  const visible = inScope(actor, 'r.product_id')
  const { account, investment, product } = naming
  const native = (column: string) => column.endsWith('_id') && !/^external/.test(column)
  const typeOf = (column: string) => (native(column) ? 'bigint' : 'text')
  const all = {
    ...types,
    account_name: typeOf(account),
    investment_name: typeOf(investment),
    product_name: typeOf(product ?? 'product_id'),
  }
  const rows = given.map((row, place) => ({ ...row, place }))
  const { used, unused } = splitByUse(all, rows)
  const inProduct = product ? 'p.id' : 'null::int'
  const byProduct = { value: 'g.product_name', productID: 'null::int' }
  const byAccount = { value: 'g.account_name', productID: inProduct }
  const byInvestment = { value: 'g.investment_name', productID: 'a."productID"' }
  const named = ({ identity }: Reference, column: string, by: NameColumns, others?: string[]) =>
    recordNamed(identity, column, by, visible, others)
  const found = (one: Fragment, alias: string) => sql`cross join lateral (${one}) ${raw(alias)}`
  return sql`
    select g.*, a.id as account_id, a."productID" as product_id, i.id as investment_id,
      null::numeric as factor, false as carries, ${standing('a', 'e')} as found_standing,
      a.external_account_id, a.account_number, e.name as biz_entity_name,
      i.external_investment_id, i.security_code, i.name as investment_title ${unused}
    from ${recordset('g', rows, used)}
    ${product ? found(named(productReference, product, byProduct), 'p') : empty}
    ${found(named(accountReference, account, byAccount, ofAccount), 'a')}
    cross join lateral (
      select name, biz_entity_status_id from biz_entity
      where biz_entity_id = a.biz_entity_id limit 1) e
    ${found(named(investmentReference, investment, byInvestment, ofInvestment), 'i')}`
}

/** What is told of them, and how the account stands: read once, with the account. */
const ofAccount = ['biz_entity_id', 'account_status_id', 'external_account_id', 'account_number']
const ofInvestment = ['external_investment_id', 'security_code', 'name']
const standingFound = sql`select g.found_standing as standing`

type Row = Readonly<Record<string, string | number | boolean | null | undefined>>

/** To hand over nothing in a dozen columns costs as much as what there is. */
function splitByUse(all: Readonly<Record<string, string>>, rows: readonly Row[]) {
  const columns = Object.entries(all)
  const isUsed = ([name]: [string, string]) => rows.some((row) => (row[name] ?? null) !== null)
  const unused = columns.filter((column) => !isUsed(column))
  return {
    used: Object.fromEntries(columns.filter(isUsed)),
    unused: raw(unused.map(([name, type]) => `, null::${type} as ${name}`).join('')),
  }
}

const valued = (name: Name | undefined) => name?.value

type Asked = Pick<PostingRequest, 'operation'> & { body: Body }

function rowOf({ operation, body }: Asked): Row {
  const leg = legsOf(operation, body)[0]! // these operations have one
  return {
    type_id: leg.typeID,
    account_name: valued(nameOf(accountReference, body)),
    investment_name: valued(nameOf(investmentReference, body)),
    product_name: valued(nameOf(productReference, body)),
    transaction_date: body.transactionDate,
    quantity: leg.quantity,
    amount: leg.amount,
    price: leg.price,
    fee: leg.fee?.entryFeeAmount,
    fee_override: leg.fee?.entryFeeOverridePercentage,
    fee_percentage: leg.fee?.entryFeePercentage,
    fee_discount: leg.fee?.entryFeeDiscountPercentage,
    external_id: leg.externalID,
    comment: body.comment,
    made_by_quantity: leg.quantity !== undefined && leg.amount === undefined ? true : null,
  }
}

const rowsOf = ({ write, request: { operation, bodies } }: AtOnce, request: number): Row[] =>
  bodies.map((body, i) => ({
    ...rowOf({ operation, body }),
    request,
    user_id: write.userID,
    ...(i === 0 && toldOnce(write, bodies)),
  }))

const toldOnce = (write: Write, bodies: readonly Body[]) => ({
  username: write.username,
  operation: write.operation,
  request_id: write.requestID,
  changes: JSON.stringify(bodies.length > 1 ? bodies : bodies[0]),
  key: write.retry?.key,
  fingerprint: write.retry?.fingerprint.toString('hex'),
})

const isUnimpeded = unimpeded('s')
/** As many digits as figures may have before the point. */
const limit = raw('1e18')

/** Of a priced posting what is written and told: to carry a column costs in every step. */
const carried = raw(
  `s.place, s.request, s.product_id, s.account_id, s.investment_id, s.type_id, s.external_id,
      s.transaction_date, s.unit_price, s.own_amount, s.own_quantity, s.charge, s.rate, s.comment,
      s.made_by_quantity, s.user_id, s.username, s.operation, s.request_id, s.changes, s.key,
      s.fingerprint, s.external_account_id, s.account_number, s.biz_entity_name,
      s.external_product_id, s.external_investment_id, s.security_code, s.investment_title`,
)

/**
 * What nothing speaks against, as the statement sees it. Of an investment without any holding the
 * decimals can still be changed, and an account without a row of the ledger must get one: both are
 * left to `post`. The version of an account's row is what everything read here depends on.
 */
const fit = (keyed: boolean) => sql`
    fit as (
      select ${carried}, l.version, h.*
      from single s
      cross join lateral (
        select xmin as version, last_date from ledger_account
        where product_id = s.product_id and account_id = s.account_id limit 1) l
      left join lateral (${heldBy('s', sql`s.product_id`)}) h on true
      where ${isUnimpeded} and s.own_quantity > 0 and s.own_quantity < ${limit}
        and s.own_amount < ${limit} and s.charge <= s.own_amount
        and (l.last_date is null or l.last_date <= s.transaction_date)
        and (h.held_quantity is not null or exists (select 1 from holding h
          where h.product_id = s.product_id and h.investment_id = s.investment_id))
        and (s.external_id is null or not exists (select 1 from biz_transaction b
          where b.product_id = s.product_id and b.external_biz_transaction_id = s.external_id))
        ${keyed ? keyIsFree : empty})`

const keyIsFree = sql`
        and (s.key is null or (${tryKey('s')} and not exists (
          select 1 from idempotency k where k.user_id = s.user_id and k.key = s.key)))`

/**
 * Of the accounts those that nobody holds; in any order, since who waits for none cannot be waited
 * for in a circle. Every change of an account's units, and its closing, writes its row anew: one
 * that is still of the version seen has changed in nothing since this statement began to read.
 */
const locked = sql`
    locked as (
      select f.* from fit f
      cross join lateral (
        select 1 from ledger_account n
        where n.product_id = f.product_id and n.account_id = f.account_id and n.xmin = f.version
        limit 1 for update skip locked) l)`

/**
 * Numbered under the lock: of two transactions of a day the later is behind. What is written then
 * may meet an external id that somebody is writing at this moment, and waits for it: briefly, where
 * a caller waits for the statement.
 */
const numbered = (briefly: Fragment, rows: Fragment) => sql`
    ready as materialized (
      select l.*, nextval('biz_transaction_biz_transaction_id_seq') as id
      from ${briefly}
        (select * from locked ${rows} order by place) l)`
const briefly = raw(`(select set_config('lock_timeout', '100ms', true)) briefly,`)
const eachByItself = numbered(briefly, empty)
const wholeArray = (size: number) =>
  numbered(briefly, sql`where (select count(*) from locked) = ${size}::int`)

const postings = sql`
      select product_id, id, external_id, type_id, null::bigint as parent_id, account_id,
        investment_id, transaction_date, unit_price as investment_price, own_amount as amount,
        own_quantity as quantity, charge as entry_fee_amount, comment,
        null::int as corporate_action_id, null::bigint as biz_event_id,
        null::numeric as carried_cost, null::smallint as conversion_method_id,
        null::numeric as conversion_factor, rate as entry_fee_percentage, made_by_quantity,
        held_quantity, held_amount, held_cost, held_gain
      from ready`

const onePerAccount = appendingOnePerAccount(postings)

/** The names of a row t of `shown`; what brings units in belongs to no distribution. */
const namesFound = raw(`
  cross join lateral (
    select t.external_account_id, t.account_number, t.biz_entity_name) a
  cross join lateral (
    select t.external_product_id, t.external_investment_id, t.security_code,
      t.investment_title as name) i
  cross join lateral (select null::text as external_corporate_action_id, null::text as name) d`)

/** A full join cannot become a loop within a loop, whatever the planner takes the lists for. */
const shown = shownRows(
  sql`
      select w.*, r.request, r.place, r.user_id, r.username, r.operation, r.request_id, r.changes,
        r.key, r.fingerprint, r.external_account_id, r.account_number, r.biz_entity_name,
        r.external_product_id, r.external_investment_id, r.security_code, r.investment_title
      from written w full join ready r on r.id = w.biz_transaction_id offset 0`,
  namesFound,
)

const toldOneByOne = sql`
    told as materialized (
      select request, user_id, 1 as count, product_id, biz_transaction_id as resource_id,
        null::bigint[] as resource_ids, '[' || to_json(shown)::text || ']' as json, username,
        operation, request_id, changes, key, fingerprint
      from shown)`

const toldTogether = sql`
    told as materialized (
      select 0 as request, max(user_id) as user_id, count(*)::int as count,
        case when min(product_id) = max(product_id) then min(product_id) end as product_id,
        null::bigint as resource_id,
        array_agg(biz_transaction_id order by place) as resource_ids,
        json_agg(shown order by place)::text as json, max(username) as username,
        max(operation) as operation, max(request_id) as request_id, max(changes) as changes,
        max(key) as key, max(fingerprint) as fingerprint
      from shown having count(*) > 0)`

const kept = sql`,
    kept as (${insertKeyRows(sql`
      select user_id, key, decode(fingerprint, 'hex'),
        json_build_object('json', json, 'recordCount', count)::text
      from told where key is not null`)})`
