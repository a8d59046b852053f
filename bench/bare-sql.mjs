/** Writes the transaction, holding and audit row of deposits; returns each transaction as JSON. */
const deposits = (given) => `
  with given as (${given}),
  priced as (
    select g.*, v.price from given g cross join lateral (
      select p.price from investment_price p
      where p.investment_id = g.investment_id and p.price_date <= g.transaction_date
      order by p.price_date desc limit 1) v),
  written as (
    insert into bare.transaction (account_id, investment_id, transaction_date, price, amount,
      quantity)
    select account_id, investment_id, transaction_date, price, amount, round(amount / price, 4)
    from priced returning *),
  held as (
    insert into bare.holding as h (account_id, investment_id, quantity, amount)
    select account_id, investment_id, quantity, amount from written
    on conflict (account_id, investment_id) do update
      set quantity = h.quantity + excluded.quantity, amount = h.amount + excluded.amount),
  audited as (
    insert into bare.audit (username, operation, transaction_id, changes)
    select 'bench', 'POST /BizTransaction/Deposit', transaction_id, row_to_json(written)
    from written)
  select row_to_json(written)::text as json from written`

const columns = 'account_id, investment_id, transaction_date, amount'
export const bareDeposit = deposits(`select * from (
  values ($1::int, $2::int, $3::date, $4::numeric)) g (${columns})`)
export const bareDeposits = deposits(`select * from
  unnest($1::int[], $2::int[], $3::date[], $4::numeric[]) g (${columns})`)

/** An entity with the records that belong to it, as seven sub-selects. */
export const entitySQL = (condition) => `
    select b.*,
      (select json_agg(a) from account a where a.biz_entity_id = b.biz_entity_id) as accounts,
      (select json_agg(d) from address d where d.biz_entity_id = b.biz_entity_id) as addresses,
      (select json_agg(c) from communication c where c.biz_entity_id = b.biz_entity_id)
        as communications,
      (select json_agg(y) from payment_detail y where y.biz_entity_id = b.biz_entity_id)
        as payment_details,
      (select json_agg(t) from biz_entity_party t where t.biz_entity_id = b.biz_entity_id)
        as parties,
      (select json_agg(p) from biz_entity_party t join person p on p.person_id = t.person_id
        where t.biz_entity_id = b.biz_entity_id) as persons,
      (select sum(h.quantity) from account a join holding h
          on h.product_id = a.product_id and h.account_id = a.account_id
        where a.biz_entity_id = b.biz_entity_id) as balance
    from biz_entity b where ${condition}`
