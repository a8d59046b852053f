import sql from 'sql-template-tag'
import { constraints } from '../../platform/constraints.ts'
import { refuseAll } from '../../platform/refusal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { defineTable, type PathOf, type Row } from '../../platform/sql/rows.ts'
import { accountTable } from '../account/table.ts'
import { addressKind } from '../address/sql.ts'
import { communicationKind } from '../communication/sql.ts'
import { associationTable, organisationTable } from '../organisation/sql.ts'
import { paymentDetailKind } from '../payment-detail/sql.ts'
import { personTable } from '../person/sql.ts'
import { parentTable } from './parents.ts'
import { partyTable } from './parties.ts'
import { BizEntityRecord } from './schema.ts'

/**
 * Refuses all entities of a request whose external id is taken: a file that is imported again has
 * thousands. A single entity is left to the unique constraint, which reports it just as well.
 */
async function refuseTaken(tx: Tx, rows: readonly Row[], pathOf: PathOf) {
  const named = rows.filter((row) => row.external_biz_entity_id !== null)
  if (named.length < 2) return
  const ids = named.map((row) => row.external_biz_entity_id)
  const found = await tx.query<{ external: string }>(sql`
    select external_biz_entity_id as external from biz_entity
    where external_biz_entity_id = any(${ids}::text[])`)
  const taken = new Set<unknown>(found.map(({ external }) => external))
  const { status, field, ...problem } = constraints.biz_entity_external_id_unique!
  refuseAll(
    status,
    named.flatMap((row) =>
      taken.has(row.external_biz_entity_id)
        ? [{ ...problem, field: inside(pathOf(row), field!) }]
        : [],
    ),
  )
}

export const entityTable = defineTable('biz_entity', {
  key: 'biz_entity_id',
  record: BizEntityRecord,
  others: { product_id: 'integer' },
  inOrderOf: 'external_biz_entity_id',
  refuseTaken,
  keepsVersions: true,
  updatedDate: true,
})

/** Tables whose rows belong to an entity and are deleted with it. */
export const ownedTables = [
  accountTable,
  partyTable,
  parentTable,
  addressKind.table,
  communicationKind.table,
  paymentDetailKind.table,
]

/** All tables of entities, in writing order: a table follows the tables that it refers to. */
export const tables = [
  personTable,
  organisationTable,
  associationTable,
  entityTable,
  ...ownedTables,
]
