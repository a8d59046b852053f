import sql, { raw } from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict } from '../../platform/refusal.ts'
import type { Snapshot } from '../../platform/sql/handle.ts'
import { itsOwner, lookedUp } from '../statement/parts.ts'
import { aboutProduct } from './about.ts'
import type { Subject } from './subject.ts'
import type { Column, Sketch } from './table.ts'

const columns: Column[] = [
  { key: 'name', title: 'Investor', kind: 'text', width: 22 },
  { key: 'entity', title: 'Entity', kind: 'text', width: 7 },
  { key: 'accounts', title: 'Accounts', kind: 'text', width: 14 },
  { key: 'party', title: 'Party', kind: 'text', width: 20 },
  { key: 'problem', title: 'Problem', kind: 'text', width: 14 },
  { key: 'words', title: 'What is wrong', kind: 'text', width: 34 },
]

const { Email } = lookups.CommunicationType
const { Postal } = lookups.AddressType
const { Closed } = lookups.AccountStatus

/** The weighted sum of the digits of a column, as SQL. */
const weighed = (column: string, weights: readonly number[]) =>
  weights.map((weight, i) => `${weight} * substr(${column}, ${i + 1}, 1)::int`).join(' + ')

/** The rules of check-digits.ts in SQL, for numbers that the database stores unencrypted. */
const wrongAbn = (column: string) => `case when ${column} ~ '^[0-9]{11}$' then
  (${weighed(column, [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19])} - 10) % 89 <> 0 end`
const wrongAcn = (column: string) => `case when ${column} ~ '^[0-9]{9}$' then
  (10 - (${weighed(column, [8, 7, 6, 5, 4, 3, 2, 1])}) % 10) % 10
    <> substr(${column}, 9, 1)::int end`

type Flaw = { problem: string; words: string; test: string }

/** What can be wrong with an entity e. */
const ofEntity: Flaw[] = [
  {
    problem: 'no_bank',
    words: 'No bank account for distributions.',
    test: `not exists (select 1 from payment_detail d
      where d.biz_entity_id = e.biz_entity_id and d.is_for_distribution)`,
  },
  {
    problem: 'wrong_bsb',
    words: 'A BSB that there cannot be.',
    test: `exists (select 1 from payment_detail d where d.biz_entity_id = e.biz_entity_id
      and (d.bsb !~ '^[0-9]{3}-?[0-9]{3}$'
        or replace(d.bsb, '-', '') in ('000000', '999999')))`,
  },
  {
    problem: 'no_email',
    words: 'No e-mail address, of the investor or of any party.',
    test: `not exists (
      select 1 from communication c where c.communication_type_id = ${Email}
        and c.biz_entity_id = e.biz_entity_id)
      and not exists (select 1 from biz_entity_party y cross join lateral (
          select 1 from communication c where c.communication_type_id = ${Email}
            and c.person_id = y.person_id
          union all
          select 1 from communication c where c.communication_type_id = ${Email}
            and c.organisation_id = y.organisation_id
          offset 0) c
        where y.biz_entity_id = e.biz_entity_id)`,
  },
  {
    problem: 'no_postal_address',
    words: 'No postal address.',
    test: `not exists (select 1 from address x where x.biz_entity_id = e.biz_entity_id
      and x.address_type_id = ${Postal})`,
  },
]

