import { defineTable } from '../../platform/sql/rows.ts'
import { refuseTakenIDs } from '../../platform/sql/taken.ts'
import { accountTable } from '../account/table.ts'
import { addressKind } from '../address/sql.ts'
import { communicationKind } from '../communication/sql.ts'
import { associationTable, organisationTable } from '../organisation/sql.ts'
import { paymentDetailKind } from '../payment-detail/sql.ts'
import { personTable } from '../person/sql.ts'
import { parentTable } from './parents.ts'
import { partyTable } from './parties.ts'
import { BizEntityRecord } from './schema.ts'

export const entityTable = defineTable('biz_entity', {
  key: 'biz_entity_id',
  record: BizEntityRecord,
  others: { product_id: 'integer' },
  inOrderOf: 'external_biz_entity_id',
  refuseTaken: refuseTakenIDs('biz_entity'),
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
