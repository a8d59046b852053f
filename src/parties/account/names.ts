import { raw } from 'sql-template-tag'

/**
 * What answers about the ledger show of an account and its investor, for rows under an alias.
 * Looked up row by row: how long a page is stands in a parameter, and a planner that cannot know it
 * might read all the accounts there are.
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
