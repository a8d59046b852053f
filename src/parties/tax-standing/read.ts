import sql, { raw } from 'sql-template-tag'
import type { Static } from 'typebox'
import { productParameter } from '../../catalogue/product/schema.ts'
import { identifyProduct } from '../../catalogue/product/sql.ts'
import { today } from '../../catalogue/product/today.ts'
import { type Actor, inScope } from '../../platform/actor.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { identify, namesAny } from '../../platform/sql/identify.ts'
import { type Answer, columns, many, render } from '../../platform/sql/render.ts'
import { accountParameter } from '../account/reference.ts'
import { TaxStanding, type TaxStandingQuery } from './schema.ts'
import { shownParties, standingOf } from './sql.ts'

const standingColumns = columns(TaxStanding, 'a', {
  date: 's.date',
  rule: 's.rule',
  countryCodes: 'to_json(array_remove(s.country_codes, null))',
  overridePercentage: 's.override_percentage',
})

/** SQL that puts a party's residence and quotation into words. */
const reasons = raw(`
  select format('%s is %s (%s).', q.name,
    case when q."isResident" then 'a resident' else 'not a resident' end,
    case q."residenceBy" when 'TaxOfficeType' then 'stated by its tax office type'
      when 'TaxCountry' then 'tax country ' || q."countryCode"
      when 'EntityTaxCountry' then 'tax country of the entity ' || q."countryCode"
      when 'PostalAddress' then 'postal address in ' || q."countryCode"
      else 'no tax country and no postal address' end) as words, 1 as place
  union all
  select case when q."isQuoted" then format('%s has quoted (%s).', q.name, q."quotedBy")
    else format('%s has quoted no tax file number, ABN or exemption.', q.name) end, 2`)

/**
 * Reads the tax standing of an account on a day; without a day, on the present day of its product.
 */
export async function readTaxStanding(
  handle: Sql,
  actor: Actor,
  query: Static<typeof TaxStandingQuery>,
): Promise<Answer> {
  const productID = namesAny(productParameter, query)
    ? await identifyProduct(handle, actor, query, productParameter)
    : undefined
  const id = await identify(handle, accountParameter, query, {
    visible: inScope(actor, 'r.product_id'),
    productIDs: [productID],
  })
  const account = sql`select ${id}::int as account_id`
  const date = sql`coalesce(${query.Date ?? null}::date, (
    select ${today('p')} from account c join product p on p.product_id = c.product_id
    where c.account_id = ${id}))`
  return render(
    handle,
    sql`
      with party as materialized (${shownParties(account)}),
      standing as materialized (
        select s.*, ${date} as date from (${standingOf(account, date)}) s)
      select ${standingColumns},
        array(
          select words from (
            select 'The override of the account holds on this date.' as words, 0 as place,
              0 as party
            where s.rule = 'Override'
            union all
            select r.words, r.place, q."bizEntityPartyID"
            from party q cross join lateral (${reasons}) r where q.counts) w
          order by w.party, w.place) as reasons,
        ${many(sql`select * from party order by 1`)} as parties
      from account a join standing s on s.account_id = a.account_id
      where a.account_id = ${id}`,
  )
}
