import { raw } from 'sql-template-tag'

/**
 * The present bank account for distributions of e.investment_id to account e.account_id. One in the
 * investment's currency is preferred, then the default one. The laterals are nested so that each
 * row is looked up alone: a join might compare each of a million rows with all others (see
 * once.ts), and Citus does not accept a subselect in a condition here.
 */
export const payee = raw(`
  select d.* from (
    select a.biz_entity_id from account a where a.account_id = e.account_id offset 0) a
  cross join lateral (
    select i.currency_id from investment i where i.investment_id = e.investment_id offset 0) i
  cross join lateral (
    select d.payment_detail_id, d.account_name, d.bsb, d.account_number, d.iban
    from payment_detail d
    where d.biz_entity_id = a.biz_entity_id and d.is_for_distribution
    order by coalesce(d.currency_id, i.currency_id) = i.currency_id desc, d.is_default desc,
      d.payment_detail_id limit 1) d`)
