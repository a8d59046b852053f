import type pg from 'pg'

/** The size of a register: each entity has a person, an account, contacts and transactions. */
export type Size = {
  name: string
  entities: number
  transactionsPerEntity: number
  /**
   * How long a load runs before it is measured. Copying a register ends with a checkpoint, and
   * after a checkpoint PostgreSQL logs each page whole at its first change: a large register has
   * more such pages.
   */
  warmSeconds: number
}

export const sizes: Record<string, Size> = {
  small: { name: 'small', entities: 10_000, transactionsPerEntity: 10, warmSeconds: 6 },
  middle: { name: 'middle', entities: 50_000, transactionsPerEntity: 4, warmSeconds: 6 },
  broad: { name: 'broad', entities: 100_000, transactionsPerEntity: 10, warmSeconds: 10 },
  large: { name: 'large', entities: 1_000_000, transactionsPerEntity: 10, warmSeconds: 20 },
}

const investments = 12

/**
 * Fills an empty, migrated database with a handful of SQL statements. Every figure follows from the
 * row's number, so that two registers of one size are the same. `verify` finds no fault in them.
 */
export async function fill(client: pg.Client, size: Size, tell: (step: string) => void) {
  const steps: [string, string][] = [
    ['products and investments', productsAndInvestments],
    ['prices', prices],
    ['persons', persons(size.entities)],
    ['entities', entities(size.entities)],
    ['accounts', accounts],
    ['organisations', organisations],
    ['parties', parties],
    ['contacts', contacts],
    ['payment details', paymentDetails],
    ['indexes of the ledger put aside', putIndexesAside],
    ['transactions', transactions(size.transactionsPerEntity)],
    ['account totals', accountTotals],
    ['holdings', holdings],
    ['indexes of the ledger', putIndexesBack],
    ['notices', events],
    ['documents', documents],
    ['audit', audit],
    ['sequences', sequences],
    ['statistics', 'vacuum analyze'],
  ]
  // `replica` turns off the foreign key checks: all references are right by construction, and
  // checking those of ten million rows one by one would take longer than all the rest.
  await client.query(`set synchronous_commit = off; set session_replication_role = replica`)
  await client.query(`set work_mem = '512MB'; set maintenance_work_mem = '1GB'`)
  for (const [name, statement] of steps) {
    const start = performance.now()
    await client.query(statement)
    tell(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`)
  }
}

const productsAndInvestments = `
  insert into product (external_product_id, name, currency_id, is_active)
  values ('BENCH', 'Bench Fund', 1, true);
  insert into investment (product_id, external_investment_id, security_code, name, is_active,
    currency_id, unit_decimals, issue_price)
  select 1, 'I' || n, 'SEC' || n, 'Class ' || n, true, 1, 4, 1
  from generate_series(1, ${investments}) n`

const prices = `
  insert into investment_price (investment_id, price_date, price)
  select i, date '2019-12-31' + m * 30, 1 + (m + i) * 0.0125
  from generate_series(1, ${investments}) i, generate_series(0, 80) m`

const persons = (count: number) => `
  insert into person (person_id, external_person_id, title_id, first_name, last_name, date_of_birth,
    gender, is_director_of_corporate_trustee, is_pep, is_sophisticated_investor, is_trustee,
    taxation_country_code)
  select n, 'P' || n, 1 + n % 5, 'First' || n % 1000, 'Last' || n, date '1950-01-01' + n % 18000,
    (array['M', 'F', 'X'])[1 + n % 3], false, false, false, false, 'AU'
  from generate_series(1, ${count}) n`

const entities = (count: number) => `
  insert into biz_entity (biz_entity_id, product_id, external_biz_entity_id, biz_entity_type_id,
    biz_entity_status_id, name, communication_preference_copy_parent_biz_entity,
    is_director_interest, is_executive_interest, taxation_country_code, created_date, updated_date,
    updated_date_full)
  select n, 1, 'E' || n, 1 + n % 5, 1, 'Entity ' || n, false, false, false, 'AUS', c, c, c
  from generate_series(1, ${count}) n
  cross join lateral (select timestamptz '2020-01-01Z' + n * interval '30 seconds' as c) d`

const accounts = `
  insert into account (account_id, biz_entity_id, product_id, external_account_id, account_number,
    currency_id, drp_type_id, drp_value, account_status_id)
  select biz_entity_id, biz_entity_id, 1, 'A' || biz_entity_id, lpad(biz_entity_id::text, 9, '0'),
    1, 1 + biz_entity_id % 4, 50, 1
  from biz_entity`

const parties = `
  insert into biz_entity_party (biz_entity_id, person_id, is_primary_contact, is_income_receiving,
    is_signatory, is_authorised_nominee, is_power_of_attorney, ordinal)
  select biz_entity_id, biz_entity_id, true, true, true, false, false, 1 from biz_entity`

const organisations = `
  insert into organisation (organisation_id, external_organisation_id, name,
    is_corporate_trustee, licence_active)
  select biz_entity_id / 10, 'O' || biz_entity_id / 10, 'Organisation ' || biz_entity_id / 10,
    false, false
  from biz_entity where biz_entity_id % 10 = 0;
  insert into biz_entity_party (biz_entity_id, organisation_id, is_primary_contact,
    is_income_receiving, is_signatory, is_authorised_nominee, is_power_of_attorney, ordinal)
  select biz_entity_id, biz_entity_id / 10, false, false, false, false, false, 2
  from biz_entity where biz_entity_id % 10 = 0`

const contacts = `
  insert into address (external_address_id, address_type_id, address_line, suburb, postcode,
    state_code, country_code, biz_entity_id)
  select 'AD' || biz_entity_id, 6, biz_entity_id || ' High Street', 'Sydney', '2000', 'NSW', 'AU',
    biz_entity_id
  from biz_entity;
  insert into communication (communication_type_id, name, biz_entity_id)
  select 1, 'entity' || biz_entity_id || '@bench.example', biz_entity_id from biz_entity;
  insert into communication (communication_type_id, name, person_id)
  select 3, '0400 ' || person_id, person_id from person`

const paymentDetails = `
  insert into payment_detail (payment_type_id, biz_entity_id, bsb, account_number, account_name,
    currency_id, is_for_deposit, is_for_distribution, is_for_redemption, is_for_other, is_default)
  select 1, biz_entity_id, '062-000', lpad(biz_entity_id::text, 9, '0'), name, 1, true, true, true,
    false, true
  from biz_entity`

/** Drops the indexes: sorting ten million rows into an index is faster than inserting each. */
const putIndexesAside = `
  create temporary table aside as
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i
    where i.indrelid in ('biz_transaction'::regclass, 'holding'::regclass)
      and not i.indisprimary;
  do $$ declare name text; begin
    for name in select a.name from aside a loop execute 'drop index ' || name; end loop;
  end $$`

const putIndexesBack = `
  do $$ declare definition text; begin
    for definition in select a.definition from aside a loop execute definition; end loop;
  end $$`

/**
 * Allotments half a year apart, in turns into the two holdings of each account. One of the two is
 * of class 1, so every account holds class 1.
 */
const transactions = (each: number) => `
  insert into biz_transaction (product_id, biz_transaction_id, external_biz_transaction_id,
    biz_transaction_type_id, account_id, investment_id, transaction_date, investment_price, amount,
    quantity, closing_quantity, closing_amount, closing_cost, closing_gain)
  select 1, id, 'T' || id, 2, account_id, investment_id, transaction_date, 1, quantity, quantity,
    sum(quantity) over own, sum(quantity) over own, sum(quantity) over own, 0
  from (
    select (j - 1) * (select count(*) from account) + a.account_id as id, a.account_id,
      case when j % 2 = 0 then 1 else 2 + a.account_id % ${investments - 1} end as investment_id,
      date '2020-01-01' + j * 180 + a.account_id % 90 as transaction_date,
      100 + ((a.account_id * 7 + j * 13) % 1000)::numeric as quantity
    from account a, generate_series(1, ${each}) j) t
  window own as (partition by account_id, investment_id order by transaction_date, id)
  order by id`

const accountTotals = `
  insert into ledger_account (product_id, account_id, last_date)
  select 1, account_id, max(transaction_date)
  from biz_transaction group by account_id order by account_id`

const holdings = `
  insert into holding (product_id, account_id, investment_id, quantity, invested_amount,
    cost_amount, realised_gain)
  select 1, account_id, investment_id, sum(quantity), sum(amount), sum(amount), 0
  from biz_transaction group by account_id, investment_id order by account_id, investment_id`

const events = `
  insert into biz_event (product_id, biz_event_type_id, biz_event_status_id, account_id,
    investment_id, biz_event_date, amount, external_transaction_id)
  select 1, 1, 1 + account_id % 3, account_id, 1, date '2026-01-01' + account_id % 300, 100,
    'N' || account_id
  from account`

const documents = `
  insert into document (external_document_id, document_type_id, name, product_id, biz_entity_id,
    show_in_documents_in_portal, is_public)
  select 'D' || biz_entity_id, 1 + biz_entity_id % 3, 'Document ' || biz_entity_id, 1,
    biz_entity_id, true, biz_entity_id % 1000 = 0
  from biz_entity where biz_entity_id % 10 = 1`

const audit = `
  insert into audit (user_id, username, operation, resource, resource_id, product_id, changes,
    request_id)
  select 1, 'bench', 'POST /BizEntity', 'BizEntity', biz_entity_id, 1, '{}', 'bench'
  from biz_entity`

const sequences = `
  select setval(pg_get_serial_sequence('person', 'person_id'), (select max(person_id) from person)),
    setval(pg_get_serial_sequence('biz_entity', 'biz_entity_id'),
      (select max(biz_entity_id) from biz_entity)),
    setval(pg_get_serial_sequence('organisation', 'organisation_id'),
      (select max(organisation_id) from organisation)),
    setval(pg_get_serial_sequence('account', 'account_id'), (select max(account_id) from account)),
    setval(pg_get_serial_sequence('biz_transaction', 'biz_transaction_id'),
      (select max(biz_transaction_id) from biz_transaction))`
