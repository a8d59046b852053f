import sql, { raw } from 'sql-template-tag'
import { compareDecimals, sumDecimals } from '../http/decimal.ts'
import { lookups } from '../lookup/lookups.ts'
import { conflict, invalid } from '../refusal.ts'
import type { Fragment, Sql } from '../sql/handle.ts'
import type { Stored } from './sql.ts'

/** The accounts a declaration names, by id. */
export type Selection = {
  preCalculated: { accountID: number; amount: string }[]
  include: number[] | undefined
  exclude: number[]
}

/** What a declaration still lacks, in words. */
export function missingOf(stored: Stored): string[] {
  const { perUnit, total, centsPerDay, percentPerAnnum, startDate, endDate } = stored
  const perDay = !perUnit && !total && Boolean(centsPerDay ?? percentPerAnnum)
  return [
    !perUnit && !total && !centsPerDay && !percentPerAnnum && 'an amount method',
    !stored.recordDate && 'recordDate',
    !stored.paymentDate && 'paymentDate',
    stored.componentTotal !== '100' && 'taxComponents that total 100',
    perDay && !startDate && 'proRataStartDate',
    perDay && !endDate && 'proRataEndDate',
    stored.drpIndicatorID === lookups.DRPIndicator.Offered &&
      !stored.drpInvestmentID &&
      'a DRP target',
  ].filter((words) => typeof words === 'string')
}

/**
 * Who gets what, as rows ready for the entitlement table: one statement for any number of accounts.
 * Declare inserts it, Preview reads it. Its parts, from the inside: the units (at the record date, or
 * unit-days of a period), the gross amount by the method, the split into DRP and cash, the shares of
 * the tax components.
 */
export async function selectEntitlements(
  handle: Sql,
  stored: Stored,
  selection: Selection,
): Promise<Fragment> {
  const { productID, id, investmentID, decimals } = stored
  const offered = stored.drpIndicatorID === lookups.DRPIndicator.Offered
  const gross = await grossSelect(handle, stored, selection)
  return sql`
    select ${productID}::int as product_id, ${id}::int as corporate_action_id, g.account_id,
      ${investmentID}::int as investment_id, g.units, g.gross as gross_amount,
      allocate(g.gross, c.percentages, ${decimals}::int) as component_amounts,
      s.drp as drp_amount, g.gross - s.drp as cash_amount
    from (${gross}) g
    cross join (
      select array_agg(percentage order by ordinal) as percentages from distribution_component
      where product_id = ${productID} and corporate_action_id = ${id}) c
    join account a on a.account_id = g.account_id
    cross join lateral (
      select case
        when not ${offered}::boolean or g.gross = 0 then 0
        when a.drp_type_id = 2 then g.gross
        when a.drp_type_id = 3 then round(g.gross * coalesce(a.drp_value, 0) / 100, ${decimals}::int)
        when a.drp_type_id = 4 then round(round(g.gross * least(coalesce(a.drp_value, 0), g.units), 40)
          / nullif(g.units, 0), ${decimals}::int)
        else 0 end as reinvested) r
    cross join lateral (select coalesce(r.reinvested, 0) as drp) s
    where g.units > 0 or g.gross > 0`
}

async function grossSelect(handle: Sql, stored: Stored, selection: Selection): Promise<Fragment> {
  const { perUnit, total, centsPerDay, percentPerAnnum, decimals } = stored
  const period = !perUnit && Boolean(stored.startDate && stored.endDate)
  const units = eligible(stored, selection, period)
  const listed = preCalculated(selection)
  if (perUnit)
    return calculated(units, listed, sql`round(u.units * ${perUnit}::numeric, ${decimals}::int)`)
  if (total) {
    refuseMoreThan(total, selection)
    return shared(units, listed, total, decimals)
  }
  if (centsPerDay)
    return calculated(
      units,
      listed,
      sql`round(u.measure * ${centsPerDay}::numeric / 100, ${decimals}::int)`,
    )
  const value = await unitValue(handle, stored)
  return calculated(
    units,
    listed,
    sql`round(round(u.measure * ${value}::numeric * ${percentPerAnnum}::numeric, 40) / 36500,
      ${decimals}::int)`,
  )
}

function refuseMoreThan(total: string, { preCalculated: listed }: Selection) {
  const sum = sumDecimals(listed.map(({ amount }) => amount))
  if (compareDecimals(sum, total) > 0)
    throw invalid(
      'too_much',
      `The pre-calculated amounts come to ${sum}, more than the total of ${total}.`,
      'preCalculatedAccounts',
    )
}

const preCalculated = ({ preCalculated: listed }: Selection) => sql`
  select * from unnest(${listed.map(({ accountID }) => accountID)}::int[],
    ${listed.map(({ amount }) => amount)}::numeric[]) l (account_id, amount)`

/** Each account by itself; an amount that was worked out elsewhere takes the place of ours. */
const calculated = (units: Fragment, listed: Fragment, formula: Fragment) => sql`
  select coalesce(u.account_id, l.account_id) as account_id, coalesce(u.units, 0) as units,
    coalesce(l.amount, ${formula}) as gross
  from (${units}) u full join (${listed}) l on l.account_id = u.account_id`

