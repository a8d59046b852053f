    select g.place, r.* from unnest($1::int[],$2::bigint[],$3::int[]) g ("place", "value", "product_id")
    cross join lateral (
select r.product_id as id
from product r
where r.product_id = g.value and true and true limit 1) r;

    select g.place, r.* from unnest($1::int[],$2::bigint[],$3::int[]) g ("place", "value", "product_id")
    cross join lateral (
select r.account_id as id , r.product_id as "productID"
from account r
where r.account_id = g.value and (g.product_id is null or r.product_id = g.product_id) and true limit 1) r;

    select g.place, r.* from unnest($1::int[],$2::bigint[],$3::int[]) g ("place", "value", "product_id")
    cross join lateral (
select r.investment_id as id , r.product_id as "productID"
from investment r
where r.investment_id = g.value and (g.product_id is null or r.product_id = g.product_id) and true limit 1) r;

select pg_advisory_xact_lock_shared($1::int, id) from (
select distinct id from unnest($2::int[]) id order by id offset 0) p;

select i.investment_id from investment i
where i.investment_id = any($1::int[])
  and not exists (select 1 from holding h
    where h.product_id = $2 and h.investment_id = i.investment_id)
order by i.investment_id for key share of i;

with
known as (
  select g.*, i.is_active, i.currency_id, i.product_is_active, s.standing,
    g.transaction_date > product_today(i.time_zone) + 1 as is_too_far_ahead,
    case when g.transaction_date <= i.locked_date then i.locked_date end as locked_date,
    case when g.price is null and v.price_date < g.transaction_date - i.maximum_price_age_days
      and case when g.type_id in (5) then g.factor is null
        else g.quantity is null or (g.amount is null and not g.carries) end
      then v.price_date end as old_price_date,
    i.unit_decimals as units, minor_units(i.currency_id) as cents,
    round(g.quantity, i.unit_decimals) as asked_quantity,
    round(g.amount, minor_units(i.currency_id)) as asked_amount,
    case when g.fee is null then coalesce(g.fee_override,
      g.fee_percentage * (1 - coalesce(g.fee_discount, 0) * 0.01)) end as rate,
    coalesce(g.price, case
      when g.type_id in (8, 9) then v.plain_price
      when g.type_id in (3, 4) or g.quantity < 0
        then coalesce(v.redemption_price, v.plain_price)
      else coalesce(v.application_price, v.plain_price) end) as unit_price
  from (select * from unnest($1::int[],$2::int[],$3::int[],$4::int[],$5::int[],$6::date[],$7::numeric[],$8::numeric[],$9::numeric[],$10::numeric[],$11::numeric[],$12::numeric[],$13::numeric[],$14::numeric[],$15::boolean[]) g ("place", "item", "type_id", "account_id", "investment_id", "transaction_date", "quantity", "amount", "price", "fee", "fee_override", "fee_percentage", "fee_discount", "factor", "carries")) g
  cross join lateral (
    select i.is_active, i.currency_id, i.unit_decimals, i.maximum_price_age_days, p.time_zone,
      p.locked_date, p.is_active as product_is_active
    from investment i join product p on p.product_id = i.product_id
    where i.investment_id = g.investment_id limit 1) i
  cross join lateral (
    select case
when a.account_status_id = 3
  or e.biz_entity_status_id = 4 then 'closed'
when a.account_status_id = 2
  or e.biz_entity_status_id = 3 then 'suspended'
else 'open' end as standing
    from account a join biz_entity e on e.biz_entity_id = a.biz_entity_id
    where a.account_id = g.account_id limit 1) s
  left join lateral (
    select price_date, price as plain_price, application_price, redemption_price
    from investment_price n
    where n.investment_id = g.investment_id and n.price_date <= g.transaction_date
    order by n.price_date desc limit 1) v on true),
charged as (
  select *, coalesce(round(fee, cents), round(asked_amount * rate * 0.01, cents), 0) as charge
  from known),
