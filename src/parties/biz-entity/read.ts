import sql, { join, raw } from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { askedOfOthers, isNear, pageByOthers } from '../../platform/sql/by-others.ts'
import { asksFor } from '../../platform/sql/filters.ts'
import { madeForEach } from '../../platform/sql/form.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { type RowOf, recordset } from '../../platform/sql/recordset.ts'
import { type Answer, many, one, type Shown } from '../../platform/sql/render.ts'
import { byProduct, inProduct } from '../../platform/sql/spread.ts'
import { readTogether } from '../../platform/sql/together.ts'
import { balancesOf } from '../account/balance.ts'
import { asksFromAccount, entitiesFromAccount } from '../account/list-from.ts'
import { visibleEntity } from '../investor/scope.ts'
import { paymentDetailsOf } from '../payment-detail/sql.ts'
import { selectPerson } from '../person/sql.ts'
import { askedFor, itsAccounts } from './filters.ts'
import { selectParent } from './parents.ts'
import { givenIDs, type NotPlain, readPlain } from './plain.ts'
import type { BizEntityQuery } from './schema.ts'
import {
  accountColumns,
  addressesOf,
  communicationsOf,
  entityColumns,
  namesOfOrganisation,
  organisationOfParty,
  partyColumns,
} from './shown.ts'

const order = 'b.biz_entity_id'
const relations = [itsAccounts]

export function readEntities(handle: Sql, actor: Actor, query: BizEntityQuery): Promise<Shown> {
  const { BizEntityID: id, ...others } = query
  if (id && Object.keys(others).length === 0) return readEntity(handle, actor, id)
  const rows = sql`select b.* from biz_entity b where ${visibleEntity(actor, 'b')}`
  const own = join(askedFor(query), ' and ')
  const asked = join([own, ...askedOfOthers(relations, query)], ' and ')
  const isFromAccount = asksFromAccount(query) && asksFor(itsAccounts.filters, query)
  return renderPage(handle, query, {
    key: ['bizEntityID'],
    rows: (wanted) => {
      const isFound = isFromAccount && isNear(wanted)
      const whole = isFound
        ? entitiesFromAccount(wanted, sql`${rows} and ${own}`, query)
        : sql`${rows} and ${asked} ${page(wanted, 'biz_entity b', order)}`
      return pageByOthers(wanted, {
        alias: 'b',
        order,
        rows,
        own,
        relations,
        query,
        whole,
        isFound,
      })
    },
    show: (rows) => completeEntities(handle, actor, rows),
  })
}

/** Reads one entity by its id, the most frequent query, with the same answer as the list. */
async function readEntity(handle: Sql, actor: Actor, id: number): Promise<Answer> {
  const json = await entityOf(handle, actor, id)
  return json === undefined ? { json: '[]', recordCount: 0 } : { json: `[${json}]`, recordCount: 1 }
}

/**
 * Unless products are spread over several machines, entities are first read by the short statement
 * for plain ones. An entity that it cannot show is read by the statement that can. Next time that
 * statement is used first, for the whole list, because two statements in a row take longer than the
 * longer one alone.
 */
const entityOf = readTogether<Actor>(async (handle, actor, ids) => {
  if (await handle.isSpread()) return readThese(handle, actor, ids)
  const found = new Map<number, string>()
  let left: readonly number[] = ids
  while (left.length > 0) {
    const extent = extentOf(left)
    const read = await reads[extent]!(handle, actor, left)
    const others: number[] = []
    for (const [id, result] of read) {
      if (typeof result === 'string') found.set(id, result)
      else {
        remember(id, result.isPlainButForParties ? extent + 1 : wholeExtent)
        others.push(id)
      }
    }
    left = others
  }
  return found
})

/** Reads existing records by id, as JSON, or tells why a record needs a longer statement. */
type Reading = (
  handle: Sql,
  actor: Actor,
  ids: readonly number[],
) => Promise<ReadonlyMap<number, string | NotPlain>>

/** In order of length: each can show all that the previous ones can, the last shows everything. */
const reads: readonly Reading[] = [
  (handle, actor, ids) => readPlain(handle, actor, ids, 'persons'),
  (handle, actor, ids) => readPlain(handle, actor, ids, 'organisations'),
  (handle, actor, ids) => readThese(handle, actor, ids),
]
const wholeExtent = reads.length - 1

/**
 * The index in `reads` that an entity needs, if not the first. It is only a hint: the longer
 * statements also show an entity that has become plain since.
 */
const extents = new Map<number, number>()
const mostRemembered = 100_000

const extentOf = (ids: readonly number[]) => Math.max(...ids.map((id) => extents.get(id) ?? 0))

function remember(id: number, extent: number) {
  if (extents.size >= mostRemembered) extents.clear()
  extents.set(id, extent)
}

/**
 * Reads entities with the whole statement. It is made once per actor, except where products are
 * spread over several machines: there it depends on the ids.
 */
async function readThese(handle: Sql, actor: Actor, ids: readonly number[]) {
  const given = JSON.stringify(ids)
  if (!(await handle.isSpread()))
    return eachOf(handle, madeFor(actor).with(new Map([[these, given]])))
  return eachOf(
    handle,
    eachRecord(await completeEntities(handle, actor, pageOfThese(actor, given))),
  )
}

