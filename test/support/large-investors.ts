import pg from 'pg'
import { freshDatabase } from './database.ts'

/** The tables with many rows here; no read may scan one of them completely. */
export const largeTables = [
  'person',
  'organisation',
  'organisation_person',
  'biz_entity',
  'account',
  'biz_entity_party',
  'biz_entity_parent',
  'address',
  'communication',
  'payment_detail',
  'holding',
  'biz_transaction',
]

const flags = 'false, false, false, false, false'
const statements = (count: number) => `
  insert into product (name, external_product_id, currency_id, is_active)
    select 'P' || n, 'P' || n, 1, true from generate_series(1, 20) n;
  insert into person (external_person_id, first_name, is_director_of_corporate_trustee, is_pep,
      is_sophisticated_investor, is_trustee)
    select 'PER' || n, 'F' || n, false, false, false, false from generate_series(1, ${count}) n;
  insert into organisation (external_organisation_id, name, is_corporate_trustee, licence_active)
    select 'ORG' || n, 'O' || n, false, false from generate_series(1, ${count / 4}) n;
  insert into organisation_person (organisation_id, person_id, is_signatory, ordinal)
    select n, n * 3, true, 1 from generate_series(1, ${count / 4}) n;
  insert into biz_entity (product_id, external_biz_entity_id, biz_entity_type_id,
      biz_entity_status_id, name, communication_preference_copy_parent_biz_entity,
      is_director_interest, is_executive_interest, created_date, updated_date, updated_date_full)
    select n % 20 + 1, 'ENT' || n, n % 5 + 1, 1, 'N' || n, false, false, false, d, d, d
    from generate_series(1, ${count}) n,
      lateral (select '2026-01-01'::timestamptz + n * interval '1 s' as d) t;
  insert into account (biz_entity_id, product_id, external_account_id, account_number, currency_id,
      drp_type_id, account_status_id)
    select n, n % 20 + 1, 'ACC' || n, (5000000 + n)::text, 1, 1, 1
    from generate_series(1, ${count}) n;
  insert into biz_entity_party (biz_entity_id, person_id, is_primary_contact, is_income_receiving,
      is_signatory, is_authorised_nominee, is_power_of_attorney)
    select n, n, ${flags} from generate_series(1, ${count}) n;
  insert into biz_entity_party (biz_entity_id, organisation_id, is_primary_contact,
      is_income_receiving, is_signatory, is_authorised_nominee, is_power_of_attorney)
    select n * 4, n, ${flags} from generate_series(1, ${count / 4}) n;
  insert into biz_entity_parent (biz_entity_id, parent_biz_entity_id, active_from)
    select n * 2, n * 2 - 1, '2026-01-01' from generate_series(1, ${count / 2}) n;
  insert into address (biz_entity_id, suburb) select n, 'S' from generate_series(1, ${count}) n;
  insert into address (person_id, external_address_id)
    select n, 'ADR' || n from generate_series(1, ${count}) n;
  insert into communication (person_id, communication_type_id, name, external_communication_id)
    select n, 1, n || '@example.com', 'COM' || n from generate_series(1, ${count}) n;
  insert into payment_detail (biz_entity_id, external_payment_detail_id, is_for_deposit,
      is_for_distribution, is_for_redemption, is_for_other, is_default)
    select n, 'PAY' || n, ${flags} from generate_series(1, ${count}) n;
  insert into investment (product_id, external_investment_id, security_code, is_active, currency_id,
      unit_decimals)
    select p, 'I' || i, 'S' || i, true, 1, 4 from generate_series(1, 20) p, generate_series(1, 3) i;
  insert into investment_price (investment_id, price_date, price)
    select investment_id, d::date, 1.5 from investment,
      generate_series('2026-01-01'::date, '2026-02-01', '1 day') d;
  insert into holding (product_id, account_id, investment_id, quantity, invested_amount,
      cost_amount, realised_gain)
    select a.product_id, a.account_id, i.investment_id, 100, 100, 100, 0
    from account a join investment i on i.product_id = a.product_id and i.security_code <> 'S3';
  insert into biz_transaction (product_id, biz_transaction_type_id, account_id, investment_id,
      transaction_date, amount, quantity)
    select product_id, 1, account_id, investment_id, '2026-01-01', 100, 100 from holding`

/** A database with this many entities and the records that belong to them. */
export async function largeInvestors(count: number): Promise<pg.ClientConfig> {
  const connection = await freshDatabase()
  const client = new pg.Client(connection)
  await client.connect()
  // All references are right; checking a million foreign keys took most of the time.
  await client.query('set session_replication_role = replica')
  for (const statement of statements(count).split(';')) await client.query(statement)
  await client.query('analyze')
  await client.end()
  return connection
}