/** What can be wrong with a party y: a person p or an organisation o. */
const ofParty: Flaw[] = [
  {
    problem: 'no_tfn',
    words: 'No tax file number, ABN or exemption.',
    test: `coalesce(p.taxation_file_number_mask, o.taxation_file_number_mask, p.abn, o.abn) is null
      and p.tax_office_type_id is distinct from ${lookups.TaxOfficeType.Exempt}
      and e.biz_entity_tax_office_type_id is distinct from ${lookups.TaxOfficeType.Exempt}
      and coalesce(p.taxation_country_code, o.taxation_country_code, e.taxation_country_code,
        'AU') in ('AU', 'AUS')`,
  },
  {
    problem: 'no_tax_residence',
    words: 'No country of tax residence.',
    test: `coalesce(p.taxation_country_code, o.taxation_country_code,
      e.taxation_country_code) is null`,
  },
  {
    problem: 'no_date_of_birth',
    words: 'No date of birth.',
    test: 'p.person_id is not null and p.date_of_birth is null',
  },
  {
    problem: 'wrong_tfn',
    words: 'The check digits of the tax file number are wrong.',
    test: 'p.taxation_file_number_doubt or o.taxation_file_number_doubt',
  },
  {
    problem: 'wrong_abn',
    words: 'The check digits of the ABN are wrong.',
    test: `(${wrongAbn('p.abn')}) or (${wrongAbn('o.abn')})`,
  },
  {
    problem: 'wrong_acn',
    words: 'The check digit of the ACN is wrong.',
    test: `(${wrongAcn('o.acn')})`,
  },
]

const cases = (flaws: Flaw[]) =>
  raw(flaws.map(({ problem, words, test }) => `('${problem}', '${words}', (${test}))`).join(', '))

const partyName = raw(`coalesce(o.name, concat_ws(' ', p.first_name, p.last_name))`)

const withParties = raw(`
  ${lookedUp('biz_entity_party', 'y', 'y.biz_entity_id = e.biz_entity_id')}
  left join lateral (select p.* from person p where p.person_id = y.person_id offset 0) p on true
  left join lateral (
    select o.* from organisation o where o.organisation_id = y.organisation_id offset 0) o on true`)

/** Investors with an open account, and what is missing or wrong in their records. */
export async function qualitySketch(snapshot: Snapshot, subject: Subject): Promise<Sketch> {
  const { productID } = subject
  const investors = sql`
    select e.*, a.accounts from (
      select a.biz_entity_id, string_agg(a.account_number, ', ' order by a.account_id) as accounts
      from account a where a.product_id = ${productID} and a.account_status_id <> ${Closed}
      group by a.biz_entity_id) a ${itsOwner}
    where e.product_id = ${productID}`
  const head = sql`e.name, e.biz_entity_id::text as entity, e.accounts`
  await refuseUnread(snapshot, productID)
  return {
    title: 'Data quality',
    about: await aboutProduct(snapshot, subject),
    columns,
    select: sql`select q.* from (
      select ${head}, null as party, f.problem, f.words, e.biz_entity_id
      from (${investors}) e
      cross join lateral (values ${cases(ofEntity)}) f (problem, words, found) where f.found
      union all
      select ${head}, ${partyName}, f.problem, f.words, e.biz_entity_id
      from (${investors}) e ${withParties}
      cross join lateral (values ${cases(ofParty)}) f (problem, words, found) where f.found) q`,
    order: sql`lower(q.name), biz_entity_id, party nulls first, problem`,
  }
}

/** Persons or organisations whose tax file number has not been checked yet. */
const unreadOf = (table: string) =>
  raw(`select x.${table}_id from ${table} x
      where x.taxation_file_number is not null and x.taxation_file_number_doubt is null`)

/**
 * Tax file numbers stored by earlier versions of the software are checked once, after the first
 * start of this one.
 */
async function refuseUnread(snapshot: Snapshot, productID: number) {
  const [unread] = await snapshot.query(sql`
    select 1 from biz_entity_party y
    where (y.person_id in (${unreadOf('person')})
        or y.organisation_id in (${unreadOf('organisation')}))
      and exists (select 1 from biz_entity e
        where e.biz_entity_id = y.biz_entity_id and e.product_id = ${productID} offset 0)
    limit 1`)
  if (unread)
    throw conflict(
      'key_missing',
      'Some tax file numbers could not be looked at yet: order the report again in a minute. If ' +
        'they are sealed with a key that the service does not have, see REGISTRY_ENCRYPTION_KEY ' +
        'and REGISTRY_PREVIOUS_ENCRYPTION_KEYS.',
    )
}
