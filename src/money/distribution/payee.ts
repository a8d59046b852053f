import { raw } from 'sql-template-tag'

/**
 * The bank account that takes the distributions of account e.account_id, the default first, as it
 * is now. Looked up row by row: a join might compare each of a million rows with all the others.
 */
export const payee = raw(`
  select d.payment_detail_id, d.account_name, d.bsb, d.account_number, d.iban
  from account a join payment_detail d on d.biz_entity_id = a.biz_entity_id
  where a.account_id = e.account_id and d.is_for_distribution
  order by d.is_default desc, d.payment_detail_id limit 1`)
