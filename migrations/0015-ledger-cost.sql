-- What a transaction means for cost, and what it was made by. All are columns of ledger tables.

alter table biz_transaction
  -- The cost that goes along with units without a gain: from one holding to another (a transfer
  -- that carries, a conversion by factor) or out of the register (an adjustment without money).
  -- Never negative. Null: at market, units are bought and sold for the amount.
  add column carried_cost numeric,
  -- How the second leg of a conversion follows from the first.
  add column conversion_method_id smallint,
  add column conversion_factor numeric,
  -- Where the entry fee is a percentage it follows the amount.
  add column entry_fee_percentage numeric,
  -- The figure that the posting was made by is the quantity; null: the amount, both, or not known.
  add column made_by_quantity boolean;

alter table biz_transaction_version
  add column entry_fee_amount numeric;

-- The closings of an account are the sums over its holdings, in one currency: they are added up when
-- they are asked for, from the closings of the holdings.
alter table biz_transaction drop column account_closing_quantity, drop column account_closing_amount;
alter table ledger_account drop column quantity, drop column invested_amount;

-- Whose later transactions took cost along, when something before them changes.
create index biz_transaction_carried on biz_transaction (product_id, account_id, transaction_date)
  where carried_cost is not null and quantity < 0;

drop aggregate holding_state(holding_state, numeric, numeric, integer);
drop function holding_state_step(holding_state, holding_state, numeric, numeric, integer);

-- Units, net invested amount, cost by average, and realised gain of a holding, carried through its
-- transactions in one pass: a window aggregate, started from the state before the first of them.
create function holding_state_step(
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
    -- All of the cost goes with the last unit, so that no cent is left behind on an empty holding.
    -- The inner round only widens: a quotient is as long as its operands, and rounding a short one
    -- again would round twice.
    sold_cost := case when now_held.quantity + quantity <= 0 then now_held.cost
      else round(round(now_held.cost * -quantity, 40) / now_held.quantity, decimals) end;
    if carried_cost is not null then
      return (now_held.quantity + quantity, now_held.invested - sold_cost,
        now_held.cost - sold_cost, now_held.gain)::holding_state;
    end if;
    return (now_held.quantity + quantity, now_held.invested + amount, now_held.cost - sold_cost,
      now_held.gain - amount - sold_cost)::holding_state;
  end if;
  return now_held; -- a payment of a distribution moves money, not units
end $$;

create aggregate holding_state(
  start holding_state, quantity numeric, amount numeric, decimals integer, carried_cost numeric
) (sfunc = holding_state_step, stype = holding_state, parallel = safe);

-- How many days old a price may be that a posting goes by (investment is an identity table).
alter table investment add column if not exists maximum_price_age_days integer;

-- What was created when; the rows lie almost in that order.
create index biz_transaction_created on biz_transaction using brin (product_id, created_date);
