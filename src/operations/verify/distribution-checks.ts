import { idsOf, idsWhere } from '../../ledger/biz-transaction/kinds.ts'
import { compared, isOvertaken, latecomers } from '../../money/distribution/exceptions.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Check } from './checks.ts'

const { Declared, Paid, Completed } = lookups.DistributionStatus

/** Entitlements with their distribution and the decimals of its money. */
export const entitled = `
  select e.*, d.distribution_status_id as status_id, d.payment_date, d.drp_price,
    d.drp_allotment_date, d.drp_investment_id, g.stage as under_way,
    minor_units(i.currency_id) as cents
  from entitlement e
  left join distribution d on d.product_id = e.product_id
    and d.corporate_action_id = e.corporate_action_id
  left join distribution_stage g on g.product_id = e.product_id
    and g.corporate_action_id = e.corporate_action_id
  left join investment i on i.investment_id = e.investment_id`

/**
 * Whether no stage of distribution `d` is under way: until a stage ends, only some of the accounts
 * have its results.
 */
const settled = `not exists (select 1 from distribution_stage g where g.product_id = d.product_id
  and g.corporate_action_id = d.corporate_action_id)`

const made = idsWhere((kind) => kind.ofDistribution === true)

export const key = 'e.product_id, e.corporate_action_id, e.account_id'

/**
 * The gross amount by a method that is computed for each account by itself; null for a shared
 * total.
 */
const byMethod = `case
  when d.distribution_amount_per_unit is not null
    then round(e.units * d.distribution_amount_per_unit, e.cents)
  when d.distribution_amount_total is not null then null
  when d.cents_per_unit_per_day is not null
    then round(e.unit_days * d.cents_per_unit_per_day * 0.01, e.cents)
  else round(round(e.unit_days * d.declared_unit_value * d.pro_rata_percent_per_annum, 40)
    / 36500, e.cents) end`

/**
 * An account's exact share of a shared total, after entitlements that were calculated elsewhere are
 * taken off.
 */
const shareOfTotal = `round((round(d.distribution_amount_total, e.cents)
    - coalesce(sum(e.gross_amount) filter (where e.pre_calculated) over own, 0)) * e.units, 40)
  / nullif(sum(e.units) filter (where not e.pre_calculated) over own, 0)`

const { Full, Percentage, Units } = lookups.DRPType

/**
 * The part of an amount that goes to the DRP: all of it, a percentage, or the share of some units.
 */
const chosen = (amount: string) => `case e.drp_type_id
  when ${Full} then ${amount}
  when ${Percentage} then round(${amount} * coalesce(e.drp_value, 0) * 0.01, e.cents)
  when ${Units} then coalesce(round(round(${amount} * least(coalesce(e.drp_value, 0), e.units), 40)
    / nullif(e.units, 0), e.cents), 0)
  else 0 end`

/**
 * Rows where an entitlement and the transaction made for it do not name each other or do not agree.
 */
const linked = (type: string, id: string, broken: string) => `
  select coalesce(e.product_id, t.product_id) as product_id,
    coalesce(e.corporate_action_id, t.corporate_action_id) as corporate_action_id,
    coalesce(e.account_id, t.account_id) as account_id, e.${id}, t.biz_transaction_id, t.amount,
    t.quantity
  from (select * from (${entitled}) e where ${id} is not null) e
  full join (select * from biz_transaction where biz_transaction_type_id in ${type}
    and ${counts('biz_transaction')}) t
    on t.product_id = e.product_id and t.biz_transaction_id = e.${id}
  where e.account_id is null or t.biz_transaction_id is null or e.account_id <> t.account_id
    or e.corporate_action_id is distinct from t.corporate_action_id
    or t.biz_transaction_status_id <> ${lookups.BizTransactionStatus.Complete} or ${broken}`

/** Rows of a table with a stored total for each holding that is not the sum of its parts. */
export const unlikeSum = (table: string, amount: string, parts: string) => `
  select coalesce(t.product_id, n.product_id) as product_id,
    coalesce(t.account_id, n.account_id) as account_id,
    coalesce(t.investment_id, n.investment_id) as investment_id, t.${amount},
    n.${amount} as should_be
  from ${table} t
  full join (
    select product_id, account_id, investment_id, sum(${amount}) as ${amount}
    from (${parts}) m group by product_id, account_id, investment_id) n
    on n.product_id = t.product_id and n.account_id = t.account_id
      and n.investment_id = t.investment_id
  where coalesce(t.${amount}, 0) <> coalesce(n.${amount}, 0)`

