import sql, { raw } from 'sql-template-tag'
import { usualKinds } from '../../catalogue/product/income-kinds.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict } from '../../platform/refusal.ts'
import type { Fragment } from '../../platform/sql/handle.ts'
import type { StatementSubject } from './kind.ts'

const { Email } = lookups.CommunicationType
const { Postal, Physical } = lookups.AddressType

/** What every statement needs to know of the class i. */
export const className = raw('coalesce(i.security_code, i.name, i.external_investment_id)')
export const currency = raw(
  `(array[${Object.keys(lookups.Currency)
    .map((code) => `'${code}'`)
    .join(', ')}])[i.currency_id]`,
)
/** Money of the class i as text, in the decimals of its currency. */
export const money = (column: string) => `round(${column}, minor_units(i.currency_id))::text`

/** Rows of the accounts that an order names, as a condition; those of the account table are a. */
export const wanted = ({ bizEntityID, accountID }: StatementSubject, of = 'a'): Fragment => sql`
  ${accountID ? sql`${raw(of)}.account_id = ${accountID}` : sql`true`}
  and ${bizEntityID ? sql`${raw(of)}.account_id = any(${accountsOf(bizEntityID)})` : sql`true`}`

export const accountsOf = (bizEntityID: number) =>
  sql`array(select a.account_id from account a where a.biz_entity_id = ${bizEntityID})`

/**
 * A record that a row names by its key, looked up for each row by itself, and "offset 0" keeps it
 * so: of the past these are views, which a join that expects few rows would read whole for each.
 */
export const lookedUp = (table: string, alias: string, on: string) => `
  cross join lateral (select ${alias}.* from ${table} ${alias} where ${on} offset 0) ${alias}`

/** Of a row of the ledger: its product p, account a, whose that is e, class i, distribution d. */
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

/** What an entitlement t left over and was paid out after all, as o. */
export const residualPaid = sql`
  cross join lateral (
    select sum(r.amount) as amount from residual_payment r
    where r.product_id = t.product_id and r.corporate_action_id = t.corporate_action_id
      and r.account_id = t.account_id and r.reversed_date is null) o`

/**
 * What the component c of distribution d and product p is for tax: as it was when it was paid;
 * else, and where nobody had told then, as the product says.
 */
export const kindOfComponent = raw(`coalesce(d.paid_income_kinds[c.ordinal],
  (select k ->> 'incomeKind' from json_array_elements(p.tax_component_kinds) k
    where lower(trim(k ->> 'taxComponentName')) = lower(trim(c.tax_component_name)) limit 1),
  case lower(trim(c.tax_component_name)) ${Object.entries(usualKinds)
    .map(([name, kind]) => `when '${name}' then '${kind}'`)
    .join(' ')} end)`)

/** The company tax that franked components of distribution d carry, by the same rule. */
export const companyTax = raw('coalesce(d.paid_company_tax, p.company_tax_percentage)::text')

/**
 * The stage of distribution d that is under way. Half way some accounts have what it does and the
 * others not yet, so that whatever is told of all of them would be wrong for some.
 */
export const stageUnderWay = sql`(
  select g.stage from distribution_stage g
  where g.product_id = d.product_id and g.corporate_action_id = d.corporate_action_id)`

export function refuseUnderWay({ underWay }: { underWay: string | null }) {
  if (underWay)
    throw conflict(
      'in_progress',
      `The stage ${underWay} of the distribution is under way: order this when it has ended.`,
    )
}

/** Of distributions d those that are paid, and of which the payment is not being taken back. */
export const isPaid = sql`d.distribution_status_id >= ${lookups.DistributionStatus.Paid}
  and ${stageUnderWay} is distinct from 'ReversePayment'`

const contactFirst = 'case when y.is_primary_contact then 2 else 3 end as place'

/**
 * What a party y of the entity e has, under an alias. It is looked up for each party by itself, and
 * "offset 0" keeps it so: of the past these are views, which a join would read whole each time.
 */
const ofParty = (select: string, alias: string) => `
  from biz_entity_party y cross join lateral (${select} offset 0) ${alias}
  where y.biz_entity_id = e.biz_entity_id`

const partyAddress = (owner: string) => `
    select ${contactFirst}, x.*
    ${ofParty(`select x.* from address x where x.${owner} = y.${owner}`, 'x')}`

/**
 * The address x that counts for the entity e: its own, else that of the primary contact, else that
 * of another party; of each a postal one first.
 */
export const addressThatCounts = `
  from (
    select 1 as place, x.* from address x where x.biz_entity_id = e.biz_entity_id
    union all ${partyAddress('person_id')}
    union all ${partyAddress('organisation_id')}) x
  order by x.place, case x.address_type_id when ${Postal} then 1 when ${Physical} then 2 else 3 end,
    x.address_id limit 1`

/** As lines. */
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

/** The e-mail address of the entity, else that of the primary contact, else of any party. */
const email = `
  select c.name as email from (
    select 0 as place, c.name, c.communication_id from communication c
    where c.biz_entity_id = e.biz_entity_id and c.communication_type_id = ${Email}
    union all ${partyEmail('person_id')}
    union all ${partyEmail('organisation_id')}) c
  order by c.place, c.communication_id limit 1`

/**
 * What a member e is looked up by, where it is a person: the surname. Of two people in one account
 * the first counts.
 */
export const surname = `
  select s.last_name
  ${ofParty('select s.last_name from person s where s.person_id = y.person_id', 's')}
    and e.biz_entity_type_id = ${lookups.BizEntityType.Individual} and s.last_name <> ''
  order by y.is_primary_contact desc nulls last, y.biz_entity_party_id limit 1`

/** A row for each account of a select with account_id and data, with whom the letter goes to. */
export const withHolders = (accounts: Fragment): Fragment => sql`
  select a.account_id as "accountID", a.account_number as "accountNumber", e.name,
    coalesce(k.last_name, e.name) as surname, to_json(array[e.name::text] || d.lines)::text
      as addressee, m.email, e.communication_preference_id as "preferenceID", x.data::text as data
  from (${accounts}) x ${itsAccount('x')} ${itsOwner}
  left join lateral (${raw(address)}) d on true
  left join lateral (${raw(email)}) m on true
  left join lateral (${raw(surname)}) k on true
  order by a.account_id`

/** A row of what withHolders selects. */
export type HolderRow = {
  accountID: number
  accountNumber: string
  name: string
  surname: string
  /** A list of lines and the data, as JSON: this process hands them on unread. */
  addressee: string
  data: string
  email: string | null
  preferenceID: number | null
}
