import { counts } from '../../platform/lookup/counts.ts'
import type { Check } from './checks.ts'

/** The checks of payment runs: that the ledger, the runs and the bank files agree. */
export const paymentChecks: Check[] = [
  {
    name: 'a payment is the sum of what it is made of, unless that was paid again since',
    of: 'payment',
    violations: `
      select p.product_id, p.payment_id, p.state, p.amount, s.amount as should_be, p.tax_amount,
        s.tax_amount as tax_should_be
      from payment p
      left join (
        select product_id, payment_id, sum(amount) as amount, sum(tax_amount) as tax_amount,
          min(payment_run_id) as run_id, max(payment_run_id) as last_run_id
        from payment_item group by product_id, payment_id) s
        on s.product_id = p.product_id and s.payment_id = p.payment_id
      where case when p.state = 'Reissued' then s.payment_id is not null
        else (s.amount, s.tax_amount) is distinct from (p.amount, p.tax_amount)
          or s.run_id <> p.payment_run_id
          or s.last_run_id <> p.payment_run_id end`,
  },
  {
    name: 'what a run pays is a transaction that counts: same account, same money, same tax',
    of: 'payment_item',
    violations: `
      select m.product_id, m.payment_run_id, m.biz_transaction_id, m.amount, t.amount as posted,
        m.tax_amount, e.tax_amount as withheld
      from payment_item m
      join payment p on p.product_id = m.product_id and p.payment_id = m.payment_id
      join payment_run r on r.product_id = m.product_id and r.payment_run_id = m.payment_run_id
      left join biz_transaction t on t.product_id = m.product_id
        and t.biz_transaction_id = m.biz_transaction_id
      left join entitlement e on e.product_id = m.product_id
        and e.payment_transaction_id = m.biz_transaction_id
      where t.account_id is distinct from p.account_id
        or m.tax_amount <> coalesce(e.tax_amount, 0)
        or (r.state <> 'Draft' and (abs(t.amount) <> m.amount or not (${counts('t')})))`,
  },
  {
    name: 'payments and their run are at states that go together, and two people were there',
    of: 'payment_run',
    violations: `
      select r.product_id, r.payment_run_id, r.state, p.payment_id, p.state as payment_state
      from payment_run r
      left join payment p on p.product_id = r.product_id and p.payment_run_id = r.payment_run_id
      where (r.state in ('Draft', 'Approved') and p.state <> 'Pending')
        or (r.state in ('Sent', 'Closed') and p.state = 'Pending')
        or (r.state = 'Closed' and p.state not in ('Paid', 'Reissued', 'Unclaimed'))
        or (r.state <> 'Draft' and (r.approved_by_user_id is null
          or r.approved_by_user_id = r.created_by_user_id))`,
  },
  {
    name: 'the files of an approved run pay what its payments come to, byte for byte as kept',
    of: 'payment_run_file',
    violations: `
      select r.product_id, r.payment_run_id, f.file_number, f.amount, p.amount as should_be
      from payment_run r
      full join payment_run_file f on f.product_id = r.product_id
        and f.payment_run_id = r.payment_run_id
      left join lateral (
        select count(*) as count, sum(p.amount) as amount from payment p
        where p.product_id = f.product_id and p.payment_run_id = f.payment_run_id
          and p.file_number = f.file_number) p on true
      where r.state is null or (r.state = 'Draft') <> (f.file_number is null)
        or (f.file_number is not null and (f.amount is distinct from p.amount
          or f.payment_count <> p.count or f.sha256 <> encode(sha256(f.content), 'hex')))`,
  },
]
