import type pg from 'pg'

/**
 * Inserts a product with two investments, and thousands of holders of the first, with a handful of
 * SQL statements. The rows are as if each had been posted, so `verify` finds no fault in them. The
 * holders take the four DRP types in turns, and each has a bank account.
 */
export async function seedHolders(client: pg.Client, count: number) {
  const {
    rows: [product],
  } = await client.query(
    `insert into product (name, currency_id, is_active) values ('Large', 1, true)
    returning product_id as id`,
  )
  const productID: number = product.id
  const { rows: investments } = await client.query(
    `insert into investment (product_id, security_code, name, is_active, currency_id, unit_decimals)
    values ($1, 'ONE', 'One', true, 1, 4), ($1, 'TWO', 'Two', true, 1, 4)
    returning investment_id as id`,
    [productID],
  )
  const investmentIDs: number[] = investments.map(({ id }) => id)
  for (const statement of statements) await client.query(statement, [productID, count])
  await client.query(
    `with posted as (
      insert into biz_transaction (product_id, biz_transaction_type_id, account_id, investment_id,
        transaction_date, investment_price, amount, quantity, closing_quantity, closing_amount,
        closing_cost, closing_gain)
      select product_id, 2, account_id, $2, last_date, 1, quantity, quantity, quantity, quantity,
        quantity, 0
      from (
        select *, 100 + account_id % 1000 as quantity from ledger_account
        where product_id = $1) l
      returning *),
    held as (
      insert into holding (product_id, account_id, investment_id, quantity, invested_amount,
        cost_amount, realised_gain)
      select product_id, account_id, investment_id, quantity, amount, amount, 0 from posted)
    insert into audit (operation, resource, resource_ids, product_id, request_id)
    select 'POST /BizTransaction/Allotment', 'BizTransaction', array_agg(biz_transaction_id), $1,
      'seed' from posted`,
    [productID, investmentIDs[0]],
  )
  return { productID, investmentIDs }
}

const statements = [
  `insert into biz_entity (product_id, biz_entity_type_id, biz_entity_status_id, name,
    communication_preference_copy_parent_biz_entity, is_director_interest, is_executive_interest)
  select $1::int, 1, 1, 'Holder ' || n, false, false, false from generate_series(1, $2::int) n`,
  `insert into account (biz_entity_id, product_id, account_number, currency_id, drp_type_id,
    drp_value, account_status_id)
  select biz_entity_id, product_id, 'L' || biz_entity_id, 1, 1 + biz_entity_id % 4, 50, 1
  from biz_entity where product_id = $1::int order by 1 limit $2::int`,
  `insert into payment_detail (biz_entity_id, payment_type_id, account_number, is_for_deposit,
    is_for_distribution, is_for_redemption, is_for_other, is_default)
  select biz_entity_id, 1, '1', false, true, false, false, false
  from biz_entity where product_id = $1::int limit $2::int`,
  `insert into ledger_account (product_id, account_id, last_date)
  select product_id, account_id, date '2025-01-01' from account
  where product_id = $1::int order by account_id limit $2::int`,
]
