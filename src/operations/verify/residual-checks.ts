import { idsOf } from '../../ledger/biz-transaction/kinds.ts'
import { counts } from '../../platform/lookup/counts.ts'
import type { Check } from './checks.ts'
import { entitled, key, unlikeSum } from './distribution-checks.ts'

/** The money that DRP allotments left over. */
export const residualChecks: Check[] = [
  {
    name: 'what is left of reinvested money is what allotments left and nobody was paid',
    of: 'drp_residual',
    violations: unlikeSum(
      'drp_residual',
      'amount',
      `
      select product_id, account_id, investment_id, drp_residual - residual_before as amount
      from entitlement where drp_residual is not null
      union all
      select product_id, account_id, investment_id, -amount
      from residual_payment where reversed_date is null`,
    ),
  },
  {
    name: 'a DRP allotment starts from what those before it left, less what was paid out',
    of: 'entitlement',
    violations: `
      select ${key}, e.residual_before, e.before as should_be
      from (
        select e.*, coalesce(sum(e.drp_residual - e.residual_before) over (
            partition by e.product_id, e.account_id, e.investment_id order by e.allotted_date
            rows between unbounded preceding and 1 preceding), 0)
          - coalesce((
            select sum(r.amount) from residual_payment r
            where r.product_id = e.product_id and r.account_id = e.account_id
              and r.investment_id = e.investment_id and r.paid_date < e.allotted_date
              and coalesce(r.reversed_date, 'infinity') > e.allotted_date), 0) as before
        from (${entitled}) e where e.drp_residual is not null) e
      where e.residual_before <> e.before`,
  },
  {
    name: 'every residual paid out is one transaction: same account, investment, day and money',
    of: 'residual_payment',
    violations: `
      select coalesce(r.product_id, t.product_id) as product_id, r.residual_payment_id,
        t.biz_transaction_id, r.amount, t.amount as posted
      from residual_payment r
      full join (
        select * from biz_transaction
        where biz_transaction_type_id in ${idsOf('Residual payment')}) t
        on t.product_id = r.product_id and t.biz_transaction_id = r.biz_transaction_id
      where r.account_id is null or t.account_id is null or t.account_id <> r.account_id
        or t.investment_id <> r.investment_id or t.amount <> r.amount or t.quantity <> 0
        or t.transaction_date <> r.payment_date
        or t.corporate_action_id is distinct from r.corporate_action_id
        or (r.reversed_date is null) <> (${counts('t')})`,
  },
]
