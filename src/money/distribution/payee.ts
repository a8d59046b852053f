import { raw } from 'sql-template-tag'

/**
 * The bank account that takes the distributions of account e.account_id, the default first, as it
 * is now. Looked up row by row, one in the other: a join might compare each of a million rows with
 * all the others (see once.ts), and a select in a condition Citus does not take here.
 */
export const payee = raw(`
  select d.* from (
    select a.biz_entity_id from account a where a.account_id = e.account_id offset 0) a
  cross join lateral (
    select d.payment_detail_id, d.account_name, d.bsb, d.account_number, d.iban
    from payment_detail d
    where d.biz_entity_id = a.biz_entity_id and d.is_for_distribution
    order by d.is_default desc, d.payment_detail_id limit 1) d`)