/** Placeholder in the statement for the ids of one run. */
const these = Symbol('ids')

const madeFor = madeForEach((actor: Actor) =>
  eachRecord(selectEntities(actor, pageOfThese(actor, these), selectBalances)),
)

const pageOfThese = (actor: Actor, ids: string | symbol) => sql`
      select b.* from (${givenIDs(ids)}) g
      cross join lateral (
        select * from biz_entity b
        where b.biz_entity_id = g.id and ${visibleEntity(actor, 'b')} limit 1) b`

const itsParents = sql`l.biz_entity_id = b.biz_entity_id`

const theseEntities = (ids: readonly number[]) => sql`
  select * from biz_entity b where b.biz_entity_id = any(${ids}::int[])`

export const entitiesByID = (handle: Sql, actor: Actor, ids: readonly number[]) =>
  completeEntities(handle, actor, theseEntities(ids))

/** Selects entities that were just created. Their accounts are empty, so no balances are read. */
export const newEntities = (actor: Actor, ids: readonly number[]) =>
  selectEntities(actor, theseEntities(ids), noBalances)

/** Reads the JSON of entities that were just created, by id. */
export const showEach = (handle: Sql, actor: Actor, ids: readonly number[]) =>
  eachOf(handle, eachRecord(newEntities(actor, ids)))

const eachRecord = (select: Fragment) => sql`
    select r."bizEntityID" as id, to_json(r)::text as json from (${select}) r`

async function eachOf(handle: Sql, records: Fragment): Promise<Map<number, string>> {
  const rows = await handle.query<{ id: number; json: string }>(records)
  return new Map(rows.map(({ id, json }) => [id, json]))
}

/**
 * Selects complete entities: first the page, then the nested lists. Each list is a subquery per
 * entity, because a wrong estimate of the planner cannot make that slow. It costs as much as
 * gathering the lists of all entities and joining them (for a page of 1000, 5.5 MB of JSON, 230 and
 * 260 ms on a busy two-core machine, nearly all of it spent on writing JSON). Balances come from
 * the ledger, which may be on other machines, so one join adds them up for the whole page.
 */
const selectEntities = (actor: Actor, page: Fragment, balances: Fragment) => sql`
  with page as materialized (${page}),
  page_account as materialized (
    select a.* from page b join account a on a.biz_entity_id = b.biz_entity_id),
  balance as (${balances}),
  accounts as (
    select r."bizEntityID" as id, json_agg(r.record order by r."accountID") as list
    from (
      select a.biz_entity_id as "bizEntityID", a.account_id as "accountID", ${one(sql`
        select ${accountColumns}`)} as record
      from page_account a
      cross join lateral (
        select external_product_id from product where product_id = a.product_id limit 1) pr
      left join balance bal on bal.account_id = a.account_id) r
    group by r."bizEntityID")
  select ${entityColumns},
    coalesce(accounts.list, '[]') as accounts,
    ${addressesOf} as addresses, ${communicationsOf} as communications,
    ${paymentDetailsOf(actor)} as "paymentDetails",
    ${many(selectParties)} as "bizEntityParties",
    ${parentsOf(actor)} as "bizEntityParents"
  from page b left join accounts on accounts.id = b.biz_entity_id
  order by b.biz_entity_id`

const selectBalances = balancesOf(sql`page_account`)

/**
 * Where products are spread over several machines, balances are added up by one SQL statement per
 * product and passed in as rows: a statement that reads the ledger of two products is refused.
 */
async function completeEntities(handle: Sql, actor: Actor, page: Fragment): Promise<Fragment> {
  if (!(await handle.isSpread())) return selectEntities(actor, page, selectBalances)
  const accounts = await handle.query<{ id: number; productID: number }>(sql`
    select a.account_id as id, a.product_id as "productID"
    from (${page}) b join account a on a.biz_entity_id = b.biz_entity_id`)
  const balances: RowOf<typeof balanceColumns>[] = []
  for (const [productID, rows] of byProduct(accounts)) {
    const own = sql`(select * from account where account_id = any(${rows.map(({ id }) => id)}))`
    balances.push(...(await inProduct(handle, productID).query(balancesOf(own))))
  }
  const told = sql`select * from ${recordset('g', balances, balanceColumns)}`
  return selectEntities(actor, page, told)
}

const noBalances = sql`
  select null::int as account_id, null::numeric as balance, null::json as balances where false`
const balanceColumns = { account_id: 'int', balance: 'numeric', balances: 'json' } as const

const none = raw(`'[]'::json`)

/**
 * Most entities have no parents, and finding that out is cheaper than building a list. The test
 * reads the first link, because for `exists` the planner may gather all links of the table.
 */
const parentsOf = (actor: Actor) => sql`
    case when (select true from biz_entity_parent l where ${itsParents} limit 1)
      then ${many(
        selectParent(actor, sql`${itsParents} order by l.active_from, l.parent_biz_entity_id`),
      )}
      else ${none} end`

const selectParties = sql`
  select ${partyColumns},
    ${one(selectPerson(sql`p.person_id is not null`, sql`(select yp.*)`))} as person,
    ${organisationOfParty} as organisation
  from biz_entity_party y
  left join person yp on yp.person_id = y.person_id
  ${namesOfOrganisation}
  where y.biz_entity_id = b.biz_entity_id
  order by y.ordinal, y.biz_entity_party_id`
