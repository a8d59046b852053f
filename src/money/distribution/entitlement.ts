import sql, { raw } from 'sql-template-tag'
import { counts, idsOf } from '../../ledger/biz-transaction/kinds.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, invalid } from '../../platform/refusal.ts'
import { wholeUnits } from '../../platform/shape/decimal.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { centOf, withComponents } from './components.ts'
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
 * Declare inserts it, Preview reads it. Its parts, from the inside: the units (at the record date,
 * or unit-days of a period), the gross amount by the method, the split into DRP and cash, the
 * shares of the tax components. "offset 0" is a fence between two parts: without it the planner
 * would put each formula in every place that mentions it, and work it out as often.
 */
export async function selectEntitlements(
  handle: Sql,
  stored: Stored,
  selection: Selection,
): Promise<Fragment> {
  const { productID, id, investmentID, decimals } = stored
  const gross = await grossSelect(handle, stored, selection)
  const offered = stored.drpIndicatorID === lookups.DRPIndicator.Offered
  const parts = offered
    ? split(gross, decimals)
    : sql`select g.*, 0::numeric as drp from (${gross}) g`
  return sql`
    select ${productID}::int as product_id, ${id}::int as corporate_action_id, g.account_id,
      ${investmentID}::int as investment_id, g.units, g.gross as gross_amount,
      g.component_amounts, g.drp as drp_amount, g.gross - g.drp as cash_amount
    from (${withComponents(parts, stored.percentages, decimals)}) g
    where g.units > 0 or g.gross > 0`
}

/** What goes to the DRP, as each account has chosen: all, a percentage, the share of some units. */
const split = (gross: Fragment, decimals: number) => sql`
  select g.*, case a.drp_type_id
    when ${lookups.DRPType.Full} then g.gross
    when ${lookups.DRPType.Percentage}
      then round(g.gross * coalesce(a.drp_value, 0) * 0.01, ${decimals}::int)
    when ${lookups.DRPType.Units}
      then coalesce(round(round(g.gross * least(coalesce(a.drp_value, 0), g.units), 40)
        / nullif(g.units, 0), ${decimals}::int), 0)
    else 0 end as drp
  from (${gross}) g join account a on a.account_id = g.account_id
  offset 0`

async function grossSelect(handle: Sql, stored: Stored, selection: Selection): Promise<Fragment> {
  const { perUnit, total, centsPerDay, percentPerAnnum, decimals } = stored
  const period = !perUnit && Boolean(stored.startDate && stored.endDate)
  const units = withListed(eligible(stored, selection, period), selection, decimals)
  if (perUnit) return calculated(units, sql`round(u.units * ${perUnit}::numeric, ${decimals}::int)`)
  if (total) return shared(units, poolOf(total, decimals, selection), decimals)
  if (centsPerDay)
    return calculated(
      units,
      sql`round(u.measure * ${centsPerDay}::numeric * 0.01, ${decimals}::int)`,
    )
  const value = await unitValue(handle, stored)
  return calculated(
    units,
    sql`round(round(u.measure * ${value}::numeric * ${percentPerAnnum}::numeric, 40) / 36500,
      ${decimals}::int)`,
  )
}

/** What there is to share, in cents: what was worked out elsewhere comes off the top. */
function poolOf(total: string, decimals: number, { preCalculated: listed }: Selection): bigint {
  const cents = (amount: string) => wholeUnits(amount, decimals)
  const pool = listed.reduce((left, { amount }) => left - cents(amount), cents(total))
  if (pool < 0n)
    throw invalid(
      'too_much',
      `The pre-calculated amounts come to more than the total of ${total}.`,
      'preCalculatedAccounts',
    )
  return pool
}

