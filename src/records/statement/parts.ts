import sql, { raw } from 'sql-template-tag'
import { usualKinds } from '../../catalogue/product/income-kinds.ts'
import { ofKind } from '../../ledger/biz-transaction/kinds.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, notFound } from '../../platform/refusal.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import type { StatementSubject } from './kind.ts'

const { Email } = lookups.CommunicationType
const { Postal, Physical } = lookups.AddressType

/** The name and the currency of the investment (class) i. */
export const className = raw(
  'coalesce(i.security_code, i.name, i.external_investment_id, i.investment_id::text)',
)
export const currency = raw(
  `(array[${Object.keys(lookups.Currency)
    .map((code) => `'${code}'`)
    .join(', ')}])[i.currency_id]`,
)
/** The name of the kind of transaction b. */
export const typeName = raw(ofKind('b.biz_transaction_type_id', ({ name }) => name))
/** Rounds a price to at least four decimals, so that prices line up; more where it has more. */
export const shownPrice = (column: string) =>
  raw(`round(${column}, greatest(4, scale(trim_scale(${column}))))`)
/** An amount of money as text, with the decimals of the currency of the class i. */
export const money = (column: string) => `round(${column}, minor_units(i.currency_id))::text`

/**
 * A condition for the rows of the accounts that an order names. The alias `a`, the default, stands
 * for the account table.
 */
export const wanted = ({ bizEntityID, accountID }: StatementSubject, of = 'a'): Fragment => sql`
  ${accountID ? sql`${raw(of)}.account_id = ${accountID}` : sql`true`}
  and ${bizEntityID ? sql`${raw(of)}.account_id = any(${accountsOf(bizEntityID)})` : sql`true`}`

export const accountsOf = (bizEntityID: number) =>
  sql`array(select a.account_id from account a where a.biz_entity_id = ${bizEntityID})`

/**
 * Joins a record that each row names by its key. "offset 0" makes PostgreSQL look it up row by row:
 * in a report about the past these tables are views, and a planner that expects few rows would read
 * the whole view for each of them.
 */
export const lookedUp = (table: string, alias: string, on: string) => `
  cross join lateral (select ${alias}.* from ${table} ${alias} where ${on} offset 0) ${alias}`

/**
 * Joins for a row of the ledger: its product p, account a, entity e (the owner of a), class i and
 * distribution d.
 */
export const itsProduct = (of: string) =>
  raw(lookedUp('product', 'p', `p.product_id = ${of}.product_id`))
export const itsAccount = (of: string) =>
  raw(lookedUp('account', 'a', `a.account_id = ${of}.account_id`))
export const itsOwner = raw(lookedUp('biz_entity', 'e', 'e.biz_entity_id = a.biz_entity_id'))
export const itsClass = (of: string) =>
  raw(lookedUp('investment', 'i', `i.investment_id = ${of}.investment_id`))
export const itsDistribution = (of: string) =>
  raw(
    lookedUp(
      'distribution',
      'd',
      `d.product_id = ${of}.product_id and d.corporate_action_id = ${of}.corporate_action_id`,
    ),
  )

/** The residual of an entitlement t that was paid out in the end, as o.amount. */
export const residualPaid = sql`
  cross join lateral (
    select sum(r.amount) as amount from residual_payment r
    where r.product_id = t.product_id and r.corporate_action_id = t.corporate_action_id
      and r.account_id = t.account_id and r.reversed_date is null) o`

/**
 * The kind of income of component c of distribution d and product p: the kind recorded when the
 * distribution was paid; else, also where none was recorded then, the kind that the product states.
 */
export const kindOfComponent = raw(`coalesce(d.paid_income_kinds[c.ordinal],
  (select k ->> 'incomeKind' from json_array_elements(p.tax_component_kinds) k
    where lower(trim(k ->> 'taxComponentName')) = lower(trim(c.tax_component_name)) limit 1),
  case lower(trim(c.tax_component_name)) ${Object.entries(usualKinds)
    .map(([name, kind]) => `when '${name}' then '${kind}'`)
    .join(' ')} end)`)

/**
 * The company tax percentage for franked components of distribution d, chosen by the same rule as
 * the kind of a component.
 */
export const companyTax = raw('coalesce(d.paid_company_tax, p.company_tax_percentage)::text')

/**
 * The stage of distribution d that is under way. Until it ends it has changed some accounts and not
 * the others, so a report across all accounts would be wrong for some of them.
 */
export const stageUnderWay = sql`(
  select g.stage from distribution_stage g
  where g.product_id = d.product_id and g.corporate_action_id = d.corporate_action_id)`

