import sql, { raw } from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Fragment } from '../../platform/sql/handle.ts'

const { TaxOfficeType, AddressType, BizEntityType } = lookups
const home = `('AU', 'AUS')`

/** The country of the first postal address of a record. */
const postal = (owner: string, id: string) => `(
  select d.country_code from address d
  where d.${owner} = ${id} and d.address_type_id = ${AddressType.Postal}
    and d.country_code is not null
  order by d.address_id limit 1)`

const taxCountry = `case when s.taxation_country_code in ${home}
    or s.taxation_country_code2 in ${home} or s.taxation_country_code3 in ${home} then 'AU'
  else coalesce(s.taxation_country_code, s.taxation_country_code2, s.taxation_country_code3) end`

/**
 * Whether a stored value is a code of the tax office instead of a number. Such a code has been
 * checked for doubts, but has no digest.
 */
const isCode = `coalesce(p.taxation_file_number_doubt, o.taxation_file_number_doubt) is not null
  and coalesce(p.taxation_file_number_digest, o.taxation_file_number_digest) is null`

/**
 * Whether a party counts. Attorneys and nominees act for the holders: they count only if they
 * receive the income or nobody else is there.
 */
const counts = `(not (y.is_authorised_nominee or y.is_power_of_attorney)
  or y.is_income_receiving
  or not exists (select 1 from biz_entity_party o where o.biz_entity_id = y.biz_entity_id
    and (not (o.is_authorised_nominee or o.is_power_of_attorney) or o.is_income_receiving)))`

/**
 * The parties of the selected accounts, each with its residence and what it has quoted. The tax
 * country decides; without one the tax country of the entity, then the postal address. A party
 * without any of them is taken for a resident.
 */
const parties = (accounts: Fragment): Fragment => sql`
  select r.*, not r.said_abroad and coalesce(r.country in ${raw(home)}, true) as resident,
    r.quoted_by is not null as quoted
  from (
    select q.*, coalesce(q.tax_country, q.entity_tax_country, q.postal_country) as country
    from (
      select a.account_id, a.biz_entity_id, y.biz_entity_party_id, s.name, s.is_organisation,
        ${raw(counts)} as counts, n.biz_entity_type_id,
        coalesce(s.tax_office_type_id = ${TaxOfficeType['Non-resident']}, false)
          or coalesce(n.biz_entity_tax_office_type_id = ${TaxOfficeType['Non-resident']}, false)
          as said_abroad,
        ${raw(taxCountry)} as tax_country, n.taxation_country_code as entity_tax_country,
        case when coalesce(${raw(taxCountry)}, n.taxation_country_code) is null then
          coalesce(case when s.is_organisation
              then ${raw(postal('organisation_id', 'y.organisation_id'))}
              else ${raw(postal('person_id', 'y.person_id'))} end,
            ${raw(postal('biz_entity_id', 'a.biz_entity_id'))}) end as postal_country,
        case when s.tax_office_type_id = ${TaxOfficeType.Exempt}
            or n.biz_entity_tax_office_type_id = ${TaxOfficeType.Exempt} then 'Exemption'
          when s.taxation_file_number is not null then
            case when s.is_code then 'Exemption' else 'TaxFileNumber' end
          when s.abn is not null then 'Abn' end as quoted_by,
        a.withholding_override
      from (${accounts}) x
      join account a on a.account_id = x.account_id
      join biz_entity n on n.biz_entity_id = a.biz_entity_id
      join biz_entity_party y on y.biz_entity_id = a.biz_entity_id
      left join person p on p.person_id = y.person_id
      left join organisation o on o.organisation_id = y.organisation_id
      cross join lateral (
        select y.organisation_id is not null as is_organisation,
          coalesce(p.taxation_file_number, o.taxation_file_number) as taxation_file_number,
          ${raw(isCode)} as is_code,
          coalesce(p.abn, o.abn) as abn, p.tax_office_type_id,
          coalesce(p.taxation_country_code, o.taxation_country_code) as taxation_country_code,
          p.taxation_country_code2, p.taxation_country_code3,
          coalesce(o.name, o.legal_name, concat_ws(' ', p.first_name, p.last_name)) as name
      ) s) q offset 0) r`

/**
 * Whether an account is judged by its organisations alone: so are companies, trusts, funds and
 * partnerships that have one.
 */
const own = (row: string) => `(${row}.biz_entity_type_id <> ${BizEntityType.Individual}
  and ${row}.has_organisation)`

const override = (date: Fragment) => sql`
  case when ${date} between coalesce((q.withholding_override ->> 'validFrom')::date, '-infinity')
      and coalesce((q.withholding_override ->> 'validTo')::date, 'infinity')
    then (q.withholding_override ->> 'percentage')::numeric end`

/** Each country once; null stands for a party abroad whose country is not known. */
const sorted = (list: string) => `array(select distinct c from unnest(${list}) c order by c)`

/**
 * The tax standing of the selected accounts on a date: one row per account, with the rule by which
 * tax is withheld. The branches of the `case` are in the order of the rules' priority.
 */
export const standingOf = (accounts: Fragment, date: Fragment): Fragment => sql`
  select g.account_id, g.override_percentage,
    case when g.override_percentage is not null then 'Override'
      when g.unquoted then 'NoTfn'
      when g.abroad is not null then 'NonResident'
      else 'None' end as rule,
    case when g.abroad is not null then ${raw(sorted('g.abroad'))} else '{}' end as country_codes
  from (
    select t.account_id, t.override_percentage,
      coalesce(case when ${raw(own('t'))} then t.organisation_resident and not t.organisation_quoted
        else t.some_unquoted end, false) as unquoted,
      case when ${raw(own('t'))} then t.organisations_abroad else t.some_abroad end as abroad
    from (
      select q.account_id, max(${override(date)}) as override_percentage,
        min(q.biz_entity_type_id) as biz_entity_type_id,
        bool_or(q.is_organisation) as has_organisation,
        bool_or(q.resident and q.is_organisation) as organisation_resident,
        -- The number of one abroad does not speak for one here.
        bool_or(q.quoted and q.resident and q.is_organisation) as organisation_quoted,
        bool_or(q.resident and not q.quoted) as some_unquoted,
        array_agg(q.country) filter (where not q.resident) as some_abroad,
        array_agg(q.country) filter (where not q.resident and q.is_organisation)
          as organisations_abroad
      from (${parties(accounts)}) q where q.counts group by q.account_id) t) g`

/** The parties of accounts as TaxParty shows them. */
export const shownParties = (accounts: Fragment): Fragment => sql`
  select q.biz_entity_party_id as "bizEntityPartyID", q.name, q.counts
      and (not q.judged_by_organisation or q.is_organisation) as counts,
    q.resident as "isResident", q.country as "countryCode",
    case when q.said_abroad then 'TaxOfficeType' when q.tax_country is not null then 'TaxCountry'
      when q.entity_tax_country is not null then 'EntityTaxCountry'
      when q.postal_country is not null then 'PostalAddress' else 'Assumed' end as "residenceBy",
    q.quoted as "isQuoted", q.quoted_by as "quotedBy"
  from (
    select q.*, q.biz_entity_type_id <> ${BizEntityType.Individual}
      and bool_or(q.is_organisation and q.counts) over (partition by q.account_id)
      as judged_by_organisation
    from (${parties(accounts)}) q) q
  order by q.biz_entity_party_id`
