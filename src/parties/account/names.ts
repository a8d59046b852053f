import { raw } from 'sql-template-tag'

/**
 * The fields of an account and its investor that answers about the ledger show, for rows under an
 * alias. They are looked up row by row: the page size is a parameter that the planner does not
 * know, and otherwise it might read all accounts.
 */
export const accountNames = (alias: string) =>
  raw(`cross join lateral (
    select a.external_account_id, a.account_number, e.biz_entity_id, e.external_biz_entity_id,
      e.name as biz_entity_name
    from account a
    cross join lateral (
      select e.biz_entity_id, e.external_biz_entity_id, e.name from biz_entity e
      where e.biz_entity_id = a.biz_entity_id limit 1) e
    where a.account_id = ${alias}.account_id limit 1) a`)
