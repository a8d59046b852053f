import { idsOf, idsWhere } from '../../ledger/biz-transaction/kinds.ts'
import { standing } from '../../parties/account/standing.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { lookups } from '../../platform/lookup/lookups.ts'

const { Complete, RolledBack } = lookups.BizTransactionStatus
const { BizEventType: eventTypes, BizEventStatus: eventStatuses } = lookups

/**
 * A rule that must hold in the register, with a SQL statement that yields the rows that break it.
 * No check works out a closing figure from another one: running figures are computed from the first
 * transaction on. To add a check, add an entry to a list of checks.
 */
export type Check = {
  /** The rule in words. */
  name: string
  /** The table whose rows are checked; the result gives how many there are. */
  of: string
  violations: string
  /** A note: rows found are reported, but do not count as wrong. */
  isNote?: true
}

/** What a transaction adds to the net invested amount: its money, or the cost it carries along. */
const invested = `case when quantity = 0 then 0
  else coalesce(sign(quantity) * carried_cost, amount) end`

/** The running figures of a holding after each transaction that counts. */
const running = `
  select t.*, i.currency_id,
    sum(t.quantity) over own as own_quantity,
    sum(t.invested) over own as own_amount,
    holding_state(row(0, 0, 0, 0)::holding_state, t.quantity, t.amount,
      minor_units(i.currency_id), t.carried_cost) over own as own_state
  from (
    select *, ${invested} as invested
    from transaction_line b where ${counts('b')}) t
  join investment i on i.investment_id = t.investment_id
  window own as (partition by t.product_id, t.account_id, t.investment_id
      order by t.transaction_date, t.biz_transaction_id)`

const key = 'product_id, biz_transaction_id, account_id, investment_id, transaction_date'

/** Pairs of legs that do not match: a first leg, and the second leg that names it as its parent. */
const legs = (first: string, second: string, broken: string) => `
  select coalesce(o.product_id, i.product_id) as product_id,
    o.biz_transaction_id as first_leg, i.biz_transaction_id as second_leg
  from (select * from biz_transaction where biz_transaction_type_id in ${first}) o
  full join (select * from biz_transaction where biz_transaction_type_id in ${second}) i
    on i.product_id = o.product_id and i.parent_biz_transaction_id = o.biz_transaction_id
  where o.biz_transaction_id is null or i.biz_transaction_id is null
    or o.parent_biz_transaction_id is not null
    or o.transaction_date <> i.transaction_date
    or (${counts('o')}) <> (${counts('i')})
    or ${broken}
  union all
  select product_id, parent_biz_transaction_id, min(biz_transaction_id)
  from biz_transaction where biz_transaction_type_id in ${second}
  group by product_id, parent_biz_transaction_id having count(*) > 1`

/**
 * Whether a transaction fulfils a notice: the same account and investment, and the notice's kind.
 */
const settles = (t: string, e: string) => `${t}.account_id = ${e}.account_id
  and ${t}.investment_id = ${e}.investment_id and case ${e}.biz_event_type_id
    when ${eventTypes.Deposit}
      then ${t}.biz_transaction_type_id in ${idsOf('Deposit', 'Allotment')}
    when ${eventTypes.Redemption}
      then ${t}.biz_transaction_type_id in ${idsOf('Redemption', 'Conversion out')}
    else ${t}.biz_transaction_type_id in ${idsOf('Conversion in')} end`

