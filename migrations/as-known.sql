-- Views that have the columns of their tables, and are made anew after every migration for that.

-- The ledger with its closings, as reads of the present see them: with each transaction those that
-- stand with it, shifted by the last mark before it in the line of its holding, if there is one.
drop view if exists transaction_line;
do $$
declare
  fields text;
begin
  select string_agg(case column_name
      when 'closing_quantity'
        then 't.closing_quantity + coalesce(m.quantity_shift, 0) as closing_quantity'
      when 'closing_amount'
        then 't.closing_amount + coalesce(m.amount_shift, 0) as closing_amount'
      when 'closing_cost' then 'case when m.gain is null or t.closing_amount is null
        then t.closing_cost else t.closing_amount + m.amount_shift + g.gain end as closing_cost'
      when 'closing_gain' then 'case when m.gain is null or t.closing_amount is null
        then t.closing_gain else g.gain end as closing_gain'
      else 't.' || quote_ident(column_name) end, ', ' order by ordinal_position) into fields
  from information_schema.columns where table_schema = 'public' and table_name = 'biz_transaction';
  execute format($v$
    create view transaction_line as
    select %s from biz_transaction t
    left join lateral (
      select m.* from closing_mark m
      where m.product_id = t.product_id and m.account_id = t.account_id
        and m.investment_id = t.investment_id and (m.transaction_date, m.biz_transaction_id)
          <= (t.transaction_date, t.biz_transaction_id)
      order by m.transaction_date desc, m.biz_transaction_id desc limit 1) m on true
    left join lateral (
      select coalesce(realised_gain(m.gain, b.closing_quantity + m.quantity_shift - b.quantity,
        b.closing_amount + m.amount_shift - b.amount, b.quantity, b.amount,
        minor_units(i.currency_id) order by b.transaction_date, b.biz_transaction_id),
        m.gain) as gain
      from biz_transaction b join investment i on i.investment_id = b.investment_id
      where m.gain is not null and b.product_id = t.product_id and b.account_id = t.account_id
        and b.investment_id = t.investment_id and b.quantity < 0
        and b.biz_transaction_status_id <> 3
        and (b.transaction_date, b.biz_transaction_id)
          >= (m.transaction_date, m.biz_transaction_id)
        and (b.transaction_date, b.biz_transaction_id)
          <= (t.transaction_date, t.biz_transaction_id)) g on true $v$, fields);
end $$;
grant select on transaction_line to registry_service;

-- The distributions whose entitlements may have been others at the moment of a read of the past,
-- as reads of the present see them: none.
drop view if exists changed_distribution;
create view changed_distribution as
select product_id, corporate_action_id, investment_id from distribution where false;
grant select on changed_distribution to registry_service;

-- The register as it was known at a moment: views with the names of the tables, in schemas that a
-- read of the past puts before the others (search_path). Its statements stay as they are; reads of
-- the present know nothing of this. The settings registry.known_at and registry.named_at hold the
-- moments: of the ledger, and of names and addresses.
drop schema if exists known cascade;
drop schema if exists named cascade;
create schema known;
create schema named;

create function known.moment() returns timestamptz language sql stable parallel safe
  return current_setting('registry.known_at')::timestamptz;
create function named.moment() returns timestamptz language sql stable parallel safe
  return current_setting('registry.named_at')::timestamptz;

-- What came after this moment is not known, whatever day it is about.
create function named.horizon() returns timestamptz language sql stable parallel safe
  return coalesce(nullif(current_setting('registry.known_at', true), '')::timestamptz, 'infinity');

-- The day of a product at that moment.
create function known.product_today(time_zone text) returns date
  language sql stable parallel safe
  return (known.moment() at time zone coalesce(time_zone, 'Australia/Sydney'))::date;

-- Records that keep versions. Of those that others have more of (prices) only what there was; of
-- the others the first that is known, since the ledger may be older than its names. So is the first
-- address of whoever had none on the day.
do $$
declare
  kept record;
  fields text;
