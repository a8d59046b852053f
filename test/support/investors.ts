import { rowsOf } from './database.ts'
import type { Service } from './service.ts'

let made = 0
/** A name that no other record of the run has. */
export const unique = (what: string) => `${what}-${process.pid}-${++made}`

/** The least an entity can be, with more where a test says so. */
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

/** Everything there is about investors, as one text: equal before and after what is refused. */
export async function stateOf({ connection }: Service): Promise<string> {
  const parts = tables.map(
    (table) => `select '${table}' as t, md5(coalesce(string_agg(r::text, '' order by r::text), ''))
      as h, count(*) as n from ${table} r`,
  )
  return JSON.stringify(await rowsOf(connection, `${parts.join(' union all ')} order by t`))
}
