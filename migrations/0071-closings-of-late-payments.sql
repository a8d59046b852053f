-- Payments of distributions, tax and residuals that were posted back into a long history had no
-- closings: on the days from theirs to the next posting nothing seemed to be held, and where none
-- came later the totals of the holding went by it. Such holdings are counted anew as a whole,
-- without the marks of 0034; there are few.
do $$
declare
  wrong record;
begin
  for wrong in
    select distinct t.product_id, t.account_id, t.investment_id,
      minor_units(i.currency_id) as decimals
    from biz_transaction t join investment i on i.investment_id = t.investment_id
    where t.closing_quantity is null and t.biz_transaction_status_id <> 3 and t.quantity = 0
  loop
    delete from closing_mark m
    where m.product_id = wrong.product_id and m.account_id = wrong.account_id
      and m.investment_id = wrong.investment_id;
    update biz_transaction t
    set closing_quantity = (c.state).quantity, closing_amount = (c.state).invested,
      closing_cost = (c.state).cost, closing_gain = (c.state).gain
    from (
      select b.biz_transaction_id as id,
        holding_state(row(0, 0, 0, 0)::holding_state, b.quantity, b.amount, wrong.decimals,
          b.carried_cost) over (order by b.transaction_date, b.biz_transaction_id) as state
      from biz_transaction b
      where b.product_id = wrong.product_id and b.account_id = wrong.account_id
        and b.investment_id = wrong.investment_id and b.biz_transaction_status_id <> 3) c
    where t.product_id = wrong.product_id and t.biz_transaction_id = c.id;
    update holding h
    set quantity = l.closing_quantity, invested_amount = l.closing_amount,
      cost_amount = l.closing_cost, realised_gain = l.closing_gain
    from (
      select b.closing_quantity, b.closing_amount, b.closing_cost, b.closing_gain
      from biz_transaction b
      where b.product_id = wrong.product_id and b.account_id = wrong.account_id
        and b.investment_id = wrong.investment_id and b.biz_transaction_status_id <> 3
      order by b.transaction_date desc, b.biz_transaction_id desc limit 1) l
    where h.product_id = wrong.product_id and h.account_id = wrong.account_id
      and h.investment_id = wrong.investment_id;
  end loop;
end $$;
