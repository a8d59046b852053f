-- Shifted closings ended on the day of a transaction that was rolled back, while the account took
-- postings of days before it as its newest: what was appended there was shifted as well. Holdings
-- of which a closing is wrong are counted anew as a whole, without marks; few have any. Of the
-- others, no account is dated before its marks any more.
do $$
declare
  shifted record;
  is_wrong boolean;
begin
  for shifted in
    select distinct m.product_id, m.account_id, m.investment_id,
      minor_units(i.currency_id) as decimals
    from closing_mark m join investment i on i.investment_id = m.investment_id
  loop
    select bool_or((l.closing_quantity, l.closing_amount)
      is distinct from (l.own_quantity, l.own_amount)) into is_wrong
    from (
      select b.closing_quantity + coalesce(m.quantity_shift, 0) as closing_quantity,
        b.closing_amount + coalesce(m.amount_shift, 0) as closing_amount,
        sum(b.quantity) over own as own_quantity,
        sum(case when b.quantity = 0 then 0
          else coalesce(sign(b.quantity) * b.carried_cost, b.amount) end) over own as own_amount
      from biz_transaction b
      left join lateral (
        select m.quantity_shift, m.amount_shift from closing_mark m
        where m.product_id = shifted.product_id and m.account_id = shifted.account_id
          and m.investment_id = shifted.investment_id
          and (m.transaction_date, m.biz_transaction_id)
            <= (b.transaction_date, b.biz_transaction_id)
        order by m.transaction_date desc, m.biz_transaction_id desc limit 1) m on true
      where b.product_id = shifted.product_id and b.account_id = shifted.account_id
        and b.investment_id = shifted.investment_id and b.biz_transaction_status_id <> 3
      window own as (order by b.transaction_date, b.biz_transaction_id)) l;
    continue when is_wrong is not true;
    delete from closing_mark m
    where m.product_id = shifted.product_id and m.account_id = shifted.account_id
      and m.investment_id = shifted.investment_id;
    update biz_transaction t
    set closing_quantity = (c.state).quantity, closing_amount = (c.state).invested,
      closing_cost = (c.state).cost, closing_gain = (c.state).gain
    from (
      select b.biz_transaction_id as id,
        holding_state(row(0, 0, 0, 0)::holding_state, b.quantity, b.amount, shifted.decimals,
          b.carried_cost) over (order by b.transaction_date, b.biz_transaction_id) as state
      from biz_transaction b
      where b.product_id = shifted.product_id and b.account_id = shifted.account_id
        and b.investment_id = shifted.investment_id and b.biz_transaction_status_id <> 3) c
    where t.product_id = shifted.product_id and t.biz_transaction_id = c.id;
    update holding h
    set quantity = l.closing_quantity, invested_amount = l.closing_amount,
      cost_amount = l.closing_cost, realised_gain = l.closing_gain
    from (
      select b.closing_quantity, b.closing_amount, b.closing_cost, b.closing_gain
      from biz_transaction b
      where b.product_id = shifted.product_id and b.account_id = shifted.account_id
        and b.investment_id = shifted.investment_id and b.biz_transaction_status_id <> 3
      order by b.transaction_date desc, b.biz_transaction_id desc limit 1) l
    where h.product_id = shifted.product_id and h.account_id = shifted.account_id
      and h.investment_id = shifted.investment_id;
  end loop;
end $$;

update ledger_account a set last_date = m.last_date
from (
  select product_id, account_id, max(transaction_date) as last_date
  from closing_mark group by product_id, account_id) m
where a.product_id = m.product_id and a.account_id = m.account_id and a.last_date < m.last_date;
