import sql, { raw } from 'sql-template-tag'
import { columns, one } from '../../platform/sql/render.ts'
import { Account } from '../account/schema.ts'
import { Address } from '../address/schema.ts'
import { addressKind } from '../address/sql.ts'
import { Communication } from '../communication/schema.ts'
import { communicationKind } from '../communication/sql.ts'
import { listOf } from '../investor/owned-kind.ts'
import { selectOrganisation } from '../organisation/sql.ts'
import { BizEntityParty } from './party-schema.ts'
import { BizEntity } from './schema.ts'

/** What answers show of entities b, accounts a and parties y. A select must use these aliases. */

export const entityColumns = columns(BizEntity, 'b')
export const addressesOf = listOf(addressKind.table, Address, 'bizEntity', 'b')
export const communicationsOf = listOf(communicationKind.table, Communication, 'bizEntity', 'b')
export const accountColumns = columns(Account, 'a', {
  externalProductId: 'pr.external_product_id',
  balance: 'coalesce(bal.balance, 0)',
  balances: `coalesce(bal.balances, '[]')`,
})
export const partyColumns = columns(BizEntityParty, 'y', {
  externalOrganisationId: 'yo.external_organisation_id',
  externalPersonId: 'yp.external_person_id',
})
export const organisationOfParty = sql`case when y.organisation_id is not null
      then ${one(selectOrganisation(sql`o.organisation_id = y.organisation_id`))} end`
export const namesOfOrganisation = raw(
  'left join organisation yo on yo.organisation_id = y.organisation_id',
)
