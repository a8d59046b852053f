import type pg from 'pg'
import { rowsOf } from './database.ts'

/** Transactions of each account; few, so that the ledger has many accounts, not long histories. */
const perAccount = 50

/**
 * Writes a large ledger straight into the tables, with right closing figures. There are three
 * products, of which the first has nearly all accounts, with three investments each. Every holding
 * has a deposit and then redemptions; a tenth of all transactions have an external id.
 */
export async function fillLedger(connection: pg.ClientConfig, transactions: number) {
  const accounts = Math.ceil(transactions / perAccount)
  const run = (text: string) => rowsOf(connection, text)
  await run(`
    insert into product (external_product_id, name, currency_id, is_active)
    select 'LARGE-' || n, 'Large ' || n, 1, true from generate_series(1, 3) n;
    insert into investment (product_id, external_investment_id, security_code, name, is_active,
      currency_id, unit_decimals)
    select product_id, 'I' || n, 'S' || n, 'Class ' || n, true, 1, 4
    from product, generate_series(1, 3) n order by product_id, n;
    insert into investment_price (investment_id, price_date, price)
    select investment_id, '2000-01-01'::date + n, 1 from investment, generate_series(1, 500) n;
    insert into biz_entity (product_id, biz_entity_type_id, biz_entity_status_id, name,
      communication_preference_copy_parent_biz_entity, is_director_interest, is_executive_interest)
    select case when n % 50 < 48 then 1 else n % 50 - 46 end, 1, 1, 'Investor ' || n, false, false,
      false
    from generate_series(1, ${accounts}) n;
    insert into account (biz_entity_id, product_id, external_account_id, account_number,
      currency_id, drp_type_id, account_status_id)
    select biz_entity_id, product_id, 'A-' || biz_entity_id, 'N' || biz_entity_id, 1, 1, 1
    from biz_entity order by biz_entity_id`)
  await run(`
    insert into ledger_account (product_id, account_id, last_date)
    select product_id, account_id, '2001-01-01' from account;
    insert into holding (product_id, account_id, investment_id, quantity, invested_amount,
      cost_amount, realised_gain)
    select product_id, account_id, investment_id, 0, 0, 0, 0
    from account join investment using (product_id)`)
  await run(`
    with line as (
      select a.product_id, a.account_id, 3 * (a.product_id - 1) + 1 + k % 3 as investment_id,
        '2000-02-01'::date + k * 7 + a.account_id % 7 as transaction_date,
        case when k < 3 then 1000 else -1 - k % 5 end as quantity, k, a.account_id as n
      from account a cross join generate_series(0, ${perAccount - 1}) k),
    numbered as (
      select *, row_number() over (order by transaction_date, account_id, k) as id from line)
    insert into biz_transaction (product_id, biz_transaction_id, external_biz_transaction_id,
      biz_transaction_type_id, account_id, investment_id, transaction_date, investment_price,
      amount, quantity, closing_quantity, closing_amount, closing_cost, closing_gain)
    select product_id, id, case when id % 10 = 0 then 'X-' || id end,
      case when quantity > 0 then 1 else 3 end, account_id, investment_id, transaction_date, 1,
      quantity, quantity, sum(quantity) over own, sum(quantity) over own, sum(quantity) over own, 0
    from numbered
    window own as (partition by account_id, investment_id order by transaction_date, id)
    order by id`)
  await run(`
    update holding h set quantity = s.total, invested_amount = s.total, cost_amount = s.total
    from (select account_id, investment_id, sum(quantity) as total from biz_transaction
      group by account_id, investment_id) s
    where s.account_id = h.account_id and s.investment_id = h.investment_id;
    update ledger_account a set last_date = s.last
    from (select account_id, max(transaction_date) as last
      from biz_transaction group by account_id) s
    where s.account_id = a.account_id;
    insert into audit (operation, resource, resource_ids, request_id)
    select 'seed', 'BizTransaction', array_agg(biz_transaction_id), 'seed'
    from biz_transaction group by biz_transaction_id / 10000;
    insert into biz_event (product_id, account_id, investment_id, biz_event_type_id, biz_event_date,
      amount)
    select product_id, account_id, investment_id, 1, '2001-01-01', 10 from holding;
    select setval('biz_transaction_biz_transaction_id_seq',
      (select max(biz_transaction_id) from biz_transaction));`)
  await run('vacuum analyze')
}
