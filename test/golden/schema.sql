-- What all migrations make together. Written by npm run golden.

create extension pg_trgm;

create type holding_state as (
  quantity numeric,
  invested numeric,
  cost numeric,
  gain numeric
);

CREATE OR REPLACE FUNCTION public.cost_of_sold(cost numeric, held numeric, quantity numeric, decimals integer)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ((held + quantity) <= (0)::numeric) THEN cost ELSE round((round((cost * (- quantity)), 40) / held), decimals) END;

CREATE OR REPLACE FUNCTION public.folded(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN replace(replace(replace(translate(regexp_replace(NORMALIZE(name, NFKD), '[\u0300-\u036f]'::text, ''::text, 'g'::text), 'øłđðħı'::text, 'olddhi'::text), 'ß'::text, 'ss'::text), 'æ'::text, 'ae'::text), 'œ'::text, 'oe'::text);

CREATE OR REPLACE FUNCTION public.holding_state_step(state holding_state, start holding_state, quantity numeric, amount numeric, decimals integer, carried_cost numeric)
 RETURNS holding_state
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION public.mend_block_ranges(relation regclass)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '100ms'
 SET enable_seqscan TO 'off'
 SET enable_indexscan TO 'off'
 SET enable_indexonlyscan TO 'off'
 SET max_parallel_workers_per_gather TO '0'
 SET jit TO 'off'
 SET enable_bitmapscan TO 'on'
AS $function$
declare
  index record;
  plan json;
  mended integer := 0;
begin
  for index in
    select c.oid, format('explain (analyze, format json) select 1 from %s where %s',
      relation, pg_get_indexdef(c.oid, i.indnatts, true)
        || case when a.atttypid = 'timestamptz'::regtype then ' > ''infinity''' else ' < 0' end)
      as probe,
      coalesce((select option_value::integer from pg_options_to_table(c.reloptions)
        where option_name = 'pages_per_range'), 128) as width
    from pg_index i
    join pg_class c on c.oid = i.indexrelid and i.indisvalid
    join pg_am m on m.oid = c.relam and m.amname = 'brin'
    join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indnatts
    where i.indrelid = relation
  loop
    for attempt in 1 .. 2 loop
      execute index.probe into plan;
      exit when (plan #>> '{0,Plan,Lossy Heap Blocks}')::bigint <= 512;
      mended := mended + 2 - attempt;
      if attempt = 1 then
        perform brin_summarize_new_values(index.oid);
      else
        for block in 0 .. pg_relation_size(relation) / current_setting('block_size')::bigint - 1
          by index.width
        loop
          perform brin_desummarize_range(index.oid, block);
          perform brin_summarize_range(index.oid, block);
        end loop;
      end if;
    end loop;
  end loop;
  return mended;
exception when lock_not_available then
  return mended;
end $function$;

CREATE OR REPLACE FUNCTION public.minor_units(currency_id integer)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (currency_id = 8) THEN 0 ELSE 2 END;

CREATE OR REPLACE FUNCTION public.period_lock(product integer)
 RETURNS date
 LANGUAGE plpgsql
AS $function$
begin
  if not pg_try_advisory_xact_lock_shared(7216, product) then
    return 'infinity';
  end if;
  return (select p.locked_date from product p where p.product_id = product);
end $function$;

CREATE OR REPLACE FUNCTION public.product_today(time_zone text)
 RETURNS date
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN ((now() AT TIME ZONE COALESCE(time_zone, 'Australia/Sydney'::text)))::date;

CREATE OR REPLACE FUNCTION public.queue_job(task text, payload json, key text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform graphile_worker.add_job(task, payload, job_key := key, max_attempts := 20,
    job_key_mode := 'preserve_run_at');
end $function$;

CREATE OR REPLACE FUNCTION public.realised_gain_step(gain numeric, start numeric, held numeric, invested numeric, quantity numeric, amount numeric, decimals integer)
 RETURNS numeric
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return coalesce(gain, start) - amount
    - cost_of_sold(invested + coalesce(gain, start), held, quantity, decimals);
end $function$;

create aggregate holding_state(start holding_state, quantity numeric, amount numeric, decimals integer, carried_cost numeric) (
  sfunc = holding_state_step,
  stype = holding_state
);

create aggregate realised_gain(start numeric, held numeric, invested numeric, quantity numeric, amount numeric, decimals integer) (
  sfunc = realised_gain_step,
  stype = numeric
);

create sequence account_number_seq;
grant usage on account_number_seq to registry_service;

create table account (
  account_id integer generated by default as identity not null,
  biz_entity_id integer not null,
  product_id integer not null,
  external_account_id character varying(50),
  account_number character varying(50) not null,
  currency_id integer not null,
  drp_type_id integer not null,
  drp_value numeric,
  account_status_id integer not null,
  withholding_override json,
  created_date timestamp with time zone default now() not null,
  constraint account_pkey PRIMARY KEY (account_id),
  constraint account_external_id_unique UNIQUE (product_id, external_account_id) DEFERRABLE,
  constraint account_in_product UNIQUE (product_id, account_id),
  constraint account_number_unique UNIQUE (product_id, account_number) DEFERRABLE,
  constraint account_of_entity FOREIGN KEY (product_id, biz_entity_id) REFERENCES biz_entity(product_id, biz_entity_id) ON DELETE CASCADE,
  constraint product_has_accounts FOREIGN KEY (product_id) REFERENCES product(product_id)
);
CREATE INDEX account_biz_entity ON public.account USING btree (biz_entity_id);
CREATE INDEX account_blocks ON public.account USING brin (product_id, ((account_id + 0)), ((biz_entity_id + 0))) WITH (autosummarize='on');
CREATE INDEX account_external_exact ON public.account USING btree (external_account_id);
CREATE INDEX account_external_text ON public.account USING gin (lower((external_account_id)::text) gin_trgm_ops);
CREATE INDEX account_number_begin ON public.account USING btree (lower((account_number)::text) text_pattern_ops);
CREATE INDEX account_number_exact ON public.account USING btree (account_number);
CREATE INDEX account_number_text ON public.account USING gin (lower((account_number)::text) gin_trgm_ops);
grant delete, insert, select, update on account to registry_service;

create table address (
  address_id integer generated by default as identity not null,
  external_address_id character varying(50),
  address_type_id integer,
  above_address_line character varying(200),
  address_line character varying(200),
  suburb character varying(255),
  postcode character varying(255),
  state_code character varying(255),
  country_code character varying(255),
  office_id integer,
  biz_entity_id integer,
  person_id integer,
  organisation_id integer,
  created_date timestamp with time zone default now() not null,
  constraint address_pkey PRIMARY KEY (address_id),
  constraint address_external_id_unique UNIQUE (external_address_id) DEFERRABLE,
  constraint address_one_owner CHECK ((num_nonnulls(biz_entity_id, person_id, organisation_id) = 1)),
  constraint address_biz_entity_id_fkey FOREIGN KEY (biz_entity_id) REFERENCES biz_entity(biz_entity_id) ON DELETE CASCADE,
  constraint address_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisation(organisation_id) ON DELETE CASCADE,
  constraint address_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(person_id) ON DELETE CASCADE
);
CREATE INDEX address_of_biz_entity ON public.address USING btree (biz_entity_id, address_id) WHERE (biz_entity_id IS NOT NULL);
CREATE INDEX address_of_organisation ON public.address USING btree (organisation_id, address_id) WHERE (organisation_id IS NOT NULL);
CREATE INDEX address_of_person ON public.address USING btree (person_id, address_id) WHERE (person_id IS NOT NULL);
grant delete, insert, select, update on address to registry_service;

create table api_key (
  api_key_id integer generated always as identity not null,
  user_id integer not null,
  name character varying(200) not null,
  key_hash bytea not null,
  permissions text[] not null,
  product_ids integer[],
  allowed_networks text[],
  expires_date timestamp with time zone,
  created_date timestamp with time zone default now() not null,
  last_used_date timestamp with time zone,
  revoked_date timestamp with time zone,
  constraint api_key_pkey PRIMARY KEY (api_key_id),
  constraint api_key_hash_unique UNIQUE (key_hash),
  constraint api_key_user_id_fkey FOREIGN KEY (user_id) REFERENCES app_user(user_id) ON DELETE CASCADE
);
CREATE INDEX api_key_of_user ON public.api_key USING btree (user_id, api_key_id);
grant delete, insert, select, update on api_key to registry_service;

create table app_user (
  user_id integer generated always as identity not null,
  username character varying(100) not null,
  password_hash text not null,
  role text,
  permissions text[],
  all_products boolean not null,
  is_active boolean not null,
  created_date timestamp with time zone default now() not null,
  last_login_date timestamp with time zone,
  constraint app_user_pkey PRIMARY KEY (user_id),
  constraint app_user_role_or_permissions CHECK ((num_nonnulls(role, permissions) = 1))
);
CREATE UNIQUE INDEX app_user_username_unique ON public.app_user USING btree (lower((username)::text));
grant delete, insert, select, update on app_user to registry_service;

create table app_user_product (
  user_id integer not null,
  product_id integer not null,
  constraint app_user_product_pkey PRIMARY KEY (user_id, product_id),
  constraint app_user_product_user_id_fkey FOREIGN KEY (user_id) REFERENCES app_user(user_id) ON DELETE CASCADE,
  constraint product_has_users FOREIGN KEY (product_id) REFERENCES product(product_id)
);
CREATE INDEX app_user_product_product ON public.app_user_product USING btree (product_id);
grant delete, insert, select, update on app_user_product to registry_service;

create table approval (
  approval_id bigint generated always as identity not null,
  state text default 'Pending'::text not null,
  operation text not null,
  resource text not null,
  product_id integer,
  user_id integer not null,
  username text not null,
  approval_rule_id integer not null,
  required_approvals integer not null,
  request text not null,
  changes json,
  created_date timestamp with time zone default now() not null,
  expires_date timestamp with time zone default (now() + '14 days'::interval) not null,
  decided_date timestamp with time zone,
  reason text,
  resource_ids bigint[],
  api_key_id integer,
  constraint approval_pkey PRIMARY KEY (approval_id),
  constraint approval_api_key FOREIGN KEY (api_key_id) REFERENCES api_key(api_key_id)
);
CREATE INDEX approval_of_api_key ON public.approval USING btree (api_key_id);
CREATE INDEX approval_product ON public.approval USING btree (product_id, approval_id);
CREATE INDEX approval_state ON public.approval USING btree (state, approval_id);
CREATE INDEX approval_user ON public.approval USING btree (user_id, approval_id);
grant insert, select, update on approval to registry_service;

create table approval_decision (
  approval_id bigint not null,
  user_id integer not null,
  username text not null,
  decided_date timestamp with time zone default now() not null,
  is_counted boolean default true not null,
  constraint approval_decision_once PRIMARY KEY (approval_id, user_id),
  constraint approval_decision_approval_id_fkey FOREIGN KEY (approval_id) REFERENCES approval(approval_id) ON DELETE CASCADE
);
grant insert, select on approval_decision to registry_service;
grant update (is_counted) on approval_decision to registry_service;

create table approval_rule (
  approval_rule_id integer generated always as identity not null,
  operation text,
  resource text,
  fields text[],
  minimum_amount numeric,
  product_ids integer[],
  required_approvals integer not null,
  is_active boolean not null,
  created_date timestamp with time zone default now() not null,
  constraint approval_rule_pkey PRIMARY KEY (approval_rule_id),
  constraint approval_rule_about CHECK ((num_nonnulls(operation, resource) = 1)),
  constraint approval_rule_required_approvals_check CHECK (((required_approvals >= 1) AND (required_approvals <= 10)))
);
grant delete, insert, select, update on approval_rule to registry_service;

create table audit (
  audit_id bigint generated always as identity not null,
  occurred_date timestamp with time zone default now() not null,
  user_id integer,
  username text,
  operation text not null,
  resource text not null,
  resource_id bigint,
  resource_ids bigint[],
  product_id integer,
  changes json,
  request_id text not null,
  xid xid8 default pg_current_xact_id(),
  is_event boolean,
  request_ids text[],
  record_ids bigint[],
  constraint audit_pkey PRIMARY KEY (audit_id)
);
CREATE INDEX audit_event ON public.audit USING btree (product_id, xid, audit_id) WHERE is_event;
CREATE INDEX audit_occurred ON public.audit USING brin (occurred_date);
CREATE INDEX audit_order ON public.audit USING btree (xid, audit_id);
CREATE INDEX audit_product ON public.audit USING btree (product_id, audit_id);
CREATE INDEX audit_records ON public.audit USING gist (int8range(record_ids[1], record_ids[cardinality(record_ids)], '[]'::text)) WHERE (record_ids IS NOT NULL);
CREATE INDEX audit_resource ON public.audit USING btree (resource, resource_id, audit_id);
CREATE INDEX audit_resources ON public.audit USING gin (resource_ids) WHERE (resource_ids IS NOT NULL);
CREATE INDEX audit_upkeep ON public.audit USING btree (operation, occurred_date) WHERE (operation = ANY (ARRAY['cli backup'::text, 'cli verify'::text]));
CREATE INDEX audit_username ON public.audit USING btree (lower(username), audit_id);
grant insert, select on audit to registry_service;

create table audit_seal (
  "position" bigint not null,
  hash bytea not null,
  sealed_date timestamp with time zone not null,
  public_key text not null,
  signature bytea not null,
  xid xid8 not null,
  audit_ids bigint[] not null,
  marks bytea not null,
  constraint audit_seal_pkey PRIMARY KEY ("position")
);
grant insert, select on audit_seal to registry_service;

create table biz_entity (
  biz_entity_id integer generated by default as identity not null,
  product_id integer not null,
  external_biz_entity_id character varying(50),
  biz_entity_type_id integer not null,
  biz_entity_status_id integer not null,
  name character varying(500) not null,
  legal_name character varying(500),
  description character varying(2000),
  customer_code character varying(100),
  advisor_number character varying(100),
  authorized_nominee_person_id integer,
  biz_entity_tax_office_type_id integer,
  communication_preference_copy_parent_biz_entity boolean not null,
  communication_preference_id integer,
  contact_person character varying(200),
  controlling_pid integer,
  corporate_representative character varying(200),
  customer_category_id integer,
  grouped_with_biz_entity_id integer,
  investor_type_id integer,
  is_director_interest boolean not null,
  is_executive_interest boolean not null,
  margin_lender_organisation_id integer,
  power_of_attorney character varying(200),
  purpose_of_investment_id integer,
  sales_person_id integer,
  salutation character varying(100),
  signature_party integer,
  sophisticated_investor_certificate_date date,
  sophisticated_investor_comment character varying(2000),
  sophisticated_investor_eligibility character varying(200),
  source_of_funds_id integer,
  special_conditions character varying(2000),
  standing_proxy character varying(200),
  taxation_country_code character varying(3),
  created_date timestamp with time zone default now() not null,
  updated_date timestamp with time zone default now() not null,
  updated_date_full timestamp with time zone default now() not null,
  constraint biz_entity_pkey PRIMARY KEY (biz_entity_id),
  constraint biz_entity_external_id_unique UNIQUE (external_biz_entity_id),
  constraint biz_entity_in_product UNIQUE (product_id, biz_entity_id),
  constraint biz_entity_controller FOREIGN KEY (controlling_pid) REFERENCES person(person_id),
  constraint biz_entity_group FOREIGN KEY (grouped_with_biz_entity_id) REFERENCES biz_entity(biz_entity_id) ON DELETE SET NULL,
  constraint biz_entity_margin_lender FOREIGN KEY (margin_lender_organisation_id) REFERENCES organisation(organisation_id),
  constraint biz_entity_nominee FOREIGN KEY (authorized_nominee_person_id) REFERENCES person(person_id),
  constraint biz_entity_signature_party FOREIGN KEY (signature_party) REFERENCES person(person_id),
  constraint product_has_entities FOREIGN KEY (product_id) REFERENCES product(product_id)
);
CREATE INDEX biz_entity_controllers ON public.biz_entity USING btree (controlling_pid) WHERE (controlling_pid IS NOT NULL);
CREATE INDEX biz_entity_created ON public.biz_entity USING btree (created_date);
CREATE INDEX biz_entity_external_part ON public.biz_entity USING gin (lower((external_biz_entity_id)::text) gin_trgm_ops);
CREATE INDEX biz_entity_folded_begin ON public.biz_entity USING btree (folded(lower((name)::text)) text_pattern_ops) WHERE (octet_length(lower((name)::text)) > length(lower((name)::text)));
CREATE INDEX biz_entity_folded_part ON public.biz_entity USING gin (folded(lower((name)::text)) gin_trgm_ops) WHERE (octet_length(lower((name)::text)) > length(lower((name)::text)));
CREATE INDEX biz_entity_groups ON public.biz_entity USING btree (grouped_with_biz_entity_id) WHERE (grouped_with_biz_entity_id IS NOT NULL);
CREATE INDEX biz_entity_margin_lenders ON public.biz_entity USING btree (margin_lender_organisation_id) WHERE (margin_lender_organisation_id IS NOT NULL);
CREATE INDEX biz_entity_name_begin ON public.biz_entity USING btree (lower((name)::text) text_pattern_ops);
CREATE INDEX biz_entity_name_part ON public.biz_entity USING gin (lower((name)::text) gin_trgm_ops);
CREATE INDEX biz_entity_nominees ON public.biz_entity USING btree (authorized_nominee_person_id) WHERE (authorized_nominee_person_id IS NOT NULL);
CREATE INDEX biz_entity_signatures ON public.biz_entity USING btree (signature_party) WHERE (signature_party IS NOT NULL);
CREATE INDEX biz_entity_type ON public.biz_entity USING btree (biz_entity_type_id, biz_entity_id);
CREATE INDEX biz_entity_updated ON public.biz_entity USING btree (updated_date);
CREATE INDEX biz_entity_updated_full ON public.biz_entity USING btree (updated_date_full);
grant delete, insert, select, update on biz_entity to registry_service;

create table biz_entity_parent (
  biz_entity_parent_id integer generated always as identity not null,
  biz_entity_id integer not null,
  parent_biz_entity_id integer not null,
  dealer_group_biz_entity_id integer,
  active_from date not null,
  active_to date,
  constraint biz_entity_parent_unique PRIMARY KEY (biz_entity_id, parent_biz_entity_id, active_from),
  constraint biz_entity_parent_biz_entity_parent_id_key UNIQUE (biz_entity_parent_id),
  constraint parent_not_itself CHECK ((biz_entity_id <> parent_biz_entity_id)),
  constraint parent_period CHECK ((active_to >= active_from)),
  constraint biz_entity_parent_biz_entity_id_fkey FOREIGN KEY (biz_entity_id) REFERENCES biz_entity(biz_entity_id) ON DELETE CASCADE,
  constraint biz_entity_parent_dealer_group_biz_entity_id_fkey FOREIGN KEY (dealer_group_biz_entity_id) REFERENCES biz_entity(biz_entity_id) ON DELETE SET NULL,
  constraint biz_entity_parent_parent_biz_entity_id_fkey FOREIGN KEY (parent_biz_entity_id) REFERENCES biz_entity(biz_entity_id) ON DELETE CASCADE
);
CREATE INDEX biz_entity_parent_dealer ON public.biz_entity_parent USING btree (dealer_group_biz_entity_id) WHERE (dealer_group_biz_entity_id IS NOT NULL);
CREATE INDEX biz_entity_parent_of_entity ON public.biz_entity_parent USING btree (biz_entity_id, active_from, parent_biz_entity_id);
CREATE INDEX biz_entity_parent_parent ON public.biz_entity_parent USING btree (parent_biz_entity_id);
grant delete, insert, select, update on biz_entity_parent to registry_service;

create table biz_entity_party (
  biz_entity_party_id integer generated by default as identity not null,
  biz_entity_id integer not null,
  person_id integer,
  organisation_id integer,
  is_primary_contact boolean not null,
  is_income_receiving boolean not null,
  is_signatory boolean not null,
  is_authorised_nominee boolean not null,
  is_power_of_attorney boolean not null,
  ordinal integer,
  created_date timestamp with time zone default now() not null,
  constraint biz_entity_party_pkey PRIMARY KEY (biz_entity_party_id),
  constraint party_is_one CHECK ((num_nonnulls(person_id, organisation_id) = 1)),
  constraint biz_entity_party_biz_entity_id_fkey FOREIGN KEY (biz_entity_id) REFERENCES biz_entity(biz_entity_id) ON DELETE CASCADE,
  constraint organisation_is_party FOREIGN KEY (organisation_id) REFERENCES organisation(organisation_id),
  constraint person_is_party FOREIGN KEY (person_id) REFERENCES person(person_id)
);
CREATE INDEX biz_entity_party_of_entity ON public.biz_entity_party USING btree (biz_entity_id, ordinal, biz_entity_party_id);
CREATE INDEX biz_entity_party_organisation ON public.biz_entity_party USING btree (organisation_id);
CREATE INDEX biz_entity_party_person ON public.biz_entity_party USING btree (person_id);
grant delete, insert, select, update on biz_entity_party to registry_service;

create table biz_event (
  product_id integer not null,
  biz_event_id bigint generated by default as identity not null,
  parent_biz_event_id bigint,
  parent_biz_transaction_id bigint,
  biz_event_type_id smallint not null,
  biz_event_status_id smallint default 1 not null,
  account_id integer not null,
  investment_id integer not null,
  biz_event_date date not null,
  amount numeric,
  quantity numeric,
  comment character varying(2000),
  conversion_method_id smallint,
  conversion_factor numeric,
  external_transaction_id character varying(50),
  payment_method_id integer,
  cheque_bank_name character varying(200),
  cheque_bsb character varying(7),
  cheque_account_number character varying(50),
  cheque_cheque_no character varying(50),
  cheque_drawer character varying(200),
  entry_fee_amount numeric,
  entry_fee_discount_percentage numeric,
  entry_fee_override_percentage numeric,
  entry_fee_percentage numeric,
  created_date timestamp with time zone default now() not null,
  updated_date timestamp with time zone,
  is_used_up boolean default false not null,
  constraint biz_event_pkey PRIMARY KEY (product_id, biz_event_id),
  constraint account_has_events FOREIGN KEY (product_id, account_id) REFERENCES account(product_id, account_id),
  constraint investment_has_events FOREIGN KEY (product_id, investment_id) REFERENCES investment(product_id, investment_id)
);
CREATE INDEX biz_event_account ON public.biz_event USING btree (product_id, account_id, biz_event_id);
CREATE INDEX biz_event_blocks ON public.biz_event USING brin (product_id, ((biz_event_id + 0)), ((account_id + 0))) WITH (autosummarize='on');
CREATE UNIQUE INDEX biz_event_external_id_unique ON public.biz_event USING btree (product_id, external_transaction_id) WHERE (external_transaction_id IS NOT NULL);
CREATE INDEX biz_event_investment ON public.biz_event USING btree (product_id, investment_id);
CREATE INDEX biz_event_page ON public.biz_event USING btree (biz_event_id);
CREATE INDEX biz_event_parent ON public.biz_event USING btree (product_id, parent_biz_event_id) WHERE (parent_biz_event_id IS NOT NULL);
CREATE INDEX biz_event_status ON public.biz_event USING btree (product_id, biz_event_status_id, biz_event_id);
CREATE INDEX biz_event_type ON public.biz_event USING btree (product_id, biz_event_type_id, biz_event_id);
grant delete, insert, select, update on biz_event to registry_service;

create table biz_transaction (
  product_id integer not null,
  biz_transaction_id bigint generated by default as identity not null,
  external_biz_transaction_id character varying(50),
  biz_transaction_type_id smallint not null,
  biz_transaction_status_id smallint default 1 not null,
  parent_biz_transaction_id bigint,
  account_id integer not null,
  investment_id integer not null,
  transaction_date date not null,
  investment_price numeric,
  amount numeric not null,
  quantity numeric not null,
  entry_fee_amount numeric default 0 not null,
  comment character varying(2000),
  corporate_action_id integer,
  biz_event_id bigint,
  closing_quantity numeric,
  closing_amount numeric,
  closing_cost numeric,
  closing_gain numeric,
  created_date timestamp with time zone default now() not null,
  updated_date timestamp with time zone,
  carried_cost numeric,
  conversion_method_id smallint,
  conversion_factor numeric,
  entry_fee_percentage numeric,
  made_by_quantity boolean,
  constraint biz_transaction_pkey PRIMARY KEY (product_id, biz_transaction_id)
);
CREATE INDEX biz_transaction_carried ON public.biz_transaction USING btree (product_id, account_id, transaction_date) WHERE ((carried_cost IS NOT NULL) AND (quantity < (0)::numeric));
CREATE INDEX biz_transaction_corporate_action ON public.biz_transaction USING btree (product_id, corporate_action_id) WHERE (corporate_action_id IS NOT NULL);
CREATE INDEX biz_transaction_day ON public.biz_transaction USING btree (product_id, transaction_date, biz_transaction_id);
CREATE UNIQUE INDEX biz_transaction_external_id_unique ON public.biz_transaction USING btree (product_id, external_biz_transaction_id) WHERE (external_biz_transaction_id IS NOT NULL);
CREATE INDEX biz_transaction_external_part ON public.biz_transaction USING gin (lower((external_biz_transaction_id)::text) gin_trgm_ops) WHERE (external_biz_transaction_id IS NOT NULL);
CREATE INDEX biz_transaction_holding ON public.biz_transaction USING btree (product_id, account_id, investment_id, transaction_date, biz_transaction_id);
CREATE INDEX biz_transaction_investment ON public.biz_transaction USING btree (product_id, investment_id, biz_transaction_id);
CREATE INDEX biz_transaction_lately ON public.biz_transaction USING brin (product_id, created_date, ((biz_transaction_id + 0)), ((account_id + 0))) WITH (autosummarize='on');
CREATE INDEX biz_transaction_out ON public.biz_transaction USING btree (product_id, account_id, investment_id, transaction_date, biz_transaction_id) WHERE (quantity < (0)::numeric);
CREATE INDEX biz_transaction_page ON public.biz_transaction USING btree (biz_transaction_id);
CREATE INDEX biz_transaction_parent ON public.biz_transaction USING btree (product_id, parent_biz_transaction_id) WHERE (parent_biz_transaction_id IS NOT NULL);
CREATE INDEX biz_transaction_status ON public.biz_transaction USING btree (product_id, biz_transaction_status_id, biz_transaction_id) WHERE (biz_transaction_status_id <> 1);
CREATE INDEX biz_transaction_type ON public.biz_transaction USING btree (product_id, biz_transaction_type_id, biz_transaction_id);
grant insert, select, update on biz_transaction to registry_service;

create table biz_transaction_cost (
  product_id integer not null,
  biz_transaction_id bigint not null,
  valid_to timestamp with time zone not null,
  carried_cost numeric,
  constraint biz_transaction_cost_pkey PRIMARY KEY (product_id, biz_transaction_id, valid_to)
);
grant insert, select on biz_transaction_cost to registry_service;

create table biz_transaction_version (
  product_id integer not null,
  biz_transaction_id bigint not null,
  version integer not null,
  external_biz_transaction_id character varying(50),
  biz_transaction_status_id smallint not null,
  transaction_date date not null,
  investment_price numeric,
  amount numeric not null,
  quantity numeric not null,
  comment character varying(2000),
  valid_from timestamp with time zone not null,
  valid_to timestamp with time zone not null,
  replaced_by_user_id integer,
  entry_fee_amount numeric,
  constraint biz_transaction_version_pkey PRIMARY KEY (product_id, biz_transaction_id, version),
  constraint version_of_transaction FOREIGN KEY (product_id, biz_transaction_id) REFERENCES biz_transaction(product_id, biz_transaction_id)
);
grant insert, select on biz_transaction_version to registry_service;

create table closing_mark (
  product_id integer not null,
  account_id integer not null,
  investment_id integer not null,
  transaction_date date not null,
  biz_transaction_id bigint not null,
  quantity_shift numeric not null,
  amount_shift numeric not null,
  gain numeric,
  constraint closing_mark_pkey PRIMARY KEY (product_id, account_id, investment_id, transaction_date, biz_transaction_id)
);
grant delete, insert, select, update on closing_mark to registry_service;

create table communication (
  communication_id integer generated by default as identity not null,
  external_communication_id character varying(50),
  communication_type_id integer,
  name character varying(500),
  biz_entity_id integer,
  person_id integer,
  organisation_id integer,
  created_date timestamp with time zone default now() not null,
  constraint communication_pkey PRIMARY KEY (communication_id),
  constraint communication_external_id_unique UNIQUE (external_communication_id) DEFERRABLE,
  constraint communication_one_owner CHECK ((num_nonnulls(biz_entity_id, person_id, organisation_id) = 1)),
  constraint communication_email_unique EXCLUDE USING btree (lower((name)::text) WITH =) WHERE ((communication_type_id = 1)) DEFERRABLE,
  constraint communication_biz_entity_id_fkey FOREIGN KEY (biz_entity_id) REFERENCES biz_entity(biz_entity_id) ON DELETE CASCADE,
  constraint communication_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisation(organisation_id) ON DELETE CASCADE,
  constraint communication_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(person_id) ON DELETE CASCADE
);
CREATE INDEX communication_digits ON public.communication USING btree (regexp_replace((name)::text, '[^0-9]'::text, ''::text, 'g'::text));
CREATE INDEX communication_name_begin ON public.communication USING btree (lower((name)::text) text_pattern_ops);
CREATE INDEX communication_name_part ON public.communication USING gin (lower((name)::text) gin_trgm_ops);
CREATE INDEX communication_of_biz_entity ON public.communication USING btree (biz_entity_id, communication_id) WHERE (biz_entity_id IS NOT NULL);
CREATE INDEX communication_of_organisation ON public.communication USING btree (organisation_id, communication_id) WHERE (organisation_id IS NOT NULL);
CREATE INDEX communication_of_person ON public.communication USING btree (person_id, communication_id) WHERE (person_id IS NOT NULL);
grant delete, insert, select, update on communication to registry_service;

create table distribution (
  product_id integer not null,
  corporate_action_id integer generated always as identity not null,
  external_corporate_action_id character varying(50),
  investment_id integer not null,
  distribution_status_id smallint default 1 not null,
  name character varying(200),
  description character varying(2000),
  accrual_date date,
  record_date date,
  payment_date date,
  distribution_amount_per_unit numeric,
  distribution_amount_total numeric,
  cents_per_unit_per_day numeric,
  distribution_term_id integer,
  distribution_period_id integer,
  drp_indicator_id integer,
  drp_price numeric,
  drp_investment_id integer,
  drp_allotment_date date,
  file_name character varying(255),
  pro_rata_percent_per_annum numeric,
  pro_rata_start_date date,
  pro_rata_end_date date,
  unit_valuation_method character varying(20),
  declared_amount numeric,
  paid_amount numeric,
  reinvested_amount numeric,
  declared_date timestamp with time zone,
  paid_date timestamp with time zone,
  completed_date timestamp with time zone,
  created_date timestamp with time zone default now() not null,
  updated_date timestamp with time zone,
  declared_rate numeric,
  declared_unit_value numeric,
  withheld_amount numeric,
  paid_income_kinds text[],
  paid_company_tax numeric,
  declared_since timestamp with time zone,
  paid_treaties text[],
  constraint distribution_pkey PRIMARY KEY (product_id, corporate_action_id),
  constraint investment_has_distributions FOREIGN KEY (product_id, investment_id) REFERENCES investment(product_id, investment_id),
  constraint investment_is_drp_target FOREIGN KEY (product_id, drp_investment_id) REFERENCES investment(product_id, investment_id)
);
CREATE INDEX distribution_drp_investment ON public.distribution USING btree (product_id, drp_investment_id) WHERE (drp_investment_id IS NOT NULL);
CREATE UNIQUE INDEX distribution_external_id_unique ON public.distribution USING btree (product_id, external_corporate_action_id) WHERE (external_corporate_action_id IS NOT NULL);
CREATE INDEX distribution_investment ON public.distribution USING btree (product_id, investment_id, corporate_action_id);
CREATE INDEX distribution_record_date ON public.distribution USING btree (product_id, record_date);
CREATE INDEX distribution_status ON public.distribution USING btree (product_id, distribution_status_id, corporate_action_id);
grant delete, insert, select, update on distribution to registry_service;

create table distribution_component (
  product_id integer not null,
  corporate_action_id integer not null,
  ordinal integer not null,
  tax_component_name character varying(100) not null,
  percentage numeric not null,
  constraint distribution_component_pkey PRIMARY KEY (product_id, corporate_action_id, ordinal),
  constraint component_of_distribution FOREIGN KEY (product_id, corporate_action_id) REFERENCES distribution(product_id, corporate_action_id) ON DELETE CASCADE
);
grant delete, insert, select, update on distribution_component to registry_service;

create table distribution_stage (
  product_id integer not null,
  corporate_action_id integer not null,
  stage character varying(30) not null,
  terms jsonb not null,
  phases smallint not null,
  phase smallint default 0 not null,
  after_account_id integer default 0 not null,
  account_count integer not null,
  accounts_done integer default 0 not null,
  user_id integer not null,
  username text not null,
  error_message character varying(500),
  started_date timestamp with time zone default now() not null,
  progress_date timestamp with time zone default now() not null,
  constraint distribution_stage_pkey PRIMARY KEY (product_id, corporate_action_id),
  constraint stage_of_distribution FOREIGN KEY (product_id, corporate_action_id) REFERENCES distribution(product_id, corporate_action_id)
);
grant delete, insert, select, update on distribution_stage to registry_service;

create table distribution_version (
  product_id integer not null,
  corporate_action_id integer not null,
  valid_to timestamp with time zone not null,
  image jsonb not null,
  components jsonb not null,
  constraint distribution_version_pkey PRIMARY KEY (product_id, corporate_action_id, valid_to)
);
grant insert, select on distribution_version to registry_service;

create table document (
  document_id integer generated always as identity not null,
  external_document_id character varying(50),
  document_type_id integer not null,
  name character varying(255),
  code character varying(100),
  description character varying(2000),
  password_hash text,
  ordinal smallint,
  product_id integer,
  biz_entity_id integer,
  organisation_id integer,
  show_in_documents_in_portal boolean not null,
  is_public boolean not null,
  file_name character varying(255),
  content_type character varying(255),
  file_size bigint,
  file_sha256 text,
  file_date timestamp with time zone,
  created_date timestamp with time zone default now() not null,
  updated_date timestamp with time zone default now() not null,
  constraint document_pkey PRIMARY KEY (document_id),
  constraint document_belongs CHECK ((num_nonnulls(product_id, biz_entity_id, organisation_id) > 0)),
  constraint document_file_whole CHECK ((num_nulls(file_name, content_type, file_size, file_sha256, file_date) = ANY (ARRAY[0, 5]))),
  constraint document_biz_entity_id_fkey FOREIGN KEY (biz_entity_id) REFERENCES biz_entity(biz_entity_id) ON DELETE SET NULL,
  constraint document_stored_file FOREIGN KEY (file_sha256) REFERENCES stored_file(sha256),
  constraint organisation_has_documents FOREIGN KEY (organisation_id) REFERENCES organisation(organisation_id),
  constraint product_has_documents FOREIGN KEY (product_id) REFERENCES product(product_id)
);
CREATE INDEX document_biz_entity ON public.document USING btree (biz_entity_id) WHERE (biz_entity_id IS NOT NULL);
CREATE INDEX document_created ON public.document USING btree (created_date);
CREATE INDEX document_external ON public.document USING btree (external_document_id);
CREATE UNIQUE INDEX document_external_id_unique ON public.document USING btree (product_id, external_document_id) NULLS NOT DISTINCT WHERE (external_document_id IS NOT NULL);
CREATE INDEX document_file ON public.document USING btree (file_sha256) WHERE (file_sha256 IS NOT NULL);
CREATE INDEX document_folded_begin ON public.document USING btree (folded(lower((name)::text)) text_pattern_ops) WHERE (octet_length(lower((name)::text)) > length(lower((name)::text)));
CREATE INDEX document_folded_part ON public.document USING gin (folded(lower((name)::text)) gin_trgm_ops) WHERE (octet_length(lower((name)::text)) > length(lower((name)::text)));
CREATE INDEX document_name_begin ON public.document USING btree (lower((name)::text) text_pattern_ops);
CREATE INDEX document_name_part ON public.document USING gin (lower((name)::text) gin_trgm_ops);
CREATE INDEX document_organisation ON public.document USING btree (organisation_id) WHERE (organisation_id IS NOT NULL);
CREATE INDEX document_product ON public.document USING btree (product_id);
CREATE INDEX document_updated ON public.document USING btree (updated_date);
grant delete, insert, select, update on document to registry_service;

create table drp_residual (
  product_id integer not null,
  account_id integer not null,
  investment_id integer not null,
  amount numeric not null,
  constraint drp_residual_pkey PRIMARY KEY (product_id, account_id, investment_id),
  constraint drp_residual_not_negative CHECK ((amount >= (0)::numeric))
);
grant insert, select, update on drp_residual to registry_service;

create table encryption_key (
  key_id text not null,
  created_date timestamp with time zone default now() not null,
  constraint encryption_key_pkey PRIMARY KEY (key_id)
);
grant delete, insert, select, update on encryption_key to registry_service;

create table entitlement (
  product_id integer not null,
  corporate_action_id integer not null,
  account_id integer not null,
  investment_id integer not null,
  units numeric not null,
  gross_amount numeric not null,
  component_amounts numeric[] not null,
  drp_amount numeric not null,
  cash_amount numeric not null,
  payment_detail_id integer,
  payment_transaction_id bigint,
  residual_before numeric,
  drp_units numeric,
  drp_cost numeric,
  drp_residual numeric,
  drp_transaction_id bigint,
  unit_days numeric,
  pre_calculated boolean default false not null,
  drp_type_id smallint,
  drp_value numeric,
  payee_name character varying(200),
  payee_bsb character varying(7),
  payee_account_number character varying(50),
  payee_iban character varying(42),
  allotted_date timestamp with time zone,
  tax_amount numeric default 0 not null,
  tax_transaction_id bigint,
  declared_drp_amount numeric,
  constraint entitlement_pkey PRIMARY KEY (product_id, corporate_action_id, account_id),
  constraint entitlement_not_negative CHECK (((cash_amount >= (0)::numeric) AND (drp_amount >= (0)::numeric) AND (tax_amount >= (0)::numeric))),
  constraint entitlement_splits CHECK ((gross_amount = ((tax_amount + cash_amount) + drp_amount)))
);
CREATE INDEX entitlement_account ON public.entitlement USING btree (product_id, account_id, investment_id);
grant delete, insert, select, update on entitlement to registry_service;

create table entitlement_history (
  product_id integer not null,
  corporate_action_id integer not null,
  account_id integer not null,
  reversed_date timestamp with time zone not null,
  reversed_by_user_id integer,
  investment_id integer not null,
  units numeric not null,
  unit_days numeric,
  pre_calculated boolean not null,
  gross_amount numeric not null,
  component_amounts numeric[] not null,
  drp_amount numeric not null,
  cash_amount numeric not null,
  constraint entitlement_history_pkey PRIMARY KEY (product_id, corporate_action_id, account_id, reversed_date)
);
CREATE INDEX entitlement_history_account ON public.entitlement_history USING btree (product_id, account_id);
grant insert, select on entitlement_history to registry_service;

create table entitlement_total (
  product_id integer not null,
  account_id integer not null,
  investment_id integer not null,
  gross_amount numeric not null,
  constraint entitlement_total_pkey PRIMARY KEY (product_id, account_id, investment_id)
);
grant insert, select, update on entitlement_total to registry_service;

create table entitlement_version (
  product_id integer not null,
  corporate_action_id integer not null,
  account_id integer not null,
  valid_to timestamp with time zone not null,
  image jsonb not null,
  constraint entitlement_version_pkey PRIMARY KEY (product_id, corporate_action_id, account_id, valid_to)
);
CREATE INDEX entitlement_version_account ON public.entitlement_version USING btree (product_id, account_id);
grant insert, select on entitlement_version to registry_service;

create table event (
  xid xid8 default pg_current_xact_id() not null,
  event_id bigint default nextval(('audit_audit_id_seq'::text)::regclass) not null,
  type text not null,
  occurred_date timestamp with time zone default now() not null,
  product_id integer,
  resource text not null,
  ids bigint[] not null,
  counts json,
  user_id integer,
  constraint event_position PRIMARY KEY (xid, event_id)
);
CREATE INDEX event_number ON public.event USING brin (event_id) WITH (pages_per_range='16');
CREATE INDEX event_occurred ON public.event USING brin (occurred_date) WITH (pages_per_range='16');
CREATE INDEX event_product ON public.event USING btree (product_id, type, xid, event_id);
CREATE INDEX event_type ON public.event USING btree (type, xid, event_id);
grant delete, insert, select on event to registry_service;

create table event_feed (
  only_row boolean default true not null,
  epoch text default substr(replace((gen_random_uuid())::text, '-'::text, ''::text), 1, 12) not null,
  swept_xid xid8 default '0'::xid8 not null,
  swept_event_id bigint default 0 not null,
  constraint event_feed_pkey PRIMARY KEY (only_row),
  constraint event_feed_only_row_check CHECK (only_row)
);
grant select, update on event_feed to registry_service;

create table hold (
  product_id integer not null,
  hold_id bigint generated by default as identity not null,
  account_id integer not null,
  investment_id integer,
  quantity numeric,
  reason character varying(500) not null,
  document_id integer,
  valid_from date not null,
  valid_to date,
  created_date timestamp with time zone default now() not null,
  updated_date timestamp with time zone,
  constraint hold_pkey PRIMARY KEY (product_id, hold_id),
  constraint hold_quantity CHECK (((quantity IS NULL) OR ((quantity > (0)::numeric) AND (investment_id IS NOT NULL)))),
  constraint hold_validity CHECK ((valid_to >= valid_from)),
  constraint account_has_holds FOREIGN KEY (product_id, account_id) REFERENCES account(product_id, account_id),
  constraint investment_has_holds FOREIGN KEY (product_id, investment_id) REFERENCES investment(product_id, investment_id)
);
CREATE INDEX hold_account ON public.hold USING btree (product_id, account_id);
CREATE INDEX hold_document ON public.hold USING btree (product_id, document_id) WHERE (document_id IS NOT NULL);
CREATE INDEX hold_investment ON public.hold USING btree (product_id, investment_id);
CREATE INDEX hold_page ON public.hold USING btree (hold_id);
grant delete, insert, select, update on hold to registry_service;

create table hold_version (
  product_id integer not null,
  hold_id bigint not null,
  version integer not null,
  account_id integer not null,
  investment_id integer,
  quantity numeric,
  valid_from date not null,
  valid_to date,
  known_from timestamp with time zone not null,
  known_to timestamp with time zone not null,
  constraint hold_version_pkey PRIMARY KEY (product_id, hold_id, version)
);
CREATE INDEX hold_version_account ON public.hold_version USING btree (product_id, account_id);
grant insert, select on hold_version to registry_service;

create table holding (
  product_id integer not null,
  account_id integer not null,
  investment_id integer not null,
  quantity numeric not null,
  invested_amount numeric not null,
  cost_amount numeric not null,
  realised_gain numeric not null,
  constraint holding_pkey PRIMARY KEY (product_id, account_id, investment_id),
  constraint holding_not_negative CHECK ((quantity >= (0)::numeric)),
  constraint investment_has_transactions FOREIGN KEY (product_id, investment_id) REFERENCES investment(product_id, investment_id)
);
CREATE INDEX holding_investment ON public.holding USING btree (product_id, investment_id, account_id);
grant insert, select, update on holding to registry_service;

create table idempotency (
  user_id integer not null,
  key character varying(255) not null,
  fingerprint bytea not null,
  response text,
  created_date timestamp with time zone default now() not null,
  constraint idempotency_pkey PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_created ON public.idempotency USING btree (created_date);
grant delete, insert, select, update on idempotency to registry_service;

create table import (
  import_id integer generated always as identity not null,
  type text not null,
  format text not null,
  mode text not null,
  status text default 'Queued'::text not null,
  date_format text not null,
  encoding text not null,
  mapping json,
  file_name text not null,
  file_size bigint not null,
  content_sha256 text not null,
  file_sha256 text,
  file_date timestamp with time zone default clock_timestamp() not null,
  document_id integer,
  user_id integer,
  username text not null,
  product_ids integer[],
  unknown_columns text[] default '{}'::text[] not null,
  last_line integer default 0 not null,
  rows_read integer default 0 not null,
  rows_accepted integer default 0 not null,
  rows_refused integer default 0 not null,
  progress_percent smallint default 0 not null,
  message character varying(1000),
  errors_sha256 text,
  errors_size bigint,
  errors_date timestamp with time zone,
  attempts smallint default 0 not null,
  lease uuid,
  lease_date timestamp with time zone,
  queued_date timestamp with time zone default now() not null,
  created_date timestamp with time zone default now() not null,
  started_date timestamp with time zone,
  completed_date timestamp with time zone,
  api_key_id integer,
  constraint import_pkey PRIMARY KEY (import_id),
  constraint import_mode CHECK ((mode = ANY (ARRAY['validate'::text, 'atomic'::text, 'continue'::text]))),
  constraint import_status CHECK ((status = ANY (ARRAY['Queued'::text, 'Running'::text, 'Completed'::text, 'Failed'::text, 'Cancelled'::text]))),
  constraint import_api_key FOREIGN KEY (api_key_id) REFERENCES api_key(api_key_id),
  constraint import_stored_errors FOREIGN KEY (errors_sha256) REFERENCES stored_file(sha256),
  constraint import_stored_file FOREIGN KEY (file_sha256) REFERENCES stored_file(sha256)
);
CREATE INDEX import_content ON public.import USING btree (content_sha256, type);
CREATE INDEX import_errors ON public.import USING btree (errors_sha256) WHERE (errors_sha256 IS NOT NULL);
CREATE INDEX import_file ON public.import USING btree (file_sha256) WHERE (file_sha256 IS NOT NULL);
CREATE INDEX import_of_api_key ON public.import USING btree (api_key_id);
CREATE INDEX import_of_user ON public.import USING btree (user_id, import_id);
CREATE INDEX import_open ON public.import USING btree (queued_date) WHERE (status = ANY (ARRAY['Queued'::text, 'Running'::text]));
grant delete, insert, select, update on import to registry_service;

create table import_refusal (
  import_id integer not null,
  line integer not null,
  problems json not null,
  constraint import_refusal_pkey PRIMARY KEY (import_id, line),
  constraint import_refusal_of FOREIGN KEY (import_id) REFERENCES import(import_id) ON DELETE CASCADE
);
grant delete, insert, select, update on import_refusal to registry_service;

create table investment (
  investment_id integer generated always as identity not null,
  product_id integer not null,
  external_investment_id character varying(50),
  security_code character varying(50),
  name character varying(200),
  description character varying(2000),
  is_active boolean not null,
  currency_id integer not null,
  unit_decimals integer not null,
  issue_price numeric,
  created_date timestamp with time zone default now() not null,
  updated_date timestamp with time zone default now() not null,
  drp_residual_on_exit character varying(5) default 'Pay'::character varying not null,
  price_tolerance_percent numeric,
  maximum_price_age_days integer,
  constraint investment_pkey PRIMARY KEY (investment_id),
  constraint investment_external_id_unique UNIQUE (product_id, external_investment_id),
  constraint investment_in_product UNIQUE (product_id, investment_id),
  constraint investment_security_code_unique UNIQUE (product_id, security_code),
  constraint investment_residual_on_exit CHECK (((drp_residual_on_exit)::text = ANY ((ARRAY['Pay'::character varying, 'Carry'::character varying])::text[]))),
  constraint investment_unit_decimals CHECK (((unit_decimals >= 0) AND (unit_decimals <= 8))),
  constraint product_has_investments FOREIGN KEY (product_id) REFERENCES product(product_id)
);
CREATE INDEX investment_external ON public.investment USING btree (external_investment_id);
CREATE INDEX investment_security_code ON public.investment USING btree (security_code);
CREATE UNIQUE INDEX investment_security_code_any_case ON public.investment USING btree (product_id, lower((security_code)::text));
grant delete, insert, select, update on investment to registry_service;

create table investment_price (
  investment_price_id integer generated always as identity not null,
  investment_id integer not null,
  price_date date not null,
  price numeric not null,
  application_price numeric,
  redemption_price numeric,
  created_date timestamp with time zone default now() not null,
  constraint investment_price_pkey PRIMARY KEY (investment_price_id),
  constraint investment_price_date_unique UNIQUE (investment_id, price_date),
  constraint investment_price_positive CHECK (((price > (0)::numeric) AND (application_price > (0)::numeric) AND (redemption_price > (0)::numeric))),
  constraint investment_has_prices FOREIGN KEY (investment_id) REFERENCES investment(investment_id)
);
grant delete, insert, select, update on investment_price to registry_service;

create table investment_price_correction (
  investment_price_correction_id integer generated always as identity not null,
  investment_price_id integer not null,
  price_date date not null,
  price numeric not null,
  application_price numeric,
  redemption_price numeric,
  corrected_date timestamp with time zone default now() not null,
  constraint investment_price_correction_pkey PRIMARY KEY (investment_price_correction_id),
  constraint investment_price_correction_investment_price_id_fkey FOREIGN KEY (investment_price_id) REFERENCES investment_price(investment_price_id) ON DELETE CASCADE
);
CREATE INDEX investment_price_correction_price ON public.investment_price_correction USING btree (investment_price_id);
grant delete, insert, select, update on investment_price_correction to registry_service;

create table ledger_account (
  product_id integer not null,
  account_id integer not null,
  last_date date,
  constraint ledger_account_pkey PRIMARY KEY (product_id, account_id),
  constraint account_has_transactions FOREIGN KEY (product_id, account_id) REFERENCES account(product_id, account_id)
);
grant insert, select, update on ledger_account to registry_service;

create table ledger_version (
  product_id integer not null,
  table_name text not null,
  record_key text not null,
  valid_to timestamp with time zone not null,
  image jsonb not null,
  constraint ledger_version_pkey PRIMARY KEY (product_id, table_name, record_key, valid_to)
);
CREATE INDEX ledger_version_account ON public.ledger_version USING btree (product_id, (((image ->> 'account_id'::text))::integer), table_name) WHERE (table_name = ANY (ARRAY['payment'::text, 'withholding'::text]));
grant insert, select on ledger_version to registry_service;

create table login_failure (
  username_hash bytea not null,
  failed_date timestamp with time zone default now() not null,
  pair_hash bytea not null,
  user_id integer,
  is_forgiven boolean default false not null,
  is_audited boolean default false not null,
  is_code boolean default false not null
);
CREATE INDEX login_failure_date ON public.login_failure USING btree (failed_date);
CREATE INDEX login_failure_pair ON public.login_failure USING btree (pair_hash, failed_date);
CREATE INDEX login_failure_unaudited ON public.login_failure USING btree (failed_date) WHERE (NOT is_audited);
CREATE INDEX login_failure_username ON public.login_failure USING btree (username_hash, failed_date);
grant delete, insert, select, update on login_failure to registry_service;

create table lookup (
  category text not null,
  id integer not null,
  code text not null,
  name text not null,
  description text,
  constraint lookup_pkey PRIMARY KEY (category, id)
);
grant select on lookup to registry_service;

create table migration (
  name text not null,
  checksum text not null,
  applied_date timestamp with time zone default now() not null,
  constraint migration_pkey PRIMARY KEY (name)
);
grant delete, insert, select, update on migration to registry_service;

create table organisation (
  organisation_id integer generated by default as identity not null,
  external_organisation_id character varying(50),
  name character varying(200),
  legal_name character varying(200),
  abn character varying(11),
  acn character varying(9),
  organisation_type_id integer,
  taxation_file_number text,
  taxation_file_number_mask text,
  tin text,
  tin_mask text,
  taxation_country_code character varying(3),
  registration_country_code character varying(3),
  description character varying(2000),
  is_corporate_trustee boolean not null,
  licence_number character varying(50),
  licence_active boolean not null,
  created_date timestamp with time zone default now() not null,
  updated_date timestamp with time zone default now() not null,
  taxation_file_number_digest text,
  taxation_file_number_doubt boolean,
  constraint organisation_pkey PRIMARY KEY (organisation_id),
  constraint organisation_external_id_unique UNIQUE (external_organisation_id) DEFERRABLE
);
CREATE INDEX organisation_folded_begin ON public.organisation USING btree (folded(lower(btrim((((COALESCE(name, ''::character varying))::text || ' '::text) || (COALESCE(legal_name, ''::character varying))::text)))) text_pattern_ops) WHERE (octet_length(lower(btrim((((COALESCE(name, ''::character varying))::text || ' '::text) || (COALESCE(legal_name, ''::character varying))::text)))) > length(lower(btrim((((COALESCE(name, ''::character varying))::text || ' '::text) || (COALESCE(legal_name, ''::character varying))::text)))));
CREATE INDEX organisation_folded_part ON public.organisation USING gin (folded(lower(btrim((((COALESCE(name, ''::character varying))::text || ' '::text) || (COALESCE(legal_name, ''::character varying))::text)))) gin_trgm_ops) WHERE (octet_length(lower(btrim((((COALESCE(name, ''::character varying))::text || ' '::text) || (COALESCE(legal_name, ''::character varying))::text)))) > length(lower(btrim((((COALESCE(name, ''::character varying))::text || ' '::text) || (COALESCE(legal_name, ''::character varying))::text)))));
CREATE INDEX organisation_name_begin ON public.organisation USING btree (lower(btrim((((COALESCE(name, ''::character varying))::text || ' '::text) || (COALESCE(legal_name, ''::character varying))::text))) text_pattern_ops);
CREATE INDEX organisation_name_part ON public.organisation USING gin (lower(btrim((((COALESCE(name, ''::character varying))::text || ' '::text) || (COALESCE(legal_name, ''::character varying))::text))) gin_trgm_ops);
CREATE INDEX organisation_tax_digest ON public.organisation USING btree (taxation_file_number_digest) WHERE (taxation_file_number_digest IS NOT NULL);
CREATE INDEX organisation_tax_unread ON public.organisation USING btree (organisation_id) WHERE ((taxation_file_number IS NOT NULL) AND (taxation_file_number_doubt IS NULL));
grant delete, insert, select, update on organisation to registry_service;

create table organisation_person (
  organisation_id integer not null,
  person_id integer not null,
  relationship_type_id integer,
  is_signatory boolean not null,
  ordinal integer not null,
  constraint organisation_person_pkey PRIMARY KEY (organisation_id, ordinal),
  constraint organisation_person_organisation_id_fkey FOREIGN KEY (organisation_id) REFERENCES organisation(organisation_id) ON DELETE CASCADE,
  constraint person_is_associated FOREIGN KEY (person_id) REFERENCES person(person_id)
);
CREATE INDEX organisation_person_person ON public.organisation_person USING btree (person_id);
grant delete, insert, select, update on organisation_person to registry_service;

create table payment (
  product_id integer not null,
  payment_id bigint generated by default as identity not null,
  payment_run_id integer not null,
  account_id integer not null,
  amount numeric not null,
  tax_amount numeric default 0 not null,
  reference character varying(18) not null,
  payee_key text not null,
  payee_name character varying(200) not null,
  payee_bsb character varying(7),
  payee_account_number character varying(50),
  payee_iban character varying(42),
  payee_swift character varying(11),
  entry_code character varying(2) not null,
  state character varying(10) default 'Pending'::character varying not null,
  state_reason character varying(200),
  state_date date,
  reissue_of bigint,
  file_number smallint,
  created_date timestamp with time zone default now() not null,
  reissued_as bigint,
  constraint payment_pkey PRIMARY KEY (product_id, payment_id),
  constraint payment_positive CHECK ((amount > (0)::numeric)),
  constraint payment_state CHECK (((state)::text = ANY ((ARRAY['Pending'::character varying, 'Sent'::character varying, 'Paid'::character varying, 'Returned'::character varying, 'Reissued'::character varying, 'Unclaimed'::character varying])::text[]))),
  constraint payment_of_run FOREIGN KEY (product_id, payment_run_id) REFERENCES payment_run(product_id, payment_run_id)
);
CREATE INDEX payment_account ON public.payment USING btree (product_id, account_id) WHERE (account_id IS NOT NULL);
CREATE UNIQUE INDEX payment_reference ON public.payment USING btree (product_id, reference) WHERE (reference IS NOT NULL);
CREATE INDEX payment_run_payments ON public.payment USING btree (product_id, payment_run_id, payment_id) WHERE (payment_run_id IS NOT NULL);
grant delete, insert, select, update on payment to registry_service;

create table payment_detail (
  payment_detail_id integer generated by default as identity not null,
  external_payment_detail_id character varying(50),
  payment_type_id integer,
  biz_entity_id integer not null,
  bsb character varying(7),
  account_number character varying(50),
  account_name character varying(200),
  address character varying(500),
  comments character varying(2000),
  currency_id integer,
  iban character varying(42),
  swift character varying(11),
  intermediary_bank_account_name character varying(200),
  intermediary_bank_account_number character varying(50),
  intermediary_bank_address character varying(500),
  intermediary_bank_name character varying(200),
  intermediary_bank_swift character varying(11),
  is_for_deposit boolean not null,
  is_for_distribution boolean not null,
  is_for_redemption boolean not null,
  is_for_other boolean not null,
  is_default boolean not null,
  message character varying(500),
  personal_name character varying(200),
  reference character varying(200),
  updated_date timestamp with time zone default now(),
  created_date timestamp with time zone default now() not null,
  constraint payment_detail_pkey PRIMARY KEY (payment_detail_id),
  constraint payment_detail_external_id_unique UNIQUE (external_payment_detail_id) DEFERRABLE,
  constraint payment_detail_default_deposit EXCLUDE USING btree (biz_entity_id WITH =) WHERE ((is_default AND is_for_deposit)) DEFERRABLE INITIALLY DEFERRED,
  constraint payment_detail_default_distribution EXCLUDE USING btree (biz_entity_id WITH =) WHERE ((is_default AND is_for_distribution)) DEFERRABLE INITIALLY DEFERRED,
  constraint payment_detail_default_other EXCLUDE USING btree (biz_entity_id WITH =) WHERE ((is_default AND is_for_other)) DEFERRABLE INITIALLY DEFERRED,
  constraint payment_detail_default_redemption EXCLUDE USING btree (biz_entity_id WITH =) WHERE ((is_default AND is_for_redemption)) DEFERRABLE INITIALLY DEFERRED,
  constraint payment_detail_biz_entity_id_fkey FOREIGN KEY (biz_entity_id) REFERENCES biz_entity(biz_entity_id) ON DELETE CASCADE
);
CREATE INDEX payment_detail_of_biz_entity ON public.payment_detail USING btree (biz_entity_id, payment_detail_id);
grant delete, insert, select, update on payment_detail to registry_service;

create table payment_exception (
  product_id integer not null,
  payment_run_id integer not null,
  biz_transaction_id bigint not null,
  account_id integer not null,
  amount numeric not null,
  code character varying(30) not null,
  created_date timestamp with time zone default now() not null,
  constraint payment_exception_pkey PRIMARY KEY (product_id, payment_run_id, biz_transaction_id),
  constraint exception_of_run FOREIGN KEY (product_id, payment_run_id) REFERENCES payment_run(product_id, payment_run_id) ON DELETE CASCADE
);
grant delete, insert, select, update on payment_exception to registry_service;

create table payment_item (
  product_id integer not null,
  biz_transaction_id bigint not null,
  payment_run_id integer not null,
  payment_id bigint not null,
  source character varying(12) not null,
  amount numeric not null,
  tax_amount numeric default 0 not null,
  came_from_payment_id bigint,
  created_date timestamp with time zone default now() not null,
  constraint payment_item_pkey PRIMARY KEY (product_id, biz_transaction_id),
  constraint item_of_payment FOREIGN KEY (product_id, payment_id) REFERENCES payment(product_id, payment_id)
);
CREATE INDEX payment_item_came_from ON public.payment_item USING btree (product_id, came_from_payment_id) WHERE (came_from_payment_id IS NOT NULL);
CREATE INDEX payment_item_payment ON public.payment_item USING btree (product_id, payment_id) WHERE (payment_id IS NOT NULL);
grant delete, insert, select, update on payment_item to registry_service;

create table payment_run (
  product_id integer not null,
  payment_run_id integer generated by default as identity not null,
  state character varying(10) default 'Draft'::character varying not null,
  sources text[] not null,
  corporate_action_ids integer[],
  currency_id integer not null,
  up_to_date date,
  processing_date date not null,
  format character varying(12) not null,
  balanced boolean not null,
  minimum_amount numeric not null,
  funding_bsb character varying(7),
  funding_account_number character varying(50),
  funding_account_name character varying(200) not null,
  funding_bank_code character varying(3),
  funding_user_id character varying(6),
  funding_remitter_name character varying(200) not null,
  reissue_of integer,
  created_by_user_id integer not null,
  created_date timestamp with time zone default now() not null,
  approved_by_user_id integer,
  approved_date timestamp with time zone,
  sent_date timestamp with time zone,
  closed_date timestamp with time zone,
  constraint payment_run_pkey PRIMARY KEY (product_id, payment_run_id),
  constraint payment_run_state CHECK (((state)::text = ANY ((ARRAY['Draft'::character varying, 'Approved'::character varying, 'Sent'::character varying, 'Closed'::character varying])::text[]))),
  constraint payment_run_two_people CHECK ((approved_by_user_id <> created_by_user_id))
);
CREATE INDEX payment_run_page ON public.payment_run USING btree (payment_run_id);
grant delete, insert, select, update on payment_run to registry_service;

create table payment_run_file (
  product_id integer not null,
  payment_run_id integer not null,
  file_number smallint not null,
  file_name character varying(100) not null,
  content_type character varying(100) not null,
  content bytea not null,
  sha256 text not null,
  payment_count integer not null,
  amount numeric not null,
  warnings text[] not null,
  created_date timestamp with time zone default now() not null,
  constraint payment_run_file_pkey PRIMARY KEY (product_id, payment_run_id, file_number),
  constraint file_of_run FOREIGN KEY (product_id, payment_run_id) REFERENCES payment_run(product_id, payment_run_id)
);
grant insert, select on payment_run_file to registry_service;

create table person (
  person_id integer generated by default as identity not null,
  external_person_id character varying(50),
  title_id integer,
  first_name character varying(100),
  middle_name character varying(100),
  last_name character varying(100),
  description character varying(2000),
  abn character varying(11),
  birth_country_code character varying(3),
  crsfatca_participation_id integer,
  customer_code character varying(50),
  date_of_birth date,
  gender character varying(1),
  drivers_license_issue_country_code character varying(2),
  drivers_license_number character varying(20),
  passport_issue_country_code character varying(2),
  passport_number character varying(20),
  identification_type_id integer,
  identification_value character varying(50),
  is_director_of_corporate_trustee boolean not null,
  is_pep boolean not null,
  is_sophisticated_investor boolean not null,
  is_trustee boolean not null,
  pep_description character varying(500),
  legal_guardian_title_id integer,
  legal_guardian_first_name character varying(100),
  legal_guardian_middle_name character varying(100),
  legal_guardian_last_name character varying(100),
  salutation character varying(50),
  share_percentage smallint,
  sophisticated_investor_certificate_date date,
  taxation_country_code character varying(3),
  taxation_country_code2 character varying(3),
  taxation_country_code3 character varying(3),
  taxation_country_tin text,
  taxation_country_tin_mask text,
  taxation_country_tin2 text,
  taxation_country_tin2_mask text,
  taxation_country_tin3 text,
  taxation_country_tin3_mask text,
  taxation_country_no_tin_reason character varying(200),
  taxation_country_no_tin_reason2 character varying(200),
  taxation_country_no_tin_reason3 character varying(200),
  taxation_file_number text,
  taxation_file_number_mask text,
  tin text,
  tin_mask text,
  trading_name character varying(200),
  tax_office_type_id integer,
  created_date timestamp with time zone default now() not null,
  updated_date timestamp with time zone default now() not null,
  taxation_file_number_digest text,
  taxation_file_number_doubt boolean,
  constraint person_pkey PRIMARY KEY (person_id),
  constraint person_external_id_unique UNIQUE (external_person_id) DEFERRABLE,
  constraint person_share_percentage CHECK (((share_percentage >= 0) AND (share_percentage <= 100)))
);
CREATE INDEX person_folded_begin ON public.person USING btree (folded(lower(btrim((((COALESCE(first_name, ''::character varying))::text || ' '::text) || (COALESCE(last_name, ''::character varying))::text)))) text_pattern_ops) WHERE (octet_length(lower(btrim((((COALESCE(first_name, ''::character varying))::text || ' '::text) || (COALESCE(last_name, ''::character varying))::text)))) > length(lower(btrim((((COALESCE(first_name, ''::character varying))::text || ' '::text) || (COALESCE(last_name, ''::character varying))::text)))));
CREATE INDEX person_folded_part ON public.person USING gin (folded(lower(btrim((((COALESCE(first_name, ''::character varying))::text || ' '::text) || (COALESCE(last_name, ''::character varying))::text)))) gin_trgm_ops) WHERE (octet_length(lower(btrim((((COALESCE(first_name, ''::character varying))::text || ' '::text) || (COALESCE(last_name, ''::character varying))::text)))) > length(lower(btrim((((COALESCE(first_name, ''::character varying))::text || ' '::text) || (COALESCE(last_name, ''::character varying))::text)))));
CREATE INDEX person_name_begin ON public.person USING btree (lower(btrim((((COALESCE(first_name, ''::character varying))::text || ' '::text) || (COALESCE(last_name, ''::character varying))::text))) text_pattern_ops);
CREATE INDEX person_name_part ON public.person USING gin (lower(btrim((((COALESCE(first_name, ''::character varying))::text || ' '::text) || (COALESCE(last_name, ''::character varying))::text))) gin_trgm_ops);
CREATE INDEX person_tax_digest ON public.person USING btree (taxation_file_number_digest) WHERE (taxation_file_number_digest IS NOT NULL);
CREATE INDEX person_tax_unread ON public.person USING btree (person_id) WHERE ((taxation_file_number IS NOT NULL) AND (taxation_file_number_doubt IS NULL));
grant delete, insert, select, update on person to registry_service;

create table product (
  product_id integer generated always as identity not null,
  external_product_id character varying(50),
  name character varying(200) not null,
  currency_id integer not null,
  description character varying(2000),
  is_active boolean not null,
  created_date timestamp with time zone default now() not null,
  updated_date timestamp with time zone default now() not null,
  time_zone character varying(64),
  locked_date date,
  withholding boolean default false not null,
  tax_component_kinds json default '[]'::json not null,
  bank_detail_cool_off_days integer default 0 not null,
  financial_year_end character varying(5) default '06-30'::character varying not null,
  company_tax_percentage numeric default 30 not null,
  issuer json,
  constraint product_pkey PRIMARY KEY (product_id),
  constraint product_external_id_unique UNIQUE (external_product_id),
  constraint product_cool_off CHECK (((bank_detail_cool_off_days >= 0) AND (bank_detail_cool_off_days <= 365)))
);
grant delete, insert, select, update on product to registry_service;

create table record_version (
  table_name text not null,
  record_id integer not null,
  valid_to timestamp with time zone not null,
  image jsonb not null,
  xid xid8 default pg_current_xact_id() not null,
  constraint record_version_pkey PRIMARY KEY (table_name, record_id, valid_to)
);
CREATE INDEX record_version_entity ON public.record_version USING btree ((((image ->> 'biz_entity_id'::text))::integer), table_name) WHERE (table_name = ANY (ARRAY['address'::text, 'communication'::text, 'payment_detail'::text, 'biz_entity_party'::text, 'account'::text]));
CREATE INDEX record_version_organisation ON public.record_version USING btree ((((image ->> 'organisation_id'::text))::integer), table_name) WHERE ((table_name = ANY (ARRAY['address'::text, 'communication'::text])) AND (((image ->> 'organisation_id'::text))::integer IS NOT NULL));
CREATE INDEX record_version_person ON public.record_version USING btree ((((image ->> 'person_id'::text))::integer), table_name) WHERE ((table_name = ANY (ARRAY['address'::text, 'communication'::text])) AND (((image ->> 'person_id'::text))::integer IS NOT NULL));
CREATE INDEX record_version_price ON public.record_version USING btree ((((image ->> 'investment_id'::text))::integer)) WHERE (table_name = 'investment_price'::text);
grant insert, select on record_version to registry_service;

create table recovery_code (
  user_id integer not null,
  code_hash bytea not null,
  used_date timestamp with time zone,
  constraint recovery_code_pkey PRIMARY KEY (user_id, code_hash),
  constraint recovery_code_user_id_fkey FOREIGN KEY (user_id) REFERENCES app_user(user_id) ON DELETE CASCADE
);
grant delete, insert, select, update on recovery_code to registry_service;

create table refresh_token (
  token_hash bytea not null,
  session_id uuid not null,
  expires_date timestamp with time zone not null,
  used_date timestamp with time zone,
  constraint refresh_token_pkey PRIMARY KEY (token_hash),
  constraint refresh_token_session_id_fkey FOREIGN KEY (session_id) REFERENCES session(session_id) ON DELETE CASCADE
);
CREATE INDEX refresh_token_expires ON public.refresh_token USING btree (expires_date);
CREATE INDEX refresh_token_session ON public.refresh_token USING btree (session_id);
grant delete, insert, select, update on refresh_token to registry_service;

create table report (
  report_id integer generated always as identity not null,
  report_type_id smallint not null,
  name character varying(200) not null,
  format character varying(4) not null,
  report_status_id smallint default 1 not null,
  product_id integer not null,
  investment_id integer,
  corporate_action_id integer,
  biz_entity_id integer,
  account_id integer,
  date date,
  from_date date,
  to_date date,
  top integer,
  user_id integer not null,
  username text not null,
  progress_percent smallint default 0 not null,
  row_count integer,
  error_message character varying(500),
  attempts smallint default 0 not null,
  lease uuid,
  lease_date timestamp with time zone,
  file_size bigint,
  file_sha256 text,
  file_date timestamp with time zone,
  created_date timestamp with time zone default now() not null,
  started_date timestamp with time zone,
  completed_date timestamp with time zone,
  known_at timestamp with time zone,
  api_key_id integer,
  sender_user_id integer,
  sender_api_key_id integer,
  constraint report_pkey PRIMARY KEY (report_id),
  constraint product_has_reports FOREIGN KEY (product_id) REFERENCES product(product_id),
  constraint report_api_key FOREIGN KEY (api_key_id) REFERENCES api_key(api_key_id),
  constraint report_sender_api_key FOREIGN KEY (sender_api_key_id) REFERENCES api_key(api_key_id),
  constraint report_stored_file FOREIGN KEY (file_sha256) REFERENCES stored_file(sha256)
);
CREATE INDEX report_begun ON public.report USING btree (user_id, started_date);
CREATE INDEX report_file ON public.report USING btree (file_sha256) WHERE (file_sha256 IS NOT NULL);
CREATE INDEX report_of_api_key ON public.report USING btree (api_key_id);
CREATE INDEX report_of_sender_api_key ON public.report USING btree (sender_api_key_id);
CREATE INDEX report_open ON public.report USING btree (COALESCE(lease_date, created_date)) WHERE (report_status_id = ANY (ARRAY[1, 2]));
CREATE INDEX report_product ON public.report USING btree (product_id, report_id);
grant delete, insert, select, update on report to registry_service;

create table report_statement (
  report_id integer not null,
  account_id integer not null,
  account_number character varying(50) not null,
  name character varying(500) not null,
  file_name character varying(200) not null,
  file_offset bigint not null,
  file_size integer not null,
  email character varying(500),
  way character varying(10) not null,
  state character varying(10) default 'Made'::character varying not null,
  attempts smallint default 0 not null,
  reason character varying(500),
  state_date timestamp with time zone,
  put_off_until timestamp with time zone,
  also_print boolean default false not null,
  constraint report_statement_pkey PRIMARY KEY (report_id, account_id),
  constraint report_statement_state CHECK (((state)::text = ANY ((ARRAY['Made'::character varying, 'Queued'::character varying, 'Sending'::character varying, 'Sent'::character varying, 'Failed'::character varying, 'Print'::character varying, 'NoAddress'::character varying])::text[]))),
  constraint report_statement_way CHECK (((way)::text = ANY ((ARRAY['Email'::character varying, 'Print'::character varying, 'NoAddress'::character varying])::text[]))),
  constraint statement_of_report FOREIGN KEY (report_id) REFERENCES report(report_id) ON DELETE CASCADE
);
CREATE INDEX report_statement_due ON public.report_statement USING btree (report_id, file_offset) WHERE ((state)::text = ANY ((ARRAY['Queued'::character varying, 'Sending'::character varying])::text[]));
CREATE INDEX report_statement_failed ON public.report_statement USING btree (report_id) WHERE ((state)::text = 'Failed'::text);
CREATE INDEX report_statement_taken_back ON public.report_statement USING btree (report_id) WHERE (((state)::text = 'Made'::text) AND (reason IS NOT NULL));
grant delete, insert, select, update on report_statement to registry_service;

create table residual_payment (
  product_id integer not null,
  residual_payment_id bigint generated always as identity not null,
  account_id integer not null,
  investment_id integer not null,
  corporate_action_id integer,
  amount numeric not null,
  payment_date date not null,
  biz_transaction_id bigint not null,
  payment_detail_id integer,
  payee_name character varying(200),
  payee_bsb character varying(7),
  payee_account_number character varying(50),
  payee_iban character varying(42),
  paid_date timestamp with time zone not null,
  reversed_date timestamp with time zone,
  constraint residual_payment_pkey PRIMARY KEY (product_id, residual_payment_id),
  constraint residual_payment_positive CHECK ((amount > (0)::numeric))
);
CREATE INDEX residual_payment_account ON public.residual_payment USING btree (product_id, account_id, investment_id);
CREATE INDEX residual_payment_corporate_action ON public.residual_payment USING btree (product_id, corporate_action_id) WHERE (corporate_action_id IS NOT NULL);
CREATE UNIQUE INDEX residual_payment_transaction ON public.residual_payment USING btree (product_id, biz_transaction_id);
grant insert, select, update on residual_payment to registry_service;

create table retired_account_number (
  product_id integer not null,
  account_number character varying(50) not null,
  constraint retired_account_number_pkey PRIMARY KEY (product_id, account_number),
  constraint retired_account_number_product_id_fkey FOREIGN KEY (product_id) REFERENCES product(product_id) ON DELETE CASCADE
);
grant insert, select on retired_account_number to registry_service;

create table second_factor (
  user_id integer not null,
  secret text not null,
  confirmed_date timestamp with time zone,
  last_step bigint default 0 not null,
  constraint second_factor_pkey PRIMARY KEY (user_id),
  constraint second_factor_user_id_fkey FOREIGN KEY (user_id) REFERENCES app_user(user_id) ON DELETE CASCADE
);
grant delete, insert, select, update on second_factor to registry_service;

create table session (
  session_id uuid not null,
  user_id integer not null,
  created_date timestamp with time zone default now() not null,
  revoked_date timestamp with time zone,
  session_number integer generated always as identity not null,
  address text,
  user_agent text,
  last_used_date timestamp with time zone,
  is_half boolean default false not null,
  constraint session_pkey PRIMARY KEY (session_id),
  constraint session_number_unique UNIQUE (session_number),
  constraint session_user_id_fkey FOREIGN KEY (user_id) REFERENCES app_user(user_id) ON DELETE CASCADE
);
CREATE INDEX session_of_user ON public.session USING btree (user_id) WHERE (revoked_date IS NULL);
grant delete, insert, select, update on session to registry_service;

create table stored_file (
  sha256 text not null,
  size bigint not null,
  claimed_date timestamp with time zone not null,
  constraint stored_file_pkey PRIMARY KEY (sha256)
);
CREATE INDEX stored_file_claimed ON public.stored_file USING btree (claimed_date);
grant delete, insert, select, update on stored_file to registry_service;

create table webhook (
  webhook_id integer generated always as identity not null,
  url character varying(2000) not null,
  types text[],
  product_ids integer[],
  is_active boolean not null,
  description character varying(500),
  user_id integer not null,
  secret text not null,
  previous_secret text,
  previous_until timestamp with time zone,
  failure_count integer default 0 not null,
  place_epoch text,
  place_xid xid8,
  place_event_id bigint,
  created_date timestamp with time zone default now() not null,
  updated_date timestamp with time zone default now() not null,
  api_key_id integer,
  constraint webhook_pkey PRIMARY KEY (webhook_id),
  constraint webhook_products_named CHECK ((product_ids <> '{}'::integer[])),
  constraint webhook_types_named CHECK ((types <> '{}'::text[])),
  constraint webhook_api_key FOREIGN KEY (api_key_id) REFERENCES api_key(api_key_id),
  constraint webhook_user FOREIGN KEY (user_id) REFERENCES app_user(user_id)
);
CREATE INDEX webhook_of_api_key ON public.webhook USING btree (api_key_id);
CREATE INDEX webhook_of_user ON public.webhook USING btree (user_id);
grant delete, insert, select, update on webhook to registry_service;

create table webhook_delivery (
  webhook_delivery_id bigint generated always as identity not null,
  webhook_id integer not null,
  event_id bigint,
  type text not null,
  body text not null,
  status text default 'pending'::text not null,
  attempts integer default 0 not null,
  next_date timestamp with time zone default now(),
  response_status integer,
  error_message character varying(500),
  created_date timestamp with time zone default now() not null,
  completed_date timestamp with time zone,
  constraint webhook_delivery_pkey PRIMARY KEY (webhook_delivery_id),
  constraint webhook_delivery_status CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  constraint webhook_delivery_of FOREIGN KEY (webhook_id) REFERENCES webhook(webhook_id) ON DELETE CASCADE
);
CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (webhook_id, next_date) WHERE (status = 'pending'::text);
CREATE INDEX webhook_delivery_failed ON public.webhook_delivery USING btree (webhook_id, webhook_delivery_id) WHERE (status = 'failed'::text);
CREATE INDEX webhook_delivery_list ON public.webhook_delivery USING btree (webhook_id, webhook_delivery_id);
CREATE INDEX webhook_delivery_old ON public.webhook_delivery USING brin (created_date);
grant delete, insert, select, update on webhook_delivery to registry_service;

create table withholding (
  product_id integer not null,
  corporate_action_id integer not null,
  account_id integer not null,
  ordinal smallint not null,
  income_kind character varying(30) not null,
  rule character varying(20) not null,
  country_code character varying(3),
  base_amount numeric not null,
  percentage numeric not null,
  rounding character varying(20) not null,
  amount numeric not null,
  created_date timestamp with time zone default now() not null,
  constraint withholding_pkey PRIMARY KEY (product_id, corporate_action_id, account_id, ordinal),
  constraint withholding_not_negative CHECK ((amount >= (0)::numeric))
);
CREATE INDEX withholding_account ON public.withholding USING btree (product_id, account_id, corporate_action_id);
grant delete, insert, select on withholding to registry_service;

create table withholding_rate (
  rate_id integer generated by default as identity not null,
  rule character varying(20) not null,
  income_kind character varying(30) not null,
  country_code character varying(2),
  percentage numeric not null,
  rounding character varying(20) not null,
  valid_from date not null,
  valid_to date,
  constraint withholding_rate_pkey PRIMARY KEY (rate_id),
  constraint withholding_rate_percentage CHECK (((percentage >= (0)::numeric) AND (percentage <= (100)::numeric))),
  constraint withholding_rate_period CHECK ((valid_to >= valid_from)),
  constraint withholding_rate_rounding CHECK (((rounding)::text = ANY ((ARRAY['WholeDollar'::character varying, 'Cent'::character varying])::text[]))),
  constraint withholding_rate_rule CHECK (((rule)::text = ANY ((ARRAY['NoTfn'::character varying, 'NonResident'::character varying])::text[])))
);
CREATE INDEX withholding_rate_kind ON public.withholding_rate USING btree (rule, income_kind, valid_from);
grant delete, insert, select, update on withholding_rate to registry_service;

create view changed_distribution as
 SELECT product_id,
    corporate_action_id,
    investment_id
   FROM distribution
  WHERE false;

create view happening as
 SELECT event.xid,
    event.event_id,
    event.type,
    event.occurred_date,
    event.product_id,
    event.resource,
    event.ids,
    event.counts,
    event.user_id
   FROM event
UNION ALL
 SELECT audit.xid,
    audit.audit_id AS event_id,
    'biztransaction.posted'::text AS type,
    audit.occurred_date,
    audit.product_id,
    audit.resource,
    COALESCE(audit.record_ids, ARRAY[audit.resource_id]) AS ids,
    NULL::json AS counts,
    audit.user_id
   FROM audit
  WHERE (audit.is_event AND (audit.xid > '2'::xid8));

create view organisation_link as
 SELECT biz_entity_party.organisation_id,
    biz_entity_party.biz_entity_id
   FROM biz_entity_party
  WHERE (biz_entity_party.organisation_id IS NOT NULL)
UNION ALL
 SELECT biz_entity.margin_lender_organisation_id AS organisation_id,
    biz_entity.biz_entity_id
   FROM biz_entity
  WHERE (biz_entity.margin_lender_organisation_id IS NOT NULL);

create view person_link as
 SELECT biz_entity_party.person_id,
    biz_entity_party.biz_entity_id
   FROM biz_entity_party
  WHERE (biz_entity_party.person_id IS NOT NULL)
UNION ALL
 SELECT a.person_id,
    p.biz_entity_id
   FROM (organisation_person a
     JOIN biz_entity_party p USING (organisation_id))
UNION ALL
 SELECT a.person_id,
    e.biz_entity_id
   FROM (organisation_person a
     JOIN biz_entity e ON ((e.margin_lender_organisation_id = a.organisation_id)))
UNION ALL
 SELECT biz_entity.authorized_nominee_person_id AS person_id,
    biz_entity.biz_entity_id
   FROM biz_entity
  WHERE (biz_entity.authorized_nominee_person_id IS NOT NULL)
UNION ALL
 SELECT biz_entity.controlling_pid AS person_id,
    biz_entity.biz_entity_id
   FROM biz_entity
  WHERE (biz_entity.controlling_pid IS NOT NULL)
UNION ALL
 SELECT biz_entity.signature_party AS person_id,
    biz_entity.biz_entity_id
   FROM biz_entity
  WHERE (biz_entity.signature_party IS NOT NULL);

create view person_shown as
 SELECT biz_entity_party.person_id,
    biz_entity_party.biz_entity_id
   FROM biz_entity_party
  WHERE (biz_entity_party.person_id IS NOT NULL)
UNION ALL
 SELECT a.person_id,
    p.biz_entity_id
   FROM (organisation_person a
     JOIN biz_entity_party p USING (organisation_id));

create view transaction_line as
 SELECT t.product_id,
    t.biz_transaction_id,
    t.external_biz_transaction_id,
    t.biz_transaction_type_id,
    t.biz_transaction_status_id,
    t.parent_biz_transaction_id,
    t.account_id,
    t.investment_id,
    t.transaction_date,
    t.investment_price,
    t.amount,
    t.quantity,
    t.entry_fee_amount,
    t.comment,
    t.corporate_action_id,
    t.biz_event_id,
    (t.closing_quantity + COALESCE(m.quantity_shift, (0)::numeric)) AS closing_quantity,
    (t.closing_amount + COALESCE(m.amount_shift, (0)::numeric)) AS closing_amount,
        CASE
            WHEN ((m.gain IS NULL) OR (t.closing_amount IS NULL)) THEN t.closing_cost
            ELSE ((t.closing_amount + m.amount_shift) + g.gain)
        END AS closing_cost,
        CASE
            WHEN ((m.gain IS NULL) OR (t.closing_amount IS NULL)) THEN t.closing_gain
            ELSE g.gain
        END AS closing_gain,
    t.created_date,
    t.updated_date,
    t.carried_cost,
    t.conversion_method_id,
    t.conversion_factor,
    t.entry_fee_percentage,
    t.made_by_quantity
   FROM ((biz_transaction t
     LEFT JOIN LATERAL ( SELECT m_1.product_id,
            m_1.account_id,
            m_1.investment_id,
            m_1.transaction_date,
            m_1.biz_transaction_id,
            m_1.quantity_shift,
            m_1.amount_shift,
            m_1.gain
           FROM closing_mark m_1
          WHERE ((m_1.product_id = t.product_id) AND (m_1.account_id = t.account_id) AND (m_1.investment_id = t.investment_id) AND (ROW(m_1.transaction_date, m_1.biz_transaction_id) <= ROW(t.transaction_date, t.biz_transaction_id)))
          ORDER BY m_1.transaction_date DESC, m_1.biz_transaction_id DESC
         LIMIT 1) m ON (true))
     LEFT JOIN LATERAL ( SELECT COALESCE(realised_gain(m.gain, ((b.closing_quantity + m.quantity_shift) - b.quantity), ((b.closing_amount + m.amount_shift) - b.amount), b.quantity, b.amount, minor_units(i.currency_id) ORDER BY b.transaction_date, b.biz_transaction_id), m.gain) AS gain
           FROM (biz_transaction b
             JOIN investment i ON ((i.investment_id = b.investment_id)))
          WHERE ((m.gain IS NOT NULL) AND (b.product_id = t.product_id) AND (b.account_id = t.account_id) AND (b.investment_id = t.investment_id) AND (b.quantity < (0)::numeric) AND (b.biz_transaction_status_id <> 3) AND (ROW(b.transaction_date, b.biz_transaction_id) >= ROW(m.transaction_date, m.biz_transaction_id)) AND (ROW(b.transaction_date, b.biz_transaction_id) <= ROW(t.transaction_date, t.biz_transaction_id)))) g ON (true));