/** Those who are measured by something, and those whose amount was worked out elsewhere. */
const withListed = (units: Fragment, { preCalculated: listed }: Selection, decimals: number) =>
  listed.length === 0
    ? sql`select u.*, null::numeric as amount from (${units}) u where u.measure > 0`
    : sql`
      select coalesce(u.account_id, l.account_id) as account_id, coalesce(u.units, 0) as units,
        coalesce(u.measure, 0) as measure, round(l.amount, ${decimals}::int) as amount
      from (${units}) u
      full join unnest(${listed.map(({ accountID }) => accountID)}::int[],
        ${listed.map(({ amount }) => amount)}::numeric[]) l (account_id, amount)
        on l.account_id = u.account_id
      where u.measure > 0 or l.amount is not null`

/** Each account by itself. */
const calculated = (units: Fragment, formula: Fragment) => sql`
  select u.account_id, u.units, coalesce(u.amount, ${formula}) as gross from (${units}) u offset 0`

/**
 * One amount for all, shared by units to the last cent: every share is rounded down, and the cents
 * that are left go to the largest remainders, the lowest account first among equals. All in whole
 * cents and remainders of whole divisions, which are exact.
 */
const shared = (units: Fragment, pool: bigint, decimals: number) => sql`
  select account_id, units, coalesce(amount, round(
    (cents + (place <= ${String(pool)}::numeric - dealt)::int) * ${centOf(decimals)}::numeric,
    ${decimals}::int)) as gross
  from (
    select d.*,
      sum(cents) filter (where amount is null) over () as dealt,
      row_number() over (partition by amount is null order by remainder desc, account_id) as place
    from (
      select s.*, part - cents * measured as remainder
      from (
        select m.*, div(part, nullif(measured, 0)) as cents
        from (
          select u.*, u.measure * ${String(pool)}::numeric as part,
            sum(u.measure) filter (where u.amount is null) over () as measured
          from (${units}) u) m) s) d) r`

/**
 * The accounts that ever held the investment: their units at the end of the record date, and what
 * they are measured by, which is those units or, over a period, the sum of the units at the end of
 * each of its days. An account that has had no transaction since needs no look into its history.
 */
const eligible = (stored: Stored, { include, exclude }: Selection, period: boolean): Fragment => {
  const { productID, investmentID, recordDate, startDate, endDate } = stored
  const own = sql`b.product_id = ${productID} and b.account_id = h.account_id
    and b.investment_id = ${investmentID} and ${raw(counts('b'))}`
  const asAt = (test: Fragment) => sql`coalesce((
    select b.closing_quantity from biz_transaction b where ${own} and b.transaction_date ${test}
    order by b.transaction_date desc, b.biz_transaction_id desc limit 1), 0)`
  const units = sql`
    case when l.last_date <= ${recordDate}::date then h.quantity
      else ${asAt(sql`<= ${recordDate}::date`)} end`
  const days = sql`(${endDate}::date - ${startDate}::date + 1)`
  const unitDays = sql`
    case when l.last_date < ${startDate}::date then h.quantity * ${days}
      else ${asAt(sql`< ${startDate}::date`)} * ${days} + coalesce((
        select sum(b.quantity * (${endDate}::date - b.transaction_date + 1))
        from biz_transaction b
        where ${own} and b.transaction_date between ${startDate}::date and ${endDate}::date), 0)
      end`
  return sql`
    select h.account_id, u.units, ${period ? sql`d.measure` : sql`u.units`} as measure
    from holding h
    join ledger_account l on l.product_id = h.product_id and l.account_id = h.account_id
    cross join lateral (select ${units} as units offset 0) u
    ${period ? sql`cross join lateral (select ${unitDays} as measure offset 0) d` : sql``}
    where h.product_id = ${productID} and h.investment_id = ${investmentID}
      and ${include ? sql`h.account_id in (${among(include)})` : sql`true`}
      and ${exclude.length > 0 ? sql`h.account_id not in (${among(exclude)})` : sql`true`}`
}

// Not "= any": a plan that knows no values would compare every holding with the whole list.
const among = (accountIDs: number[]) => sql`select unnest(${accountIDs}::int[])`

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
          and b.biz_transaction_type_id in ${raw(idsOf('Deposit', 'Allotment'))}
          and ${raw(counts('b'))}
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
