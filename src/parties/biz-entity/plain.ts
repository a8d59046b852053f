import sql, { raw } from 'sql-template-tag'
import { today } from '../../catalogue/product/today.ts'
import type { Actor } from '../../platform/actor.ts'
import { type Made, madeForEach } from '../../platform/sql/form.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { many } from '../../platform/sql/render.ts'
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
  namesOfOrganisation,
  organisationOfParty,
  partyColumns,
} from './shown.ts'

/**
 * Most entities are plain: they have no parents, their accounts have value in their own currency
 * only and no transactions dated later, and most of their parties are persons. The SQL statements
 * in this file read only plain entities and report those that are not. Setting up a statement takes
 * longer than reading one entity, mostly because of wide rows passed from step to step. So each
 * part of an entity becomes JSON where it is read, and Node joins the parts.
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

/** The parties that a statement can read: with organisations, its set-up takes twice as long. */
export type Parties = 'persons' | 'organisations'

/** An entity that a statement of this file could not read: perhaps only because of its parties. */
export type NotPlain = { isPlainButForParties: boolean }

/** Reads entities that the caller may see: JSON for plain ones, for others why they are not. */
export async function readPlain(
  handle: Sql,
  actor: Actor,
  ids: readonly number[],
  parties: Parties,
): Promise<Map<number, string | NotPlain>> {
  const given = new Map([[these, JSON.stringify(ids)]])
  const rows = await handle.query<Row>(statementFor[parties](actor).with(given))
  return new Map(rows.map((row) => [row.id, isPlain(row) ? recordOf(row) : notPlain(row)]))
}

const notPlain = ({ accounts, hasParents }: Row): NotPlain => ({
  isPlainButForParties: accounts !== null && !hasParents,
})

const isPlain = ({ accounts, parties, hasParents }: Row) =>
  accounts !== null && parties !== null && hasParents === false

/** Joins the parts of an entity to the JSON that to_json would write for the whole row. */
const recordOf = ({ own, accounts, addresses, communications, ...row }: Row) =>
  `${own.slice(0, -1)},"accounts":${accounts},"addresses":${addresses},` +
  `"communications":${communications},"paymentDetails":${row.paymentDetails},` +
  `"bizEntityParties":${row.parties},"bizEntityParents":[]}`

/** Placeholder in the statement for the ids of one run. */
const these = Symbol('ids')

/**
 * Each actor's statement is made once. The text is long: building it and finding the name of its
 * prepared statement takes a quarter of Node's time for an entity.
 */
const statementFor: Record<Parties, (actor: Actor) => Made> = {
  persons: madeForEach((actor) => plainEntities(actor, 'persons')),
  organisations: madeForEach((actor) => plainEntities(actor, 'organisations')),
}

/**
 * Passes ids as JSON, because the planner cannot look into it. It would look at the length of an
 * array and plan anew each time, which takes longer than reading.
 */
export const givenIDs = (ids: string | symbol) => sql`
      select value::int as id from json_array_elements_text(${ids})
      limit ${raw(String(mostTogether))}`

const plainEntities = (actor: Actor, parties: Parties) => sql`
  select b.biz_entity_id as id, b.own, (${itsAccounts}) as accounts,
    ${addressesOf} as addresses, ${communicationsOf} as communications,
    ${paymentDetailsOf(actor)} as "paymentDetails", ${itsParties[parties]} as parties,
    exists (select 1 from biz_entity_parent l where l.biz_entity_id = b.biz_entity_id)
      as "hasParents"
  from (${givenIDs(these)}) g
  cross join lateral (
    select o."bizEntityID" as biz_entity_id, o."externalBizEntityId" as external_biz_entity_id,
      to_json(o) as own
    from (
      select ${entityColumns} from biz_entity b
      where b.biz_entity_id = g.id and ${visibleEntity(actor, 'b')} limit 1) o) b`

/** A JSON list of records, or null if one of them does not fit a plain entity. */
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

const selectParties = (organisation: Fragment, itsNames: Fragment) => sql`
    select ${partyColumns}, yp.person, ${organisation} as organisation
    from biz_entity_party y
    left join lateral (
      select r."personID" as person_id, r."externalPersonId" as external_person_id,
        to_json(r) as person
      from (${selectPerson(sql`p.person_id = y.person_id`)}) r) yp on true
    ${itsNames}
    where y.biz_entity_id = b.biz_entity_id
    order by y.ordinal, y.biz_entity_party_id`

const noNames = raw('cross join (select null::text as external_organisation_id) yo')
const itsParties: Record<Parties, Fragment> = {
  persons: sql`
  (select ${listOfPlain(raw('r."organisationID" is null'), raw('r'))}
  from (${selectParties(raw('null::json'), noNames)}) r)`,
  organisations: many(selectParties(organisationOfParty, namesOfOrganisation)),
}