single as (
  select *,
    coalesce(asked_quantity, round(round(asked_amount - charge, 40) / unit_price, units))
      as own_quantity,
    coalesce(asked_amount, round(asked_quantity * unit_price, cents),
      case when carries or type_id in (6, 7) then 0 end) as own_amount
  from charged),
paired as (
  select s.*,
    case when s.type_id not in (5) then s.own_quantity
      when s.factor is not null then round(o.own_quantity * s.factor, s.units)
      else round(round(o.own_amount, 40) / s.unit_price, s.units) end as final_quantity,
    case when s.type_id not in (5) then s.own_amount else o.own_amount end as final_amount
  from single s
  left join single o
    on s.type_id in (5) and o.type_id in (4) and o.item = s.item)
select place, is_active as "isActive",
  product_is_active as "productIsActive",
  standing as account, currency_id as "currencyID",
  is_too_far_ahead as "isTooFarAhead",
  locked_date as "lockedDate",
  old_price_date as "oldPriceDate",
  unit_price as price,
  charge as fee, rate as "feePercentage",
  case when type_id in (3, 4, 8) then -final_quantity else final_quantity end as quantity,
  case when type_id in (3, 4, 8) then -final_amount else final_amount end as amount
from paired;

select t.product_id as "productID",
  t.external_biz_transaction_id as "externalID",
  t.biz_transaction_id as id, case when not (t.biz_transaction_status_id <> 3) then t.biz_event_id end
    as "eventID"
from unnest($1::text[]) g (external_id)
join biz_transaction t on t.product_id = $2
  and t.external_biz_transaction_id = g.external_id;

select account_id as id, last_date as "lastDate" from ledger_account
where product_id = $1 and account_id = any($2::int[]) and (select count(*) from ledger_account where product_id = $3 and account_id = any($4::int[])) = $5
order by account_id for update skip locked;

select nextval('biz_transaction_biz_transaction_id_seq') as id, s.standing as account
from (
  select x.standing from unnest($1::int[]) with ordinality g (account_id, place)
  cross join lateral (
    select case
when a.account_status_id = 3
  or e.biz_entity_status_id = 4 then 'closed'
when a.account_status_id = 2
  or e.biz_entity_status_id = 3 then 'suspended'
else 'open' end as standing
    from account a join biz_entity e on e.biz_entity_id = a.biz_entity_id
    where a.account_id = g.account_id limit 1) x
  order by g.place) s;

select distinct account_id as id from hold
where product_id = $1 and account_id = any($2::int[]);

