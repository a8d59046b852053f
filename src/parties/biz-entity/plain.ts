import sql, { raw } from 'sql-template-tag'
import { today } from '../../catalogue/product/today.ts'
import type { Actor } from '../../platform/actor.ts'
import { type Made, made } from '../../platform/sql/form.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { mostTogether } from '../../platform/sql/together.ts'
import { balanceInOne } from '../account/balance.ts'
import { visibleEntity } from '../investor/scope.ts'
import { paymentDetailsOf } from '../payment-detail/sql.ts'
import { selectPerson } from '../person/sql.ts'
import {
  accountColumns,
  addressesOf,
  communicationsOf,
  entityColumns,
  partyColumns,
} from './shown.ts'

/**
 * Most entities are plain: persons for parties, no parents, and accounts that are worth something
 * in one currency, their own, with nothing dated later. They are read by a statement that knows of
 * nothing else, and says so of whoever is not plain. To set a statement up takes longer than to
 * read one entity, and longest where wide rows go from step to step: so what belongs to an entity
 * is JSON where it is read, and put together here.
 */

/** The parts of a record as JSON; null where the entity is not plain. */
type Row = {
  id: number
  own: string
  accounts: string | null
  addresses: string
  communications: string
  paymentDetails: string
  parties: string | null
  hasParents: boolean
}

/** Of some ids those of plain entities that the caller sees: their JSON. */
export async function readPlain(
  handle: Sql,
  actor: Actor,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const given = new Map([[these, JSON.stringify(ids)]])
  const rows = await handle.query<Row>(statementFor(actor).with(given))
  return new Map(rows.filter(isPlain).map((row) => [row.id, recordOf(row)]))
}

const isPlain = ({ accounts, parties, hasParents }: Row) =>
  accounts !== null && parties !== null && hasParents === false

/** As to_json writes a row of these columns, behind those of the entity itself. */
const recordOf = ({ own, accounts, addresses, communications, ...row }: Row) =>
  `${own.slice(0, -1)},"accounts":${accounts},"addresses":${addresses},` +
  `"communications":${communications},"paymentDetails":${row.paymentDetails},` +
  `"bizEntityParties":${row.parties},"bizEntityParents":[]}`

/** Stands for the ids of a run. */
const these = Symbol('ids')

/**
 * Made once for whoever asks: it is long, and to put it together, and to find the name it is
 * prepared under, takes a quarter of what Node does for an entity.
 */
const statements = new WeakMap<Actor, Made>()

function statementFor(actor: Actor): Made {
  const known = statements.get(actor)
  if (known) return known
  const statement = made(plainEntities(actor))
  statements.set(actor, statement)
  return statement
}

/**
 * The ids go as JSON, of which the planner knows nothing: of an array it would look at the length,
 * and plan anew each time, which takes longer than to read.
 */
export const givenIDs = (ids: string | symbol) => sql`
      select value::int as id from json_array_elements_text(${ids})
      limit ${raw(String(mostTogether))}`

const plainEntities = (actor: Actor) => sql`
  select b.biz_entity_id as id, b.own, (${itsAccounts}) as accounts,
    ${addressesOf} as addresses, ${communicationsOf} as communications,
    ${paymentDetailsOf(actor)} as "paymentDetails", (${itsPersons}) as parties,
    exists (select 1 from biz_entity_parent l where l.biz_entity_id = b.biz_entity_id)
      as "hasParents"
  from (${givenIDs(these)}) g
  cross join lateral (
    select o."bizEntityID" as biz_entity_id, o."externalBizEntityId" as external_biz_entity_id,
      to_json(o) as own
    from (
      select ${entityColumns} from biz_entity b
      where b.biz_entity_id = g.id and ${visibleEntity(actor, 'b')} limit 1) o) b`

/** A list of records that are JSON, or null where one of them is none of a plain entity. */
const listOfPlain = (isPlain: Fragment, record: Fragment) => sql`
  case when coalesce(bool_and(${isPlain}), true) then coalesce(json_agg(${record}), '[]') end`

const itsAccounts = sql`
  select ${listOfPlain(raw('r.is_plain'), raw('r.record'))}
  from (
    select to_json(x) as record, bal.is_plain and not pr.has_later as is_plain
    from account a
    cross join lateral (
      select pr.external_product_id, pr.today, coalesce((
        select l.last_date > pr.today from ledger_account l
        where l.product_id = a.product_id and l.account_id = a.account_id), false) as has_later
      from (
        select external_product_id, ${today('product')} as today
        from product where product_id = a.product_id limit 1) pr) pr
    cross join lateral (${balanceInOne('a', sql`pr.today`)}) bal
    cross join lateral (select ${accountColumns}) x
    where a.biz_entity_id = b.biz_entity_id
    order by a.account_id) r`

const itsPersons = sql`
  select ${listOfPlain(raw('r."organisationID" is null'), raw('r'))}
  from (
    select ${partyColumns}, yp.person, null::json as organisation
    from biz_entity_party y
    left join lateral (
      select r."personID" as person_id, r."externalPersonId" as external_person_id,
        to_json(r) as person
      from (${selectPerson(sql`p.person_id = y.person_id`)}) r) yp on true
    cross join (select null::text as external_organisation_id) yo
    where y.biz_entity_id = b.biz_entity_id
    order by y.ordinal, y.biz_entity_party_id) r`
