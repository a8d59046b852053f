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
    from (
  select g.*,
    i.id as investment_id,
to_json(i.external_investment_id)::text as external_investment_id,
to_json(i.security_code)::text as security_code, to_json(i.name)::text as investment_title,
to_json(p.external_product_id)::text as external_product_id, i.is_active as found_is_active,
    i.currency_id as found_currency_id, i.unit_decimals as found_unit_decimals,
    i.maximum_price_age_days as found_price_age, p.time_zone as found_time_zone,
    p.locked_date as found_locked_date, p.is_active as found_product_is_active from (
  select g.*, a.id as account_id, a."productID" as product_id, null::numeric as factor,
    false as carries, case
  when a.account_status_id = 3
    or e.biz_entity_status_id = 4 then 'closed'
  when a.account_status_id = 2
    or e.biz_entity_status_id = 3 then 'suspended'
  else 'open' end as found_standing, a.external_account_id,
    a.account_number, e.name as biz_entity_name
    , null::numeric as quantity, null::numeric as price, null::numeric as fee, null::numeric as fee_override, null::numeric as fee_percentage, null::numeric as fee_discount, null::boolean as made_by_quantity, null::text as key, null::text as fingerprint
  from
  (select $1::int as place,$2::smallint as type_id,$3::bigint as account_name,$4::bigint as investment_name,$5::bigint as product_name,$6::date as transaction_date,$7::numeric as amount,$8::text as external_id,$9::text as comment,$10::int as request,$11::int as user_id,$12::text as username,$13::text as operation,$14::text as request_id,$15::text as changes) g
  cross join lateral (
select r.product_id as id
from product r
where r.product_id = g.product_name and true and true limit 1) p
  cross join lateral (
select r.account_id as id , r.product_id as "productID"
  , r.biz_entity_id, r.account_status_id, r.external_account_id, r.account_number
from account r
where r.account_id = g.account_name and (p.id is null or r.product_id = p.id) and true limit 1) a
  cross join lateral (
    select name, biz_entity_status_id from biz_entity
    where biz_entity_id = a.biz_entity_id limit 1) e) g
  cross join lateral (
    select time_zone, locked_date, is_active, external_product_id from product
    where product_id = g.product_id limit 1) p
  cross join lateral (
select r.investment_id as id , r.product_id as "productID"
  , r.external_investment_id, r.security_code, r.name, r.is_active, r.currency_id, r.unit_decimals, r.maximum_price_age_days
from investment r
where r.investment_id = g.investment_name and (g.product_id is null or r.product_id = g.product_id) and true limit 1) i) g
    cross join lateral (
      select g.found_is_active as is_active, g.found_currency_id as currency_id,
        g.found_unit_decimals as unit_decimals, g.found_price_age as maximum_price_age_days,
        g.found_time_zone as time_zone, g.found_locked_date as locked_date,
        g.found_product_is_active as product_is_active) i
    cross join lateral (select g.found_standing as standing) s
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
  fit as (
    select s.place, s.product_id, s.account_id, s.investment_id, s.type_id, s.external_id,
    s.transaction_date, s.unit_price, s.charge, s.rate, s.comment, s.made_by_quantity,
    s.external_account_id, s.account_number, s.biz_entity_name, s.external_product_id,
    s.external_investment_id, s.security_code, s.investment_title , s.own_amount, s.own_quantity , s.request, s.user_id, s.username, s.operation, s.request_id, s.changes, s.key, s.fingerprint, l.version,
      l.account_at, h.*
    from single s
    cross join lateral (
      select ctid as account_at, xmin as version, last_date from ledger_account
      where product_id = s.product_id and account_id = s.account_id limit 1) l
    left join lateral (
select h.quantity as held_quantity, h.invested_amount as held_amount,
  h.cost_amount as held_cost, h.realised_gain as held_gain , h.ctid as held_at
from holding h
where h.product_id = s.product_id and h.account_id = s.account_id
  and h.investment_id = s.investment_id limit 1) h on true
    where s.standing = 'open' and s.is_too_far_ahead = false and s.locked_date is null and s.old_price_date is null and (s.is_active and s.product_is_active or s.type_id in (3, 4, 8)) and s.own_quantity > 0 and s.own_quantity < 1e18
      and s.own_amount < 1e18 and s.charge <= s.own_amount
      and (l.last_date is null or l.last_date <= s.transaction_date)
      and (h.held_quantity is not null or exists (select 1 from holding h
        where h.product_id = s.product_id and h.investment_id = s.investment_id))
      and (s.external_id is null or not exists (select 1 from biz_transaction b
        where b.product_id = s.product_id and b.external_biz_transaction_id = s.external_id))
      ),
  locked as (
    select f.* from fit f
    cross join lateral (
      select 1 from ledger_account n
      where n.ctid = f.account_at and n.product_id = f.product_id and n.xmin = f.version
      limit 1 for update skip locked) l),
  ready as materialized (
    select g.*, nextval('biz_transaction_biz_transaction_id_seq') as id, coalesce(g.held_quantity, 0) + g.own_quantity as closing_quantity,
      coalesce(g.held_amount, 0) + case when g.own_quantity > 0 then g.own_amount else 0 end as closing_amount,
      coalesce(g.held_cost, 0) + case when g.own_quantity > 0 then g.own_amount else 0 end as closing_cost,
      coalesce(g.held_gain, 0) as closing_gain
    from (select set_config('lock_timeout', '100ms', true)) briefly,
      locked g where (period_lock(g.product_id) < g.transaction_date) is not false),
  written as (
    insert into biz_transaction (product_id, biz_transaction_id, external_biz_transaction_id,
biz_transaction_type_id, parent_biz_transaction_id, account_id, investment_id, transaction_date,
investment_price, amount, quantity, entry_fee_amount, comment, corporate_action_id, biz_event_id,
carried_cost, conversion_method_id, conversion_factor, entry_fee_percentage, made_by_quantity, closing_quantity, closing_amount, closing_cost, closing_gain)
    select
g.product_id, g.id, g.external_id, g.type_id, g.parent_id, g.account_id, g.investment_id,
g.transaction_date, g.investment_price, g.amount, g.quantity, g.entry_fee_amount, g.comment,
g.corporate_action_id, g.biz_event_id, g.carried_cost, g.conversion_method_id,
g.conversion_factor, g.entry_fee_percentage, g.made_by_quantity, g.closing_quantity, g.closing_amount, g.closing_cost,
      g.closing_gain
    from (
    select product_id, id, external_id, type_id, null::bigint as parent_id, account_id,
      investment_id, transaction_date, unit_price as investment_price, own_amount as amount,
      own_quantity as quantity, charge as entry_fee_amount, comment,
      null::int as corporate_action_id, null::bigint as biz_event_id,
      null::numeric as carried_cost, null::smallint as conversion_method_id,
      null::numeric as conversion_factor, rate as entry_fee_percentage, made_by_quantity,
      held_at, account_at, closing_quantity, closing_amount, closing_cost, closing_gain
    from ready) g),
  begun as (
    insert into holding (product_id, account_id, investment_id, quantity, invested_amount,
      cost_amount, realised_gain)
    select g.product_id, g.account_id, g.investment_id, g.closing_quantity, g.closing_amount,
      g.closing_cost, g.closing_gain
    from (
    select product_id, id, external_id, type_id, null::bigint as parent_id, account_id,
      investment_id, transaction_date, unit_price as investment_price, own_amount as amount,
      own_quantity as quantity, charge as entry_fee_amount, comment,
      null::int as corporate_action_id, null::bigint as biz_event_id,
      null::numeric as carried_cost, null::smallint as conversion_method_id,
      null::numeric as conversion_factor, rate as entry_fee_percentage, made_by_quantity,
      held_at, account_at, closing_quantity, closing_amount, closing_cost, closing_gain
    from ready) g where g.held_at is null),
  held as (
    update holding h set quantity = g.closing_quantity, invested_amount = g.closing_amount,
      cost_amount = g.closing_cost, realised_gain = g.closing_gain
    from (
    select product_id, id, external_id, type_id, null::bigint as parent_id, account_id,
      investment_id, transaction_date, unit_price as investment_price, own_amount as amount,
      own_quantity as quantity, charge as entry_fee_amount, comment,
      null::int as corporate_action_id, null::bigint as biz_event_id,
      null::numeric as carried_cost, null::smallint as conversion_method_id,
      null::numeric as conversion_factor, rate as entry_fee_percentage, made_by_quantity,
      held_at, account_at, closing_quantity, closing_amount, closing_cost, closing_gain
    from ready) g where h.ctid = g.held_at and h.product_id = g.product_id),
  dated as (
    update ledger_account l set last_date = g.transaction_date
    from (
    select product_id, id, external_id, type_id, null::bigint as parent_id, account_id,
      investment_id, transaction_date, unit_price as investment_price, own_amount as amount,
      own_quantity as quantity, charge as entry_fee_amount, comment,
      null::int as corporate_action_id, null::bigint as biz_event_id,
      null::numeric as carried_cost, null::smallint as conversion_method_id,
      null::numeric as conversion_factor, rate as entry_fee_percentage, made_by_quantity,
      held_at, account_at, closing_quantity, closing_amount, closing_cost, closing_gain
    from ready) g where l.ctid = g.account_at and l.product_id = g.product_id
      and (l.xmin = pg_current_xact_id_if_assigned()::xid
        and l.last_date = g.transaction_date) is not true), shown as  (
select t.*, 'a=' || concat(t.biz_transaction_id::text, E'\x1f', to_json(t.external_biz_transaction_id)::text, E'\x1f', t.biz_transaction_type_id::text, E'\x1f', (array['"Deposit"', '"Allotment"', '"Redemption"', '"Conversion out"', '"Conversion in"', '"Adjustment"', '"Set quantity"', '"Transfer out"', '"Transfer in"', '"Distribution payment"', '"DRP allotment"', '"Withholding tax"', '"Residual payment"'])[t.biz_transaction_type_id]::text, E'\x1f', (array['"DEP"', '"ALT"', '"RED"', '"CNO"', '"CNI"', '"ADJ"', '"SET"', '"TRO"', '"TRI"', '"DST"', '"DRP"', '"WHT"', '"RSD"'])[t.biz_transaction_type_id]::text, E'\x1f', t.parent_biz_transaction_id::text, E'\x1f', rtrim(to_json(t.transaction_date)::text, '"') || 'T00:00:00Z"'::text, E'\x1f', t.product_id::text, E'\x1f', i.external_product_id::text, E'\x1f', t.account_id::text, E'\x1f', to_json(a.external_account_id)::text, E'\x1f', to_json(a.account_number)::text, E'\x1f', to_json(a.biz_entity_name)::text, E'\x1f', t.investment_id::text, E'\x1f', i.external_investment_id::text, E'\x1f', i.security_code::text, E'\x1f', i.investment_title::text, E'\x1f', trim_scale(t.investment_price)::text, E'\x1f', to_json(t.comment)::text, E'\x1f', t.corporate_action_id::text, E'\x1f', to_json(d.external_corporate_action_id)::text, E'\x1f', to_json(d.name)::text, E'\x1f', trim_scale(t.amount)::text, E'\x1f', trim_scale(t.quantity)::text, E'\x1f', trim_scale(t.entry_fee_amount)::text, E'\x1f', trim_scale(null::numeric)::text, E'\x1f', trim_scale(null::numeric)::text, E'\x1f', trim_scale(null::numeric)::text, E'\x1f', trim_scale(null::numeric)::text, E'\x1f', '"' || (select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) || '"', E'\x1f', '"' || to_char(t.updated_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '"', E'\x1f', t.biz_transaction_status_id::text, E'\x1f', (array['"Complete"', '"Updated"', '"RolledBack"'])[t.biz_transaction_status_id]::text, E'\x1f') as shown from (
    select r.*, r.id as biz_transaction_id, r.type_id as biz_transaction_type_id,
      r.external_id as external_biz_transaction_id, null::bigint as parent_biz_transaction_id,
      r.unit_price as investment_price, r.own_amount as amount, r.own_quantity as quantity,
      r.charge as entry_fee_amount, null::int as corporate_action_id,
      null::timestamptz as updated_date, 1 as biz_transaction_status_id
    from ready r) t
cross join lateral (
  select t.external_account_id, t.account_number, t.biz_entity_name) a
cross join lateral (
  select t.external_product_id, t.external_investment_id, t.security_code,
    t.investment_title) i
cross join lateral (select null::text as external_corporate_action_id, null::text as name) d),
  told as materialized (
    select request, user_id, 1 as count, product_id, biz_transaction_id as resource_id,
      null::bigint[] as resource_ids, shown as json, username,
      operation, request_id, changes, key, fingerprint
    from shown),
  audited as (
insert into audit (user_id, username, operation, resource, resource_id, resource_ids,
  product_id, changes, request_id, request_ids, record_ids, is_event)
    select user_id, username, operation, $16::text, resource_id, resource_ids,
      product_id, changes::json, request_id, null::text[], null::bigint[],
      true
    from told)
  select request, count as "recordCount",
  json as values
  from told;