begin
  for kept in select * from (values
    ('named', 'product', 'product_id', 'true'),
    ('named', 'investment', 'investment_id', 'true'),
    -- Images of accounts from before they had this date lack it.
    ('named', 'account', 'account_id',
      $c$coalesce(t.created_date, '-infinity') <= named.horizon()$c$),
    ('named', 'biz_entity', 'biz_entity_id', 't.created_date <= named.horizon()'),
    ('named', 'person', 'person_id', 'true'),
    ('named', 'organisation', 'organisation_id', 'true'),
    ('named', 'biz_entity_party', 'biz_entity_party_id', $c$t.created_date <= named.moment()
      or t.created_date <= (select o.created_date from public.biz_entity o
        where o.biz_entity_id = t.biz_entity_id)$c$),
    ('named', 'address', 'address_id', $c$t.created_date <= named.moment()
      or t.created_date <= (select o.created_date from public.biz_entity o
        where o.biz_entity_id = t.biz_entity_id)
      or t.created_date <= (select o.created_date from public.person o
        where o.person_id = t.person_id)
      or t.created_date <= (select o.created_date from public.organisation o
        where o.organisation_id = t.organisation_id)
      or (t.created_date <= named.horizon() and not exists (
        select 1 from public.address o
        where o.created_date <= named.moment() and (o.biz_entity_id = t.biz_entity_id
          or o.person_id = t.person_id or o.organisation_id = t.organisation_id)))$c$),
    ('named', 'communication', 'communication_id', 't.created_date <= named.moment()'),
    ('named', 'payment_detail', 'payment_detail_id', 't.created_date <= named.moment()'),
    ('known', 'investment_price', 'investment_price_id', 't.created_date <= known.moment()')
  ) k (place, name, key, there) loop
    -- The first version since is said with "<=", of which many rows are expected. Of "=" one is, and
    -- whatever joins the view would read it whole for each row.
    -- Whose a record was is said as the indexes of record_version have it: a read of many owners
    -- would look through every version there is for each of them.
    select string_agg(case when column_name = kept.key then 'v.record_id as ' || kept.key
      when column_name in ('biz_entity_id', 'person_id', 'organisation_id')
        or (column_name = 'investment_id' and kept.name = 'investment_price')
        then format('(v.image ->> %1$L)::integer as %1$I', column_name)
      else 'i.' || quote_ident(column_name) end, ', ' order by ordinal_position) into fields
    from information_schema.columns where table_schema = 'public' and table_name = kept.name;
    execute format($v$
      create view %1$I.%2$I as
      select t.* from (
        select t.* from public.%2$I t where not exists (
          select 1 from public.record_version v where v.table_name = %2$L and v.record_id = t.%3$I
            and v.valid_to > %1$I.moment())
        union all
        select %4$s from public.record_version v
        cross join lateral jsonb_populate_record(null::public.%2$I, v.image) i
        where v.table_name = %2$L and v.valid_to > %1$I.moment() and v.valid_to <= (
          select min(w.valid_to) from public.record_version w
          where w.table_name = %2$L and w.record_id = v.record_id
            and w.valid_to > %1$I.moment())) t
      where %5$s $v$, kept.place, kept.name, kept.key, fields, kept.there);
  end loop;
end $$;

-- The ledger: what was posted by then, in the version of then ... Only what changed since then is
-- looked up among the versions: the last of them ends when the transaction was updated last (verify
-- checks it). A cost that went along may be worked out anew without that.
do $$
declare
  fields text;
begin
  select string_agg(case
      when column_name in ('external_biz_transaction_id', 'biz_transaction_status_id',
          'transaction_date', 'investment_price', 'amount', 'quantity', 'comment')
        then format('case when v.version is null then t.%1$I else v.%1$I end as %1$I', column_name)
      when column_name = 'entry_fee_amount'
        then 'case when v.version is null then t.entry_fee_amount
          else coalesce(v.entry_fee_amount, t.entry_fee_amount) end as entry_fee_amount'
      when column_name = 'updated_date'
        then 'case when v.version is null then t.updated_date
          else nullif(v.valid_from, t.created_date) end as updated_date'
      when column_name = 'carried_cost'
        then 'case when c.valid_to is null then t.carried_cost else c.carried_cost end
          as carried_cost'
      when column_name like 'closing\_%' then format('null::numeric as %I', column_name)
      else 't.' || quote_ident(column_name) end, ', ' order by ordinal_position) into fields
  from information_schema.columns where table_schema = 'public' and table_name = 'biz_transaction';
  execute format($v$
    create view known.biz_transaction as
    select %s from public.biz_transaction t
    left join lateral (
      select v.* from public.biz_transaction_version v
      where t.updated_date > known.moment() and v.product_id = t.product_id
        and v.biz_transaction_id = t.biz_transaction_id
        and v.valid_to > known.moment() order by v.valid_to limit 1) v on true
    left join lateral (
      select c.valid_to, c.carried_cost from public.biz_transaction_cost c
      where (t.carried_cost is not null or t.updated_date > known.moment())
        and c.product_id = t.product_id and c.biz_transaction_id = t.biz_transaction_id
        and c.valid_to > known.moment() order by c.valid_to limit 1) c on true
    where t.created_date <= known.moment() $v$, fields);