/**
 * One amount for all, shared by units to the last cent: every share is rounded down, and the cents
 * that are left go to the largest remainders, the lowest account first among equals. What was worked
 * out elsewhere comes off the top.
 */
const shared = (units: Fragment, listed: Fragment, total: string, decimals: number) => sql`
  select account_id, units, case when amount is not null then amount
    else floor_share + case when place <= left_over then cent else 0 end end as gross
  from (
    select s.*, row_number() over (partition by amount is null
        order by exact_share - floor_share desc, account_id) as place,
      round((pool - sum(floor_share) filter (where amount is null) over ()) / cent) as left_over
    from (
      select b.*, trunc(exact_share, ${decimals}::int) as floor_share
      from (
        select m.*,
          case when amount is null and measured > 0
            then round(pool * measure, 40) / measured else 0 end as exact_share
        from (
          select coalesce(u.account_id, l.account_id) as account_id, coalesce(u.units, 0) as units,
            coalesce(u.measure, 0) as measure, l.amount,
            power(10::numeric, -${decimals}::int) as cent,
            ${total}::numeric - coalesce(sum(l.amount) over (), 0) as pool,
            sum(u.measure) filter (where l.amount is null) over () as measured
          from (${units}) u full join (${listed}) l on l.account_id = u.account_id) m) b) s) r`

/**
 * The accounts with a holding that counts: their units at the end of the record date, and what they
 * are measured by, which is those units or, over a period, the sum of the units at the end of each
 * of its days. An account that has had no transaction since needs no look into its history.
 */
const eligible = (stored: Stored, { include, exclude }: Selection, period: boolean): Fragment => {
  const { productID, investmentID, recordDate, startDate, endDate } = stored
  const asAt = (date: Fragment, test: string) => sql`
    select b.closing_quantity as units from biz_transaction b
    where b.product_id = ${productID} and b.account_id = h.account_id
      and b.investment_id = ${investmentID} and b.transaction_date ${raw(test)} ${date}
      and b.biz_transaction_status_id <> 3
    order by b.transaction_date desc, b.biz_transaction_id desc limit 1`
  const unitDays = sql`
    select coalesce(o.units, 0) * (${endDate}::date - ${startDate}::date + 1) + coalesce(m.days, 0)
      as measure
    from (select) one
    left join lateral (${asAt(sql`${startDate}::date`, '<')}) o on true
    left join lateral (
      select sum(b.quantity * (${endDate}::date - b.transaction_date + 1)) as days
      from biz_transaction b
      where b.product_id = ${productID} and b.account_id = h.account_id
        and b.investment_id = ${investmentID} and b.biz_transaction_status_id <> 3
        and b.transaction_date between ${startDate}::date and ${endDate}::date) m on true`
  return sql`
    select h.account_id, u.units, ${period ? sql`d.measure` : sql`u.units`} as measure
    from holding h
    join ledger_account a on a.product_id = h.product_id and a.account_id = h.account_id
    cross join lateral (
      select case when a.last_date <= ${recordDate}::date then h.quantity
        else coalesce((${asAt(sql`${recordDate}::date`, '<=')}), 0) end as units) u
    ${period ? sql`cross join lateral (${unitDays}) d` : sql``}
    where h.product_id = ${productID} and h.investment_id = ${investmentID}
      and ${include ? sql`h.account_id = any(${include}::int[])` : sql`true`}
      and ${exclude.length > 0 ? sql`h.account_id <> all(${exclude}::int[])` : sql`true`}
      and ${period ? sql`d.measure > 0` : sql`u.units > 0`}`
}

/** What a unit is worth for a rate per annum, by the method; there must be something to go by. */
async function unitValue(handle: Sql, stored: Stored): Promise<string> {
  const { investmentID, productID, recordDate, startDate, endDate, valuation } = stored
  const [row] = await handle.query<{
    fixed: string | null
    vwap: string | null
    closing: string | null
  }>(sql`
    select i.issue_price as fixed,
      (select round(sum(b.amount), 40) / nullif(sum(b.quantity), 0) from biz_transaction b
        where b.product_id = ${productID} and b.investment_id = i.investment_id
          and b.biz_transaction_type_id in (1, 2) and b.biz_transaction_status_id <> 3
          and b.transaction_date between ${startDate}::date and ${endDate}::date) as vwap,
      (select p.price from investment_price p
        where p.investment_id = i.investment_id and p.price_date <= ${recordDate}::date
        order by p.price_date desc limit 1) as closing
    from investment i where i.investment_id = ${investmentID}`)
  const { fixed, vwap, closing } = row!
  const value = valuation === 'Fixed' ? fixed : valuation === 'VWAP' ? (vwap ?? closing) : closing
  if (value === null)
    throw conflict(
      'no_unit_value',
      valuation === 'Fixed'
        ? 'The investment has no issuePrice to go by.'
        : `The investment has no price on or before the record date ${recordDate}.`,
    )
  return value
}
