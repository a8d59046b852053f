import { rowsOf } from './database.ts'
import type { Service } from './service.ts'

let made = 0
/** A name that no other record of the run has. */
export const unique = (what: string) => `${what}-${process.pid}-${++made}`

/** The smallest valid entity, with the further fields that a test gives. */
export const entityOf = (productID: number, more: object = {}) => ({
  name: 'Ann Example',
  bizEntityTypeID: 1,
  bizEntityStatusID: 1,
  accounts: [{ productID }],
  bizEntityParties: [{ person: { firstName: 'Ann' } }],
  ...more,
})

const tables = [
  'person',
  'organisation',
  'organisation_person',
  'biz_entity',
  'account',
  'biz_entity_party',
  'biz_entity_parent',
  'address',
  'communication',
  'payment_detail',
  'audit',
]

/** A digest of all tables about investors: a refused request must leave it as it was. */
export async function stateOf({ connection }: Service): Promise<string> {
  const parts = tables.map(
    (table) => `select '${table}' as t, md5(coalesce(string_agg(r::text, '' order by r::text), ''))
      as h, count(*) as n from ${table} r`,
  )
  return JSON.stringify(await rowsOf(connection, `${parts.join(' union all ')} order by t`))
}
