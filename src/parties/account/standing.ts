import { raw } from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'

const { AccountStatus: account, BizEntityStatus: entity } = lookups

/**
 * How an account stands, in SQL, for the aliases of an account and of its entity: an entity that is
 * inactive or closed acts on its accounts as one that is suspended or closed.
 */
export const standing = (a: string, e: string) =>
  raw(`case
    when ${a}.account_status_id = ${account.Closed}
      or ${e}.biz_entity_status_id = ${entity.Closed} then 'closed'
    when ${a}.account_status_id = ${account.Suspended}
      or ${e}.biz_entity_status_id = ${entity.Inactive} then 'suspended'
    else 'open' end`)
