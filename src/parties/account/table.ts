import sql from 'sql-template-tag'
import { constraints } from '../../platform/constraints.ts'
import { type Problem, refuseAll } from '../../platform/refusal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { defineTable, type PathOf, type Row } from '../../platform/sql/rows.ts'
import { AccountRecord } from './schema.ts'

/** What is unique in a product, with the constraint that says so. */
const uniqueColumns = [
  ['external_account_id', constraints.account_external_id_unique!],
  ['account_number', constraints.account_number_unique!],
] as const

/**
 * Refuses all new accounts of a request whose external id or number is taken, also by an earlier
 * account of the request: a file that is imported again has thousands. A single account is left to
 * the unique constraints, which report it just as well.
 */
async function refuseTaken(tx: Tx, rows: readonly Row[], pathOf: PathOf) {
  if (rows.length < 2) return
  const found = await tx.query<Row>(sql`
    select product_id, external_account_id, account_number from account
    where product_id = any(${[...new Set(rows.map((row) => row.product_id))]}::int[])
      and (external_account_id = any(${rows.map((row) => row.external_account_id)}::text[])
        or account_number = any(${rows.map((row) => row.account_number)}::text[]))`)
  const problems = uniqueColumns.flatMap(([column, { status: _, field, ...problem }]) => {
    const keyOf = (row: Row) => `${row.product_id} ${row[column]}`
    const taken = new Set(found.map(keyOf))
    return rows.flatMap((row): Problem[] => {
      if (row[column] === null) return []
      if (taken.has(keyOf(row))) return [{ ...problem, field: inside(pathOf(row), field!) }]
      taken.add(keyOf(row))
      return []
    })
  })
  refuseAll(409, problems)
}

export const accountTable = defineTable('account', {
  key: 'account_id',
  record: AccountRecord,
  others: { biz_entity_id: 'integer' },
  refuseTaken,
  keepsVersions: true,
})
