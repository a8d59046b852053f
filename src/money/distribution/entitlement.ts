import sql, { empty, raw } from 'sql-template-tag'
import { priceOn } from '../../catalogue/investment/price-on.ts'
import { idsOf } from '../../ledger/biz-transaction/kinds.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, invalid } from '../../platform/refusal.ts'
import { wholeUnits } from '../../platform/shape/decimal.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { centOf, roundedDown, withComponents } from './components.ts'
import { everyone, type Span, within } from './span.ts'
import type { Stored } from './sql.ts'

/** The accounts that a declaration names, by id. */
export type Selection = {
  preCalculated: { accountID: number; amount: string }[]
  include: number[] | undefined
  exclude: number[]
}

/** Whether the distribution pays for each day of a period, on the units of that day. */
const goesByDays = ({ perUnit, total, centsPerDay, percentPerAnnum }: Stored) =>
  !perUnit && !total && Boolean(centsPerDay ?? percentPerAnnum)

/** The field from which the accounts' amounts are calculated. */
export const methodOf = ({ perUnit, total, centsPerDay }: Stored) =>
  (perUnit && 'distributionAmountPerUnit') ||
  (total && 'distributionAmountTotal') ||
  (centsPerDay ? 'centsPerUnitPerDay' : 'proRataPercentPerAnnum')