export const checks: Check[] = [
  {
    name: 'a holding is the sum of its transactions',
    of: 'holding',
    violations: `
      select coalesce(h.product_id, s.product_id) as product_id,
        coalesce(h.account_id, s.account_id) as account_id,
        coalesce(h.investment_id, s.investment_id) as investment_id,
        h.quantity, s.quantity as should_be, h.invested_amount, s.amount as amount_should_be
      from holding h
      full join (
        select product_id, account_id, investment_id,
          sum(case when ${counts('b')} then quantity else 0 end) as quantity,
          sum(case when ${counts('b')} then ${invested} else 0 end) as amount
        from biz_transaction b group by product_id, account_id, investment_id) s
        on s.product_id = h.product_id and s.account_id = h.account_id
          and s.investment_id = h.investment_id
      where (h.quantity, h.invested_amount) is distinct from (s.quantity, s.amount)`,
  },
  {
    name: 'cost and realised gain of a holding are those after its last transaction',
    of: 'holding',
    violations: `
      select h.product_id, h.account_id, h.investment_id, h.cost_amount,
        (s.own_state).cost as cost_should_be, h.realised_gain, (s.own_state).gain as gain_should_be
      from holding h
      left join (
        select distinct on (product_id, account_id, investment_id) product_id, account_id,
          investment_id, own_state
        from (${running}) r
        order by product_id, account_id, investment_id, transaction_date desc,
          biz_transaction_id desc) s
        on s.product_id = h.product_id and s.account_id = h.account_id
          and s.investment_id = h.investment_id
      where (h.cost_amount, h.realised_gain)
        is distinct from (coalesce((s.own_state).cost, 0), coalesce((s.own_state).gain, 0))`,
  },
  {
    name: 'closing units and amounts are the running sums of the holding',
    of: 'biz_transaction',
    violations: `
      select ${key}, closing_quantity, own_quantity as should_be, closing_amount,
        own_amount as amount_should_be
      from (${running}) r
      where (closing_quantity, closing_amount) is distinct from (own_quantity, own_amount)`,
  },
  {
    name: 'closing cost and gain follow from the first transaction on',
    of: 'biz_transaction',
    violations: `
      select ${key}, closing_cost, (own_state).cost as cost_should_be, closing_gain,
        (own_state).gain as gain_should_be
      from (${running}) r
      where (closing_cost, closing_gain) is distinct from ((own_state).cost, (own_state).gain)`,
  },
  {
    name: 'shifted closings end by the last_date of their account, no cost went along among them',
    of: 'closing_mark',
    violations: `
      select m.product_id, m.account_id, m.investment_id, m.transaction_date,
        m.biz_transaction_id, m.quantity_shift, m.amount_shift, m.gain
      from (
        select *, lead(transaction_date) over line as next_date,
          lead(biz_transaction_id) over line as next_id
        from closing_mark
        window line as (partition by product_id, account_id, investment_id
          order by transaction_date, biz_transaction_id)) m
      where (m.gain is not null and m.next_id is null)
        or (m.gain is null and (m.quantity_shift, m.amount_shift) <> (0, 0))
        or not exists (select 1 from holding h where h.product_id = m.product_id
          and h.account_id = m.account_id and h.investment_id = m.investment_id)
        or exists (select 1 from ledger_account a where a.product_id = m.product_id
          and a.account_id = m.account_id and a.last_date < m.transaction_date)
        or (m.gain is not null and exists (select 1 from biz_transaction b
          where b.product_id = m.product_id and b.account_id = m.account_id
            and b.investment_id = m.investment_id and b.quantity < 0
            and b.carried_cost is not null and ${counts('b')}
            and (b.transaction_date, b.biz_transaction_id)
              >= (m.transaction_date, m.biz_transaction_id)
            and (b.transaction_date, b.biz_transaction_id) < (m.next_date, m.next_id)))`,
  },
  {
    name: 'a cost that goes along is what left the one holding and what reached the other',
    of: 'biz_transaction',
    violations: `
      select o.product_id, o.biz_transaction_id, o.carried_cost, o.left_with as should_be,
        i.biz_transaction_id as second_leg, i.carried_cost as arrived_with
      from (
        select *, coalesce(lag((own_state).cost) over (
            partition by product_id, account_id, investment_id
            order by transaction_date, biz_transaction_id), 0) - (own_state).cost as left_with
        from (${running}) r) o
      left join biz_transaction i on i.product_id = o.product_id
        and i.parent_biz_transaction_id = o.biz_transaction_id
      where o.quantity < 0 and (o.carried_cost <> o.left_with
        or (i.biz_transaction_id is not null
          and i.carried_cost is distinct from o.carried_cost))`,
  },
  {
    name: 'no holding is negative at any point of its history',
    of: 'biz_transaction',
    violations: `
      select product_id, account_id, investment_id, biz_transaction_id, transaction_date,
        own_quantity as quantity
      from (${running}) r where own_quantity < 0`,
  },
  {
    name: 'an account that is closed, itself or with its investor, holds no units',
    of: 'holding',
    violations: `
      select h.product_id, h.account_id, h.investment_id, h.quantity
      from holding h
      join account a on a.account_id = h.account_id
      join biz_entity n on n.biz_entity_id = a.biz_entity_id
      where h.quantity <> 0 and ${standing('a', 'n').text} = 'closed'`,
  },
  {
    name: 'an account with transactions has a row, and none is dated after its last_date',
    of: 'ledger_account',
    violations: `
      select coalesce(a.product_id, s.product_id) as product_id,
        coalesce(a.account_id, s.account_id) as account_id, a.last_date,
        s.last_date as last_date_should_be
      from ledger_account a
      full join (
        select product_id, account_id, max(transaction_date) as last_date
        from biz_transaction b where ${counts('b')}
        group by product_id, account_id) s
        on s.product_id = a.product_id and s.account_id = a.account_id
      where a.account_id is null or coalesce(a.last_date, '-infinity') < s.last_date`,
  },
  {
    name: 'what is rolled back has no closings, everything else has them all',
    of: 'biz_transaction',
    violations: `
      select ${key}, biz_transaction_status_id from biz_transaction
      where num_nulls(closing_quantity, closing_amount, closing_cost, closing_gain)
        <> case when biz_transaction_status_id = ${RolledBack} then 4 else 0 end`,
  },
  {
    name: 'units and money have the sign of their type',
    of: 'biz_transaction',
    violations: `
      select ${key}, biz_transaction_type_id, quantity, amount from biz_transaction
      where case
        when biz_transaction_type_id in ${idsWhere(({ units }) => units === 'in')}
          then quantity <= 0 or amount < 0
        when biz_transaction_type_id in ${idsWhere(({ units }) => units === 'out')}
          then quantity >= 0 or amount > 0
        when biz_transaction_type_id in ${idsWhere(({ units }) => units === 'none')}
          then quantity <> 0
        else quantity = 0 or quantity * amount < 0 end`,
  },
  {
    name: 'units fit the decimals of the investment, money those of its currency',
    of: 'biz_transaction',
    violations: `
      select t.product_id, t.biz_transaction_id, t.quantity, i.unit_decimals, t.amount
      from biz_transaction t join investment i on i.investment_id = t.investment_id
      where scale(trim_scale(t.quantity)) > i.unit_decimals
        or scale(trim_scale(t.amount)) > minor_units(i.currency_id)`,
  },
  {
    name: 'a transfer has two legs: one investment and day, two accounts, opposite figures',
    of: 'biz_transaction',
    violations: legs(
      idsOf('Transfer out'),
      idsOf('Transfer in'),
      `o.investment_id <> i.investment_id or o.account_id = i.account_id
        or o.quantity <> -i.quantity or o.amount <> -i.amount`,
    ),
  },
  {
    name: 'a conversion has two legs: one account, day and amount, two investments',
    of: 'biz_transaction',
    violations: legs(
      idsOf('Conversion out'),
      idsOf('Conversion in'),
      `o.account_id <> i.account_id or o.investment_id = i.investment_id
        or o.amount <> -i.amount`,
    ),
  },
  {
    name: 'the units of a conversion follow from its factor or from its price',
    of: 'biz_transaction',
    violations: `
      select i.product_id, o.biz_transaction_id as first_leg, i.biz_transaction_id as second_leg,
        o.quantity as units_out, i.quantity as units_in, i.conversion_factor, i.investment_price
      from biz_transaction i
      join biz_transaction o on o.product_id = i.product_id
        and o.biz_transaction_id = i.parent_biz_transaction_id
      join investment v on v.investment_id = i.investment_id
      join investment w on w.investment_id = o.investment_id
      -- Decimals of units may have become more since: some number of them must fit.
      where i.conversion_method_id is not null and not exists (
        select 1 from generate_series(0, greatest(v.unit_decimals, w.unit_decimals)) d
        where case when i.conversion_factor is not null
          then i.quantity = round(-o.quantity * i.conversion_factor, d)
            or -o.quantity = round(round(i.quantity, 40) / i.conversion_factor, d)
          else i.quantity = round(round(i.amount, 40) / i.investment_price, d)
            or i.amount = round(i.quantity * i.investment_price, minor_units(v.currency_id)) end)`,
  },
  {
    name: 'account and investment of a transaction are of its product',
    of: 'biz_transaction',
    violations: `
      select t.product_id, t.biz_transaction_id, t.account_id, a.product_id as account_product_id,
        t.investment_id, i.product_id as investment_product_id
      from biz_transaction t
      left join account a on a.account_id = t.account_id
      left join investment i on i.investment_id = t.investment_id
      where a.product_id is distinct from t.product_id
        or i.product_id is distinct from t.product_id`,
  },
  {
    name: 'an external id is one transaction of its product',
    of: 'biz_transaction',
    violations: `
      select product_id, external_biz_transaction_id, count(*) from biz_transaction
      where external_biz_transaction_id is not null
      group by product_id, external_biz_transaction_id having count(*) > 1`,
  },
  {
    name: 'a completed notice and its transaction name each other and agree; no other names one',
    of: 'biz_event',
    violations: `
      select e.product_id, e.biz_event_id, e.biz_event_status_id, e.parent_biz_transaction_id,
        t.biz_transaction_id
      from biz_event e
      left join biz_transaction t on t.product_id = e.product_id
        and t.biz_transaction_id = e.parent_biz_transaction_id
        and t.biz_event_id = e.biz_event_id and ${settles('t', 'e')} and ${counts('t')}
      where (e.biz_event_status_id = ${eventStatuses.Completed})
          <> (t.biz_transaction_id is not null)
        or (e.parent_biz_transaction_id is not null) <> (t.biz_transaction_id is not null)
      union all
      select t.product_id, t.biz_event_id, null, null, t.biz_transaction_id
      from biz_transaction t
      left join biz_event e on e.product_id = t.product_id and e.biz_event_id = t.biz_event_id
        and ${settles('t', 'e')}
      where t.biz_event_id is not null and e.biz_event_id is null`,
  },
  {
    name: 'the two notices of a conversion have one account, day and status, two investments',
    of: 'biz_event',
    violations: `
      select coalesce(o.product_id, i.product_id) as product_id, o.biz_event_id as source,
        i.biz_event_id as target
      from biz_event i
      full join biz_event o
        on o.product_id = i.product_id and o.biz_event_id = i.parent_biz_event_id
      where (i.parent_biz_event_id is not null
          and (o.biz_event_id is null or i.biz_event_type_id <> ${eventTypes.Allotment}
            or o.biz_event_type_id <> ${eventTypes.Redemption}
            or o.biz_event_status_id <> i.biz_event_status_id or o.account_id <> i.account_id
            or o.biz_event_date <> i.biz_event_date or o.investment_id = i.investment_id))
        or (i.biz_event_type_id = ${eventTypes.Allotment} and i.parent_biz_event_id is null)
      union all
      select product_id, parent_biz_event_id, min(biz_event_id)
      from biz_event where parent_biz_event_id is not null
      group by product_id, parent_biz_event_id having count(*) > 1`,
  },
  {
    name: 'account and investment of a notice are of its product',
    of: 'biz_event',
    violations: `
      select e.product_id, e.biz_event_id, e.account_id, e.investment_id
      from biz_event e
      left join account a on a.account_id = e.account_id
      left join investment i on i.investment_id = e.investment_id
      where a.product_id is distinct from e.product_id
        or i.product_id is distinct from e.product_id`,
  },
  {
    name: 'every transaction that a request posted is in the audit trail',
    of: 'biz_transaction',
    violations: `
      select ${key} from biz_transaction t
      where corporate_action_id is null
        and biz_transaction_type_id not in ${idsOf('Residual payment')} and not exists (
        select 1 from (
          select resource_id as id from audit where resource = 'BizTransaction'
          union all
          select unnest(coalesce(resource_ids, record_ids)) from audit
          where resource = 'BizTransaction') a
        where a.id = t.biz_transaction_id)`,
  },
  {
    name: 'versions of a transaction follow each other without a gap up to the present one',
    of: 'biz_transaction_version',
    violations: `
      select coalesce(t.product_id, v.product_id) as product_id,
        coalesce(t.biz_transaction_id, v.biz_transaction_id) as biz_transaction_id,
        v.versions, t.biz_transaction_status_id
      from biz_transaction t
      full join (
        select product_id, biz_transaction_id, count(*) as versions,
          min(version) = 1 and max(version) = count(*)
            and bool_and(before is null or before = valid_from) as whole,
          min(valid_from) as since, max(valid_to) as until
        from (
          select *, lag(valid_to) over (partition by product_id, biz_transaction_id
            order by version) as before
          from biz_transaction_version) w
        group by product_id, biz_transaction_id) v
        on v.product_id = t.product_id and v.biz_transaction_id = t.biz_transaction_id
      where case
        when v.versions is null then t.biz_transaction_status_id <> ${Complete}
        else t.biz_transaction_id is null or t.biz_transaction_status_id = ${Complete}
          or not v.whole or v.since <> t.created_date
          or v.until is distinct from t.updated_date end`,
  },
]