with
  stated as materialized (
    select g.*,
      holding_state(
        case when h.account_id is null then row(0, 0, 0, 0)::holding_state else
          row(h.quantity, h.invested_amount, h.cost_amount, h.realised_gain)::holding_state end,
        g.quantity, g.amount, minor_units(i.currency_id), g.carried_cost) over own as state,
      row_number() over (partition by g.account_id order by g.transaction_date desc, g.id desc)
        as from_last,
      row_number() over (partition by g.account_id, g.investment_id
        order by g.transaction_date desc, g.id desc) as from_last_of_holding,
      -- A payment moves no units: its holding is left alone, if there is one.
      h.account_id is null or bool_or(g.quantity <> 0) over (
        partition by g.account_id, g.investment_id) as moves
    from (select * from unnest($1::bigint[],$2::bigint[],$3::smallint[],$4::int[],$5::int[],$6::date[],$7::numeric[],$8::numeric[],$9::numeric[],$10::numeric[],$11::text[],$12::text[],$13::int[],$14::bigint[],$15::numeric[],$16::smallint[],$17::numeric[],$18::numeric[],$19::boolean[]) p ("id", "parent_id", "type_id", "account_id", "investment_id", "transaction_date", "investment_price", "amount", "quantity", "entry_fee_amount", "external_id", "comment", "corporate_action_id", "biz_event_id", "carried_cost", "conversion_method_id", "conversion_factor", "entry_fee_percentage", "made_by_quantity")) g
    join investment i on i.investment_id = g.investment_id
    left join lateral (
      select * from holding
      where product_id = $20 and account_id = g.account_id
        and investment_id = g.investment_id limit 1) h on true
    window own as (partition by g.account_id, g.investment_id order by g.transaction_date, g.id)),
  short as (
select distinct on (account_id, investment_id) account_id as "accountID",
  investment_id as "investmentID",
  id, transaction_date::text as date,
  trim_scale(-(state).quantity)::text as short
from stated where (state).quantity < 0
order by account_id, investment_id, transaction_date, id),
  written as (
    insert into biz_transaction (product_id, biz_transaction_id, external_biz_transaction_id,
biz_transaction_type_id, parent_biz_transaction_id, account_id, investment_id, transaction_date,
investment_price, amount, quantity, entry_fee_amount, comment, corporate_action_id, biz_event_id,
carried_cost, conversion_method_id, conversion_factor, entry_fee_percentage, made_by_quantity, closing_quantity, closing_amount, closing_cost, closing_gain)
    select
$21, g.id, g.external_id, g.type_id, g.parent_id, g.account_id, g.investment_id,
g.transaction_date, g.investment_price, g.amount, g.quantity, g.entry_fee_amount, g.comment,
g.corporate_action_id, g.biz_event_id, g.carried_cost, g.conversion_method_id,
g.conversion_factor, g.entry_fee_percentage, g.made_by_quantity, (g.state).quantity, (g.state).invested, (g.state).cost,
      (g.state).gain
    from stated g where not exists (select 1 from short) order by g.external_id),
  held as (
    insert into holding (product_id, account_id, investment_id, quantity, invested_amount,
      cost_amount, realised_gain)
    select $22, account_id, investment_id, (state).quantity, (state).invested,
      (state).cost, (state).gain
    from stated g
    where from_last_of_holding = 1 and moves and not exists (select 1 from short)
    on conflict (product_id, account_id, investment_id) do update
      set quantity = excluded.quantity, invested_amount = excluded.invested_amount,
        cost_amount = excluded.cost_amount, realised_gain = excluded.realised_gain),
  dated as (
    insert into ledger_account (product_id, account_id, last_date)
    select $23, account_id, transaction_date
    from stated g where from_last = 1 and not exists (select 1 from short)
    on conflict (product_id, account_id) do update set last_date = excluded.last_date) select * from short;

    select r.request, r.place, r.shown as json from (
select t.*, concat('{"bizTransactionID":', coalesce(t.biz_transaction_id::text, 'null'), ',"externalBizTransactionId":', coalesce(to_json(t.external_biz_transaction_id)::text, 'null'), ',"bizTransactionTypeID":', coalesce(t.biz_transaction_type_id::text, 'null'), ',"typeName":', coalesce((array['"Deposit"', '"Allotment"', '"Redemption"', '"Conversion out"', '"Conversion in"', '"Adjustment"', '"Set quantity"', '"Transfer out"', '"Transfer in"', '"Distribution payment"', '"DRP allotment"', '"Withholding tax"', '"Residual payment"'])[t.biz_transaction_type_id]::text, 'null'), ',"movementReasonCode":', coalesce((array['"DEP"', '"ALT"', '"RED"', '"CNO"', '"CNI"', '"ADJ"', '"SET"', '"TRO"', '"TRI"', '"DST"', '"DRP"', '"WHT"', '"RSD"'])[t.biz_transaction_type_id]::text, 'null'), ',"parentBizTransactionID":', coalesce(t.parent_biz_transaction_id::text, 'null'), ',"transactionDate":', coalesce(rtrim(to_json(t.transaction_date)::text, '"') || 'T00:00:00Z"'::text, 'null'), ',"productID":', coalesce(t.product_id::text, 'null'), ',"externalProductId":', coalesce(i.external_product_id::text, 'null'), ',"accountID":', coalesce(t.account_id::text, 'null'), ',"externalAccountId":', coalesce(to_json(a.external_account_id)::text, 'null'), ',"accountNumber":', coalesce(to_json(a.account_number)::text, 'null'), ',"bizEntityName":', coalesce(to_json(a.biz_entity_name)::text, 'null'), ',"investmentID":', coalesce(t.investment_id::text, 'null'), ',"externalInvestmentId":', coalesce(i.external_investment_id::text, 'null'), ',"securityCode":', coalesce(i.security_code::text, 'null'), ',"investmentName":', coalesce(i.investment_title::text, 'null'), ',"investmentPrice":', coalesce(trim_scale(t.investment_price)::text, 'null'), ',"comment":', coalesce(to_json(t.comment)::text, 'null'), ',"corporateActionID":', coalesce(t.corporate_action_id::text, 'null'), ',"externalCorporateActionId":', coalesce(to_json(d.external_corporate_action_id)::text, 'null'), ',"corporateActionName":', coalesce(to_json(d.name)::text, 'null'), ',"amount":', coalesce(trim_scale(t.amount)::text, 'null'), ',"quantity":', coalesce(trim_scale(t.quantity)::text, 'null'), ',"entryFeeAmount":', coalesce(trim_scale(t.entry_fee_amount)::text, 'null'), ',"transactionClosingAmount":', coalesce(trim_scale(null::numeric)::text, 'null'), ',"transactionClosingQuantity":', coalesce(trim_scale(null::numeric)::text, 'null'), ',"accountClosingAmount":', coalesce(trim_scale(null::numeric)::text, 'null'), ',"accountClosingQuantity":', coalesce(trim_scale(null::numeric)::text, 'null'), ',"createdDate":', coalesce('"' || to_char(t.created_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '"', 'null'), ',"updatedDate":', coalesce('"' || to_char(t.updated_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '"', 'null'), ',"bizTransactionStatusID":', coalesce(t.biz_transaction_status_id::text, 'null'), ',"statusName":', coalesce((array['"Complete"', '"Updated"', '"RolledBack"'])[t.biz_transaction_status_id]::text, 'null'), '}') as shown from (
      select t.*, w.request, w.place
      from unnest($1::int[],
        $2::int[], $3::bigint[])
        w (request, place, id)
      cross join lateral (
        select * from biz_transaction
        where product_id = $4 and biz_transaction_id = w.id limit 1) t) t
cross join lateral (
  select a.external_account_id, a.account_number, e.biz_entity_id, e.external_biz_entity_id,
    e.name as biz_entity_name
  from account a
  cross join lateral (
    select e.biz_entity_id, e.external_biz_entity_id, e.name from biz_entity e
    where e.biz_entity_id = a.biz_entity_id limit 1) e
  where a.account_id = t.account_id limit 1) a
cross join lateral (
  select
to_json(i.external_investment_id)::text as external_investment_id,
to_json(i.security_code)::text as security_code, to_json(i.name)::text as investment_title,
to_json(p.external_product_id)::text as external_product_id, i.currency_id
  from investment i join product p on p.product_id = $5
  where i.investment_id = t.investment_id limit 1) i
left join distribution d on d.product_id = $6
  and d.corporate_action_id = t.corporate_action_id) r;

  with nothing_kept as (select 1)
  , raised as (
insert into event (type, resource, product_id, ids, counts, user_id)
select * from json_to_recordset($1) as g
  (type text, resource text, product_id int, ids bigint[], counts json, user_id int))
insert into audit (user_id, username, operation, resource, resource_id, resource_ids,
  product_id, changes, request_id, is_event)
  select user_id, username, operation, resource, resource_id, resource_ids, product_id,
    changes, request_id, null::boolean
  from rows from (
    json_to_recordset($2) as (user_id int, username text,
      operation text, resource text, resource_id bigint, resource_ids bigint[], product_id int,
      request_id text),
    unnest($3::json[])) as g (user_id,
    username, operation, resource, resource_id, resource_ids, product_id, request_id,
    changes);