end $$;

-- ... and with its closings, counted anew. Rolled back (status 3) it counts for nothing.
do $$
declare
  fields text;
begin
  select string_agg(case
      when column_name like 'closing\_%' then format(
        'case when t.biz_transaction_status_id <> 3 then (t.state).%s end as %I',
        case column_name when 'closing_amount' then 'invested'
          else substr(column_name, 9) end, column_name)
      else 't.' || quote_ident(column_name) end, ', ' order by ordinal_position) into fields
  from information_schema.columns where table_schema = 'public' and table_name = 'biz_transaction';
  execute format($v$
    create view known.transaction_line as
    select %s from (
      select t.*, public.holding_state(row(0, 0, 0, 0)::public.holding_state,
          case when t.biz_transaction_status_id <> 3 then t.quantity else 0 end,
          t.amount, public.minor_units(i.currency_id), t.carried_cost) over (
        partition by t.product_id, t.account_id, t.investment_id
        order by t.transaction_date, t.biz_transaction_id) as state
      from known.biz_transaction t
      join public.investment i on i.investment_id = t.investment_id) t $v$, fields);
end $$;

-- An aggregate and not the last line: PostgreSQL leaves the join out where only the keys are read.
create view known.holding as
select h.product_id, h.account_id, h.investment_id, coalesce((s.state).quantity, 0) as quantity,
  coalesce((s.state).invested, 0) as invested_amount, coalesce((s.state).cost, 0) as cost_amount,
  coalesce((s.state).gain, 0) as realised_gain
from public.holding h
left join lateral (
  select public.holding_state(row(0, 0, 0, 0)::public.holding_state, b.quantity, b.amount,
    public.minor_units(i.currency_id), b.carried_cost
    order by b.transaction_date, b.biz_transaction_id) as state
  from known.biz_transaction b
  join public.investment i on i.investment_id = b.investment_id
  where b.product_id = h.product_id and b.account_id = h.account_id
    and b.investment_id = h.investment_id and b.biz_transaction_status_id <> 3) s on true
where exists (
  select 1 from public.biz_transaction t
  where t.product_id = h.product_id and t.account_id = h.account_id
    and t.investment_id = h.investment_id and t.created_date <= known.moment());

create view known.ledger_account as
select l.product_id, l.account_id, coalesce((
    select max(t.transaction_date) from known.biz_transaction t
    where t.product_id = l.product_id and t.account_id = l.account_id
      and t.biz_transaction_status_id <> 3), '-infinity'::date) as last_date
from public.ledger_account l;

create view known.hold as
select h.product_id, h.hold_id, h.account_id, h.investment_id, h.quantity, h.valid_from, h.valid_to
from public.hold h
where coalesce(h.updated_date, h.created_date) <= known.moment()
union all
select v.product_id, v.hold_id, v.account_id, v.investment_id, v.quantity, v.valid_from, v.valid_to
from public.hold_version v
where v.known_from <= known.moment() and v.known_to > known.moment();

-- Distributions: the row before the first change since, and what each account had of its stages.
do $$
declare
  fields text;
  shown text;
