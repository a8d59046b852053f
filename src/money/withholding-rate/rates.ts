import sql from 'sql-template-tag'
import { countries } from '../../platform/lookup/countries.ts'
import type { Sql } from '../../platform/sql/handle.ts'

/** A rate that holds on a day; `country` is null for all countries without a rate of their own. */
export type Rate = {
  rule: string
  kind: string
  country: string | null
  percentage: string
  rounding: string
}

const threeLetters = new Map(countries.map(([two, three]) => [two, three]))

/** The rates of some kinds of income on a day; a country's rate is there under both its codes. */
export async function ratesOn(handle: Sql, date: string, kinds: readonly string[]) {
  const rates = await handle.query<Rate>(sql`
    select r.rule, r.income_kind as kind, r.country_code as country, r.percentage::text, r.rounding
    from withholding_rate r
    where r.income_kind = any(${kinds}::text[])
      and ${date}::date between r.valid_from and coalesce(r.valid_to, 'infinity')
    order by r.rate_id`)
  return rates.flatMap((rate) => {
    const other = rate.country && threeLetters.get(rate.country)
    return other ? [rate, { ...rate, country: other }] : [rate]
  })
}

/**
 * The countries, under both of their codes, that have a treaty about dividends on a day: those with
 * a non-resident rate of their own for unfranked dividends.
 */
export async function treatiesOn(handle: Sql, date: string): Promise<string[]> {
  const rates = await ratesOn(handle, date, ['UnfrankedDividend'])
  return rates.flatMap(({ rule, country }) => (rule === 'NonResident' && country ? country : []))
}