export const distributionChecks: Check[] = [
  {
    name: 'the totals of a distribution are the sums of its entitlements',
    of: 'distribution',
    violations: `
      select d.product_id, d.corporate_action_id, d.distribution_status_id, d.declared_amount,
        e.gross, d.paid_amount, e.cash, d.withheld_amount, e.tax, d.reinvested_amount, e.cost
      from distribution d
      left join (
        select product_id, corporate_action_id, sum(gross_amount) as gross,
          sum(cash_amount) as cash, sum(tax_amount) as tax, sum(drp_cost) as cost
        from entitlement group by product_id, corporate_action_id) e
        on e.product_id = d.product_id and e.corporate_action_id = d.corporate_action_id
      where ${settled} and (d.declared_amount is distinct from
          case when d.distribution_status_id >= ${Declared} then coalesce(e.gross, 0) end
        or d.paid_amount is distinct from
          case when d.distribution_status_id >= ${Paid} then coalesce(e.cash, 0) end
        or d.withheld_amount is distinct from
          case when d.distribution_status_id >= ${Paid} then coalesce(e.tax, 0) end
        or d.reinvested_amount is distinct from
          case when d.distribution_status_id = ${Completed} then coalesce(e.cost, 0) end)`,
  },
  {
    name: 'a total that was to be shared is declared to the cent',
    of: 'distribution',
    violations: `
      select d.product_id, d.corporate_action_id, d.distribution_amount_total, d.declared_amount
      from distribution d join investment i on i.investment_id = d.investment_id
      where d.distribution_status_id >= ${Declared} and d.distribution_amount_per_unit is null
        and d.declared_amount
          <> round(d.distribution_amount_total, minor_units(i.currency_id))`,
  },
  {
    name: 'the tax components of a distribution total 100',
    of: 'distribution',
    violations: `
      select d.product_id, d.corporate_action_id, sum(c.percentage) as total
      from distribution d
      left join distribution_component c on c.product_id = d.product_id
        and c.corporate_action_id = d.corporate_action_id
      group by d.product_id, d.corporate_action_id
      having sum(c.percentage) is distinct from 100 or max(c.ordinal) <> count(*)`,
  },
  {
    name: 'an entitlement is what the method of its distribution gives for its units',
    of: 'entitlement',
    violations: `
      select ${key}, e.units, e.unit_days, e.gross_amount, e.should_be
      from (
        select e.*, ${byMethod} as should_be,
          -- Of units over a period: who got nothing and held nothing in the end has no row.
          case when d.distribution_amount_per_unit is null and e.unit_days is null
            then ${shareOfTotal} end as share
        from (${entitled}) e join distribution d on d.product_id = e.product_id
          and d.corporate_action_id = e.corporate_action_id
        where e.under_way is null
        window own as (partition by e.product_id, e.corporate_action_id)) e
      where not e.pre_calculated and (e.gross_amount <> e.should_be
        or abs(e.gross_amount - e.share) >= power(10::numeric, -e.cents))`,
  },
  {
    name: 'what an entitlement reinvests is what its account had chosen',
    of: 'entitlement',
    violations: `
      select ${key}, e.gross_amount, e.tax_amount, e.drp_type_id, e.drp_value,
        e.declared_drp_amount, e.drp_amount
      from (${entitled}) e
      where e.under_way is null and e.drp_type_id is not null
        and (e.declared_drp_amount <> ${chosen('e.gross_amount')}
          -- nothing, where an account that is closed was paid all of it
          or (e.drp_amount <> ${chosen('(e.gross_amount - e.tax_amount)')}
            and (e.declared_drp_amount is null or e.drp_amount > 0)))`,
  },
  {
    name: 'the components of an entitlement add up to it, each within a cent of its share',
    of: 'entitlement',
    violations: `
      select ${key}, e.gross_amount, e.component_amounts
      from (${entitled}) e
      cross join lateral (
        select count(*) as parts, sum(p.amount) as total,
          bool_and(p.amount >= 0 and scale(trim_scale(p.amount)) <= e.cents
            and c.ordinal is not null and abs(p.amount - e.gross_amount * c.percentage / 100)
              < power(10::numeric, -e.cents)) as fair
        from unnest(e.component_amounts) with ordinality p (amount, ordinal)
        left join distribution_component c on c.product_id = e.product_id
          and c.corporate_action_id = e.corporate_action_id and c.ordinal = p.ordinal) s
      where e.under_way is distinct from 'Declare'
        and (s.total is distinct from e.gross_amount or s.fair is not true
          or s.parts <> (
            select count(*) from distribution_component c
            where c.product_id = e.product_id
              and c.corporate_action_id = e.corporate_action_id))`,
  },
  {
    name: 'an entitlement is its tax, cash and DRP part, all in whole cents and none negative',
    of: 'entitlement',
    violations: `
      select ${key}, e.gross_amount, e.tax_amount, e.cash_amount, e.drp_amount, e.drp_cost,
        e.drp_residual
      from (${entitled}) e
      where e.gross_amount <> e.tax_amount + e.cash_amount + e.drp_amount
        or least(e.units, e.tax_amount, e.cash_amount, e.drp_amount, e.drp_units,
          e.drp_cost, e.drp_residual,
          e.residual_before) < 0
        or greatest(scale(trim_scale(e.gross_amount)), scale(trim_scale(e.cash_amount)),
          scale(trim_scale(e.tax_amount)), scale(trim_scale(e.drp_cost)),
          scale(trim_scale(e.drp_residual))) > e.cents`,
  },
  {
    name: 'what was reinvested and left from before is what the units cost and what is left now',
    of: 'entitlement',
    violations: `
      select ${key}, e.drp_amount, e.residual_before, e.drp_units, e.drp_cost, e.drp_residual
      from (${entitled}) e left join investment i on i.investment_id = e.drp_investment_id
      -- Its unitDecimals may have grown since: the finest units given tell what they were.
      left join (
        select product_id, corporate_action_id, max(scale(trim_scale(drp_units))) as decimals
        from entitlement group by 1, 2) m
        on m.product_id = e.product_id and m.corporate_action_id = e.corporate_action_id
      -- What an account got that was closed: no units, and at least what was held for it.
      left join residual_payment r on r.product_id = e.product_id
        and r.corporate_action_id = e.corporate_action_id and r.account_id = e.account_id
        and r.reversed_date is null
      where e.drp_residual is not null and e.under_way is null
        and (e.drp_amount + e.residual_before
            is distinct from e.drp_cost + e.drp_residual
          or e.drp_cost is distinct from round(e.drp_units * e.drp_price, e.cents)
          -- as many units as the money buys: not one more, not one less
          or e.drp_units * e.drp_price > e.drp_amount + e.residual_before
          or (r.account_id is null
            and (e.drp_units + power(10::numeric, -m.decimals)) * e.drp_price
              <= e.drp_amount + e.residual_before)
          or (r.account_id is not null and (e.drp_units > 0
            or r.amount not in (e.drp_amount, e.drp_residual)))
          or scale(trim_scale(e.drp_units)) > i.unit_decimals)`,
  },
  {
    name: 'an entitlement has what its stage gives it, and nothing of a later stage',
    of: 'entitlement',
    violations: `
      select ${key}, e.status_id, e.cash_amount, e.payment_transaction_id, e.drp_amount,
        e.drp_units, e.drp_transaction_id
      from (${entitled}) e
      where (e.payment_detail_id is not null and e.payment_transaction_id is null)
        or (e.drp_transaction_id is not null) <> (coalesce(e.drp_units, 0) > 0)
        or num_nonnulls(e.residual_before, e.drp_units, e.drp_cost, e.drp_residual,
          e.allotted_date) not in (0, 5)
        or e.status_id is null
        or (e.under_way is null and (e.status_id < ${Declared}
          or (e.payment_transaction_id is not null)
            <> (e.status_id >= ${Paid} and e.cash_amount > 0)
          or (e.tax_transaction_id is not null) <> (e.tax_amount > 0)
          or (e.tax_amount > 0 and e.declared_drp_amount is null)
          -- kept where tax came off, or where an account that is closed was paid all of it
          or (e.declared_drp_amount is not null and (e.status_id < ${Paid}
            or (e.tax_amount = 0 and e.drp_amount > 0)))
          or (e.tax_amount > 0 and e.status_id < ${Paid})
          or (e.drp_residual is not null)
            <> (e.status_id = ${Completed} and e.drp_amount > 0)))`,
  },
  {
    name: 'account and investment of an entitlement are those of its product and distribution',
    of: 'entitlement',
    violations: `
      select ${key}, e.investment_id, d.investment_id as should_be
      from entitlement e
      left join distribution d on d.product_id = e.product_id
        and d.corporate_action_id = e.corporate_action_id
      left join ledger_account a on a.product_id = e.product_id and a.account_id = e.account_id
      where d.investment_id is distinct from e.investment_id or a.account_id is null`,
  },
  {
    name: 'every payment is that of one entitlement: same account, investment, day and cash',
    of: 'biz_transaction',
    violations: linked(
      idsOf('Distribution payment'),
      'payment_transaction_id',
      `e.investment_id <> t.investment_id or e.cash_amount <> t.amount or t.quantity <> 0
        or e.payment_date is distinct from t.transaction_date`,
    ),
  },
  {
    name: 'every withholding of tax is that of one entitlement: same account, day and money',
    of: 'biz_transaction',
    violations: linked(
      idsOf('Withholding tax'),
      'tax_transaction_id',
      `e.investment_id <> t.investment_id or -e.tax_amount <> t.amount or t.quantity <> 0
        or e.payment_date is distinct from t.transaction_date`,
    ),
  },
  {
    name: 'the tax of an entitlement is what was withheld of its components',
    of: 'entitlement',
    violations: `
      select coalesce(e.product_id, w.product_id) as product_id,
        coalesce(e.corporate_action_id, w.corporate_action_id) as corporate_action_id,
        coalesce(e.account_id, w.account_id) as account_id, e.tax_amount, w.amount as should_be
      from entitlement e
      full join (
        select product_id, corporate_action_id, account_id, sum(amount) as amount
        from withholding group by product_id, corporate_action_id, account_id) w
        on w.product_id = e.product_id and w.corporate_action_id = e.corporate_action_id
          and w.account_id = e.account_id
      where e.account_id is null or e.tax_amount <> coalesce(w.amount, 0)`,
  },
  {
    name: 'what was withheld is the rate of its component, as it was to be rounded',
    of: 'withholding',
    violations: `
      select w.product_id, w.corporate_action_id, w.account_id, w.ordinal, w.base_amount,
        e.component_amounts, w.percentage, w.rounding, w.amount
      from withholding w
      left join (${entitled}) e on e.product_id = w.product_id
        and e.corporate_action_id = w.corporate_action_id and e.account_id = w.account_id
      where w.base_amount is distinct from e.component_amounts[w.ordinal]
        or w.amount <> case w.rounding
          when 'WholeDollar' then trunc(w.base_amount * w.percentage * 0.01)
          else round(w.base_amount * w.percentage * 0.01, e.cents) end`,
  },
  {
    name: 'every DRP allotment is that of one entitlement: same account, target, units, cost',
    of: 'biz_transaction',
    violations: linked(
      idsOf('DRP allotment'),
      'drp_transaction_id',
      `e.drp_investment_id is distinct from t.investment_id or e.drp_cost <> t.amount
        or e.drp_units <> t.quantity or (e.under_way is null
          and (e.drp_price is distinct from t.investment_price
            or e.drp_allotment_date is distinct from t.transaction_date))`,
    ),
  },
  {
    name: 'no account is paid, or allotted units, twice for one distribution',
    of: 'biz_transaction',
    violations: `
      select product_id, corporate_action_id, account_id, biz_transaction_type_id, count(*)
      from biz_transaction t
      where (biz_transaction_type_id in ${made} or corporate_action_id is not null)
        and ${counts('t')}
        and not (biz_transaction_type_id in ${idsOf('Residual payment')}
          and corporate_action_id is null)
      group by product_id, corporate_action_id, account_id, biz_transaction_type_id
      having count(*) > 1 or biz_transaction_type_id not in ${made}
        or corporate_action_id is null`,
  },
  {
    name: 'what a holding was entitled to in all is the sum of its entitlements',
    of: 'entitlement_total',
    violations: unlikeSum('entitlement_total', 'gross_amount', 'select * from entitlement'),
  },
  {
    name: 'entitlements that back-dated changes have overtaken (GET /Distribution/Exceptions)',
    of: 'entitlement',
    isNote: true,
    violations: `
      select t.product_id, t.corporate_action_id, t.account_id, t.units, t.held, t.unit_days,
        t.held_days
      from (${compared} union all ${latecomers}) t where ${isOvertaken}`,
  },
]