begin
  -- The product as a column of the table: on Citus that is how a read finds its server.
  select string_agg(case when column_name in ('product_id', 'corporate_action_id') then 'v.' else 'i.'
    end || quote_ident(column_name), ', ' order by ordinal_position) into fields
  from information_schema.columns where table_schema = 'public' and table_name = 'distribution';
  execute format($v$
    create view known.distribution as
    select d.* from (
      select d.* from public.distribution d where not exists (
        select 1 from public.distribution_version v
        where v.product_id = d.product_id and v.corporate_action_id = d.corporate_action_id
          and v.valid_to > known.moment())
      union all
      select %s from public.distribution_version v
      cross join lateral jsonb_populate_record(null::public.distribution, v.image) i
      where v.valid_to > known.moment() and v.valid_to <= (
        select min(w.valid_to) from public.distribution_version w
        where w.product_id = v.product_id and w.corporate_action_id = v.corporate_action_id
          and w.valid_to > known.moment())) d
    where d.created_date <= known.moment() $v$, fields);

  select string_agg(case when column_name in ('product_id', 'corporate_action_id', 'account_id')
      then 'v.' else 'i.' end || quote_ident(column_name), ', ' order by ordinal_position),
    string_agg(case
      -- Tax is withheld by the payment, and the DRP's part is then of what is left.
      when column_name = 'tax_amount'
        then 'case when d.distribution_status_id >= 3 then e.tax_amount else 0 end as tax_amount'
      when column_name = 'drp_amount'
        then 'case when d.distribution_status_id >= 3 then e.drp_amount
          else coalesce(e.declared_drp_amount, e.drp_amount) end as drp_amount'
      when column_name = 'cash_amount'
        then 'case when d.distribution_status_id >= 3 then e.cash_amount
          else e.gross_amount - coalesce(e.declared_drp_amount, e.drp_amount) end as cash_amount'
      when column_name in ('payment_transaction_id', 'payment_detail_id', 'tax_transaction_id',
          'declared_drp_amount') or column_name like 'payee\_%'
        then format('case when d.distribution_status_id >= 3 then e.%1$I end as %1$I', column_name)
      when column_name in ('residual_before', 'drp_units', 'drp_cost', 'drp_residual',
          'drp_transaction_id', 'allotted_date')
        then format('case when d.distribution_status_id >= 3
          and e.allotted_date <= known.moment() then e.%1$I end as %1$I', column_name)
      else 'e.' || quote_ident(column_name) end, ', ' order by ordinal_position)
    into fields, shown
  from information_schema.columns where table_schema = 'public' and table_name = 'entitlement';
  execute format($v$
    create view known.entitlement as
    select %2$s from (
      select e.*, 'infinity'::timestamptz as until from public.entitlement e where not exists (
        select 1 from public.entitlement_version v
        where v.product_id = e.product_id and v.corporate_action_id = e.corporate_action_id
          and v.account_id = e.account_id and v.valid_to > known.moment())
      union all
      select %1$s, v.valid_to from public.entitlement_version v
      cross join lateral jsonb_populate_record(null::public.entitlement, v.image) i
      where v.valid_to > known.moment() and v.valid_to <= (
        select min(w.valid_to) from public.entitlement_version w
        where w.product_id = v.product_id and w.corporate_action_id = v.corporate_action_id
          and w.account_id = v.account_id and w.valid_to > known.moment())) e
    cross join lateral (
      select d.distribution_status_id from known.distribution d where d.product_id = e.product_id
        and d.corporate_action_id = e.corporate_action_id offset 0) d
    where d.distribution_status_id > 1 and not exists (
      -- Taken back and declared anew since: it is of that later declaration.
      select 1 from public.distribution_version c
      where c.product_id = e.product_id and c.corporate_action_id = e.corporate_action_id
        and c.valid_to > known.moment() and c.valid_to < e.until
        and (c.image ->> 'distribution_status_id')::int = 1) $v$, fields, shown);
end $$;

do $$
declare
  fields text;
begin
  select string_agg(case when column_name in ('product_id', 'corporate_action_id') then 'v.' else 'i.'
    end || quote_ident(column_name), ', ' order by ordinal_position) into fields
  from information_schema.columns
  where table_schema = 'public' and table_name = 'distribution_component';
  execute format($v$
    create view known.distribution_component as
    select c.* from public.distribution_component c where not exists (
      select 1 from public.distribution_version v
      where v.product_id = c.product_id and v.corporate_action_id = c.corporate_action_id
        and v.valid_to > known.moment())
    union all
    select %s from public.distribution_version v
    cross join lateral
      jsonb_populate_recordset(null::public.distribution_component, v.components) i
    where v.valid_to > known.moment() and v.valid_to <= (
      select min(w.valid_to) from public.distribution_version w
      where w.product_id = v.product_id and w.corporate_action_id = v.corporate_action_id
        and w.valid_to > known.moment()) $v$, fields);
end $$;

-- Payment runs and tax withheld: what was there by then, in the version of then.
do $$
declare
  kept record;
  fields text;
begin
  for kept in select * from (values
    ('payment_run', 't.payment_run_id', 'created_date'),
    ('payment', 't.payment_id', 'created_date'),
    ('payment_item', 't.biz_transaction_id', 'created_date'),
    ('payment_exception', 't.payment_run_id, t.biz_transaction_id', 'created_date'),
    ('withholding', 't.corporate_action_id, t.account_id, t.ordinal', 'created_date'),
    ('distribution_stage', 't.corporate_action_id', 'started_date')
  ) k (name, key, began) loop
    select string_agg(case column_name when 'product_id' then 'v.product_id'
      when 'account_id' then $c$(v.image ->> 'account_id')::integer as account_id$c$
      else 'i.' || quote_ident(column_name) end, ', ' order by ordinal_position) into fields
    from information_schema.columns where table_schema = 'public' and table_name = kept.name;
    execute format($v$
      create view known.%1$I as
      select t.* from (
        select t.* from public.%1$I t where not exists (
          select 1 from public.ledger_version v
          where v.product_id = t.product_id and v.table_name = %1$L
            and v.record_key = concat_ws(',', %2$s) and v.valid_to > known.moment())
        union all
        select %3$s from public.ledger_version v
        cross join lateral jsonb_populate_record(null::public.%1$I, v.image) i
        where v.table_name = %1$L and v.valid_to > known.moment() and v.valid_to <= (
          select min(w.valid_to) from public.ledger_version w
          where w.product_id = v.product_id and w.table_name = %1$L
            and w.record_key = v.record_key and w.valid_to > known.moment())) t
      where t.%4$I <= known.moment() $v$, kept.name, kept.key, fields, kept.began);
  end loop;
end $$;

create view known.payment_run_file as
select f.* from public.payment_run_file f where f.created_date <= known.moment();

do $$
declare
  fields text;
begin
  select string_agg(case when column_name = 'reversed_date'
      then 'case when r.reversed_date <= known.moment() then r.reversed_date end as reversed_date'
      else 'r.' || quote_ident(column_name) end, ', ' order by ordinal_position) into fields
  from information_schema.columns where table_schema = 'public' and table_name = 'residual_payment';
  execute format('create view known.residual_payment as
    select %s from public.residual_payment r where r.paid_date <= known.moment()', fields);
end $$;

-- The distributions whose entitlements may have been others then. While a stage goes on as a job,
-- some accounts have had their part of it.
create view known.changed_distribution as
select d.product_id, d.corporate_action_id, d.investment_id
from public.distribution d
where d.distribution_status_id = 1
  or greatest(d.created_date, d.declared_date, d.paid_date, d.completed_date) > known.moment()
union
select d.product_id, d.corporate_action_id, d.investment_id
from public.distribution_version v
join public.distribution d on d.product_id = v.product_id
  and d.corporate_action_id = v.corporate_action_id
where v.valid_to > known.moment()
union
select d.product_id, d.corporate_action_id, d.investment_id
from public.distribution_stage g
join public.distribution d on d.product_id = g.product_id
  and d.corporate_action_id = g.corporate_action_id;

-- The sums that are stored of entitlements (entitlement_total) are those of the present for a read
-- of the past, too, which reckons with what the changed distributions had then: to add up all that
-- there was would take as long as a holding is old. Of the residuals, payments since then have not
-- taken their money yet here, and those taken back since then still have.
create view known.drp_residual as
select s.product_id, s.account_id, s.investment_id, s.amount + coalesce(p.amount, 0) as amount
from public.drp_residual s
left join lateral (
  select sum(case when r.paid_date > known.moment() then r.amount else 0 end
    - case when r.reversed_date > known.moment() then r.amount else 0 end) as amount
  from public.residual_payment r
  where r.product_id = s.product_id and r.account_id = s.account_id
    and r.investment_id = s.investment_id) p on true;

grant usage on schema known, named to registry_service;
grant select on all tables in schema known, named to registry_service;