/** The parts of the configuration that are missing for a declaration, in words. */
export function missingOf(stored: Stored): string[] {
  const { perUnit, total, centsPerDay, percentPerAnnum, startDate, endDate } = stored
  const perDay = goesByDays(stored)
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
 * The entitlements as rows for the entitlement table: one SQL statement for any number of accounts,
 * which Declare inserts and Preview reads. From the inside out it has the units (at the record
 * date, or unit-days of a period), the gross amount by the method, the split into DRP and cash, and
 * the shares of the tax components. `offset 0` is a fence between two parts: without it the planner
 * would copy each formula to every place that uses it, and calculate it as often.
 */
export const selectEntitlements = (stored: Stored, terms: Entitling, span = everyone): Fragment =>
  settled(stored, grossSelect(stored, terms, span))

/** The basis of a declaration: the accounts it names, and the value of a unit if it matters. */
export type Entitling = { selection: Selection; unitValue: string | null }

/** Completes gross amounts to entitlements, with the columns of `entitlementColumns`. */
export function settled(stored: Stored, gross: Fragment): Fragment {
  const { productID, id, investmentID, decimals } = stored
  const offered = stored.drpIndicatorID === lookups.DRPIndicator.Offered
  const choice = offered
    ? sql`a.drp_type_id, a.drp_value,
        ${drpShare('g.gross', { choice: 'a', units: 'g' }, decimals)} as drp`
    : sql`null::int as drp_type_id, null::numeric as drp_value, 0::numeric as drp`
  const parts = sql`
    select ${roundedDown(stored.percentages, decimals)} g.*, ${choice}
    from (${gross}) g ${offered ? sql`join account a on a.account_id = g.account_id` : empty}
    offset 0`
  return sql`
    select ${productID}::int as product_id, ${id}::int as corporate_action_id, g.account_id,
      ${investmentID}::int as investment_id, g.units, g.unit_days,
      g.amount is not null as pre_calculated, g.drp_type_id, g.drp_value,
      g.gross as gross_amount, g.component_amounts, g.drp as drp_amount,
      g.gross - g.drp as cash_amount
    from (${withComponents(parts, stored.percentages, decimals)}) g
    where g.units > 0 or g.gross > 0`
}

export const entitlementColumns = raw(`product_id, corporate_action_id, account_id, investment_id,
  units, unit_days, pre_calculated, drp_type_id, drp_value, gross_amount, component_amounts,
  drp_amount, cash_amount`)

/** The aliases of the rows with an account's DRP choice and with its units. */
type Chosen = { choice: string; units: string }

/** The part of an amount that goes to the DRP: all, a percentage, or the share of some units. */
export const drpShare = (amount: string, rows: Chosen, decimals: number): Fragment => {
  const of = raw(amount)
  const [type, value] = [raw(`${rows.choice}.drp_type_id`), raw(`${rows.choice}.drp_value`)]
  const units = raw(`${rows.units}.units`)
  return sql`case ${type}
    when ${lookups.DRPType.Full} then ${of}
    when ${lookups.DRPType.Percentage}
      then round(${of} * coalesce(${value}, 0) * 0.01, ${decimals}::int)
    when ${lookups.DRPType.Units} then coalesce(round(
      round(${of} * least(coalesce(${value}, 0), ${units}), 40) / nullif(${units}, 0),
      ${decimals}::int), 0)
    else 0 end`
}

/** The divisor that makes a percentage per annum a fraction per day: 100 times 365 days. */
const daysOfPercent = raw('36500')

function grossSelect(stored: Stored, { selection, unitValue }: Entitling, span: Span): Fragment {
  const { perUnit, total, centsPerDay, percentPerAnnum, decimals } = stored
  const units = measuredUnits(stored, selection, span)
  if (perUnit) return calculated(units, sql`round(u.units * ${perUnit}::numeric, ${decimals}::int)`)
  if (total) return shared(units, poolOf(total, decimals, selection), decimals)
  if (centsPerDay)
    return calculated(
      units,
      sql`round(u.measure * ${centsPerDay}::numeric * 0.01, ${decimals}::int)`,
    )
  return calculated(
    units,
    sql`round(round(u.measure * ${unitValue}::numeric * ${percentPerAnnum}::numeric, 40)
      / ${daysOfPercent}, ${decimals}::int)`,
  )
}

/** The accounts that take part, with their units and measure, or with their given amount. */
export function measuredUnits(stored: Stored, selection: Selection, span: Span): Fragment {
  const period = isByPeriod(stored)
  return withListed(eligible(stored, selection, span, period), selection, span, stored.decimals)
}

/** Whether the units of each day of a period count; this is also possible for a shared total. */
export const isByPeriod = ({ perUnit, startDate, endDate }: Stored) =>
  !perUnit && Boolean(startDate && endDate)

/** The amount to share, in cents: the total less the pre-calculated amounts. */
export function poolOf(
  total: string,
  decimals: number,
  { preCalculated: listed }: Selection,
): bigint {
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

/** The accounts that have a measure, and those with a pre-calculated amount. */
const withListed = (
  units: Fragment,
  { preCalculated }: Selection,
  { after, upTo }: Span,
  decimals: number,
) => {
  const listed = preCalculated.filter(({ accountID: id }) => id > after && id <= upTo)
  return listed.length === 0
    ? sql`select u.*, null::numeric as amount from (${units}) u where u.measure <> 0`
    : sql`
      select coalesce(u.account_id, l.account_id) as account_id, coalesce(u.units, 0) as units,
        u.unit_days, coalesce(u.measure, 0) as measure,
        round(l.amount, ${decimals}::int) as amount
      from (${units}) u
      full join unnest(${listed.map(({ accountID }) => accountID)}::int[],
        ${listed.map(({ amount }) => amount)}::numeric[]) l (account_id, amount)
        on l.account_id = u.account_id
      where u.measure > 0 or l.amount is not null`
}

/** Gross amounts that are calculated for each account alone. */
const calculated = (units: Fragment, formula: Fragment) => sql`
  select u.*, coalesce(u.amount, ${formula}) as gross from (${units}) u offset 0`

/**
 * Adds to rows with a measure their share of a pool in whole cents, rounded down, and the remainder
 * of the division. Whole cents and remainders of integer division are exact. Rows with an amount of
 * their own do not share.
 */
export const dealt = (units: Fragment, pool: string, measured: Fragment) => sql`
  select s.*, part - cents * measured as remainder
  from (
    select m.*, div(part, nullif(measured, 0)) as cents
    from (
      select u.*, u.measure * ${pool}::numeric as part, ${measured} as measured
      from (${units}) u) m) s`

/**
 * Shares a total by measure to the last cent. Every share is rounded down, and the cents that are
 * left go to the largest remainders; among equal remainders the lowest account id comes first.
 */
const shared = (units: Fragment, pool: bigint, decimals: number) => {
  const together = sql`sum(u.measure) filter (where u.amount is null) over ()`
  return sql`
    select r.*, coalesce(amount, round(
      (cents + (place <= ${String(pool)}::numeric - dealt)::int) * ${centOf(decimals)}::numeric,
      ${decimals}::int)) as gross
    from (
      select d.*,
        sum(cents) filter (where amount is null) over () as dealt,
        row_number() over (partition by amount is null order by remainder desc, account_id)
          as place
      from (${dealt(units, String(pool), together)}) d) r`
}

/**
 * The accounts that ever held the investment, with their units at the end of the record date and
 * their measure: those units or, for a period, the sum of the units at the end of each day. The
 * history is read only for accounts with a transaction since. The closing marks (the view
 * transaction_line) are read only for accounts that have any.
 */
const eligible = (
  stored: Stored,
  { include, exclude }: Selection,
  span: Span,
  period: boolean,
): Fragment => {
  const { productID, investmentID, recordDate, startDate, endDate } = stored
  const own = sql`b.product_id = ${productID} and b.account_id = h.account_id
    and b.investment_id = ${investmentID} and ${raw(counts('b'))}`
  const lastOf = (lines: string, test: Fragment) => sql`coalesce((
    select b.closing_quantity from ${raw(lines)} b where ${own} and b.transaction_date ${test}
    order by b.transaction_date desc, b.biz_transaction_id desc limit 1), 0)`
  const marked = sql`h.account_id in (
    select m.account_id from closing_mark m where m.product_id = ${productID}
      and m.investment_id = ${investmentID} and ${within('m.account_id', span)})`
  const asAt = (test: Fragment) => sql`case when ${marked} then ${lastOf('transaction_line', test)}
      else ${lastOf('biz_transaction', test)} end`
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
    select u.*, ${raw(period ? 'u.unit_days' : 'u.units')} as measure
    from (
      select h.account_id, ${units} as units,
        ${period ? unitDays : raw('null::numeric')} as unit_days
      from holding h
      join ledger_account l on l.product_id = h.product_id and l.account_id = h.account_id
      where h.product_id = ${productID} and h.investment_id = ${investmentID}
        and ${within('h.account_id', span)}
        and ${include ? sql`h.account_id in (${among(include)})` : sql`true`}
        and ${exclude.length > 0 ? sql`h.account_id not in (${among(exclude)})` : sql`true`}
      offset 0) u`
}

// Not `= any`: a plan made without values would compare every holding with the whole list.
const among = (accountIDs: number[]) => sql`select unnest(${accountIDs}::int[])`

/** The unit value for a rate per annum, by the valuation method; refuses if there is none. */
export async function unitValueOf(handle: Sql, stored: Stored): Promise<string | null> {
  if (stored.perUnit || stored.total || stored.centsPerDay) return null
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
      (${priceOn('i.investment_id', sql`${recordDate}::date`)}) as closing
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
