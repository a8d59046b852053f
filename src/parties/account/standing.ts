import { raw } from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'

const { AccountStatus: account, BizEntityStatus: entity } = lookups

/**
 * SQL for the standing of an account, by the aliases of the account and of its entity. An inactive
 * entity suspends its accounts, and a closed entity closes them.
 */
export const standing = (a: string, e: string) =>
  raw(`case
    when ${a}.account_status_id = ${account.Closed}
      or ${e}.biz_entity_status_id = ${entity.Closed} then 'closed'
    when ${a}.account_status_id = ${account.Suspended}
      or ${e}.biz_entity_status_id = ${entity.Inactive} then 'suspended'
    else 'open' end`)
