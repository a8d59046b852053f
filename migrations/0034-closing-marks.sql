-- Closings without writing a long history anew. A change in the midst of it moves the units and the
-- money after each later transaction by the same figure, which is written down once, in a mark. From
-- its place in the line of a holding (day, then id) up to that of the next mark, the closings of the
-- transactions are what stands with them plus the shift; the gain is counted from that of the mark
-- through the sales since, and the cost is the amount plus the gain. A mark without a gain ends what
-- was shifted: from there on the closings are what stands with the transactions. A ledger table.
create table closing_mark (
  product_id         integer not null,
  account_id         integer not null,
  investment_id      integer not null,
  transaction_date   date not null,
  biz_transaction_id bigint not null,
  quantity_shift     numeric not null,
  amount_shift       numeric not null,
  gain               numeric, -- before the first transaction from there on
  primary key (product_id, account_id, investment_id, transaction_date, biz_transaction_id)
);
grant select, insert, update, delete on closing_mark to registry_service;

-- What stands with a transaction may be below zero where its closing is not; the holding may not be.
alter table biz_transaction drop constraint biz_transaction_not_negative;

-- What went out of a holding, in its line: there the gain and the cost change otherwise than the
-- units and the money do.
create index biz_transaction_out on biz_transaction
  (product_id, account_id, investment_id, transaction_date, biz_transaction_id)
  where quantity < 0;

-- The cost of units that go out, by average. All of the cost goes with the last unit, so that no
-- cent is left behind on an empty holding. The inner round only widens: a quotient is as long as its
-- operands, and rounding a short one again would round twice.
create function cost_of_sold(cost numeric, held numeric, quantity numeric, decimals integer)
  returns numeric language sql immutable parallel safe
  return case when held + quantity <= 0 then cost
    else round(round(cost * -quantity, 40) / held, decimals) end;

create or replace function holding_state_step(
  state holding_state, start holding_state, quantity numeric, amount numeric, decimals integer,
  carried_cost numeric
) returns holding_state language plpgsql immutable parallel safe as $$
declare
  now_held holding_state := coalesce(state, start);
  sold_cost numeric;
begin
  if quantity > 0 then
    return (now_held.quantity + quantity, now_held.invested + coalesce(carried_cost, amount),
      now_held.cost + coalesce(carried_cost, amount), now_held.gain)::holding_state;
  elsif quantity < 0 then
    sold_cost := cost_of_sold(now_held.cost, now_held.quantity, quantity, decimals);
    if carried_cost is not null then
      return (now_held.quantity + quantity, now_held.invested - sold_cost,
        now_held.cost - sold_cost, now_held.gain)::holding_state;
    end if;
    return (now_held.quantity + quantity, now_held.invested + amount, now_held.cost - sold_cost,
      now_held.gain - amount - sold_cost)::holding_state;
  end if;
  return now_held; -- a payment of a distribution moves money, not units
end $$;

-- The gain realised after each sale, from what was held and invested before it: that is all it takes,
-- since the cost of a holding always is the amount invested plus the gain realised.
create function realised_gain_step(
  gain numeric, start numeric, held numeric, invested numeric, quantity numeric, amount numeric,
  decimals integer
) returns numeric language plpgsql immutable parallel safe as $$
begin
  return coalesce(gain, start) - amount
    - cost_of_sold(invested + coalesce(gain, start), held, quantity, decimals);
end $$;

create aggregate realised_gain(
  start numeric, held numeric, invested numeric, quantity numeric, amount numeric, decimals integer
) (sfunc = realised_gain_step, stype = numeric, parallel = safe);