/**
 * What a report is about, which the order has found on the register of now; at its knownAt it may
 * not have been there yet.
 */
export function knownThen<Row>(row: Row | undefined, what: string): Row {
  if (row) return row
  throw notFound(
    'not_found',
    `The ${what} was not known yet at knownAt: order the report with a later one.`,
    'knownAt',
  )
}

export function refuseUnderWay({ underWay }: { underWay: string | null }) {
  if (underWay)
    throw conflict(
      'in_progress',
      `The stage ${underWay} of the distribution is under way: order the report when it has ended.`,
    )
}

/** A condition for distributions d that are paid and whose payment is not being reversed. */
export const isPaid = sql`d.distribution_status_id >= ${lookups.DistributionStatus.Paid}
  and ${stageUnderWay} is distinct from 'ReversePayment'`

const contactFirst = 'case when y.is_primary_contact then 2 else 3 end as place'

/**
 * Joins a record of each party y of the entity e under an alias. "offset 0" makes PostgreSQL look
 * it up for each party: for the past these tables are views, and a join would read the whole view
 * each time.
 */
const ofParty = (select: string, alias: string) => `
  from biz_entity_party y cross join lateral (${select} offset 0) ${alias}
  where y.biz_entity_id = e.biz_entity_id`

const partyAddress = (owner: string) => `
    select ${contactFirst}, x.*
    ${ofParty(`select x.* from address x where x.${owner} = y.${owner}`, 'x')}`

/**
 * The address x used for the entity e: its own, else that of the primary contact, else that of
 * another party. At each step a postal address comes first.
 */
export const addressThatCounts = `
  from (
    select 1 as place, x.* from address x where x.biz_entity_id = e.biz_entity_id
    union all ${partyAddress('person_id')}
    union all ${partyAddress('organisation_id')}) x
  order by x.place, case x.address_type_id when ${Postal} then 1 when ${Physical} then 2 else 3 end,
    x.address_id limit 1`

/** The address of the entity e as an array of lines. */
const address = `
  select array_remove(array[nullif(trim(x.above_address_line), ''),
    nullif(trim(x.address_line), ''),
    nullif(concat_ws(' ', x.suburb, x.state_code, x.postcode), ''),
    case when x.country_code not in ('AU', 'AUS') then coalesce((
      select l.name from lookup l where l.category = 'Country'
        and x.country_code in (l.code, l.description) limit 1), x.country_code) end], null) as lines
  ${addressThatCounts}`

const partyEmail = (owner: string) => `
    select case when y.is_primary_contact then 1 else 2 end, c.name, c.communication_id
    ${ofParty(
      `select c.name, c.communication_id from communication c
      where c.${owner} = y.${owner} and c.communication_type_id = ${Email}`,
      'c',
    )}`

/** The e-mail address of the entity e, else that of the primary contact, else that of any party. */
const email = `
  select c.name as email from (
    select 0 as place, c.name, c.communication_id from communication c
    where c.biz_entity_id = e.biz_entity_id and c.communication_type_id = ${Email}
    union all ${partyEmail('person_id')}
    union all ${partyEmail('organisation_id')}) c
  order by c.place, c.communication_id limit 1`

/**
 * The surname under which an individual e is listed. Of two people in one account the primary
 * contact comes first, then the party with the lower id.
 */
export const surname = `
  select s.last_name
  ${ofParty('select s.last_name from person s where s.person_id = y.person_id', 's')}
    and e.biz_entity_type_id = ${lookups.BizEntityType.Individual} and s.last_name <> ''
  order by y.is_primary_contact desc nulls last, y.biz_entity_party_id limit 1`

/** Adds the addressee to each row of a select that has account_id and data. */
export const withHolders = (accounts: Fragment): Fragment => sql`
  select a.account_id as "accountID", a.account_number as "accountNumber", e.name,
    coalesce(k.last_name, e.name) as surname, to_json(array[e.name::text] || d.lines)::text
      as addressee, m.email, e.communication_preference_id as "preferenceID", x.data::text as data
  from (${accounts}) x ${itsAccount('x')} ${itsOwner}
  left join lateral (${raw(address)}) d on true
  left join lateral (${raw(email)}) m on true
  left join lateral (${raw(surname)}) k on true
  order by a.account_id`

/** A row that `withHolders` selects. */
export type HolderRow = {
  accountID: number
  accountNumber: string
  name: string
  surname: string
  /** The address lines and the data as JSON; this process passes both on without parsing them. */
  addressee: string
  data: string
  email: string | null
  preferenceID: number | null
}
