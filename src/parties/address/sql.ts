import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { invalid } from '../../platform/refusal.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { identified, namesAny, noSuch } from '../../platform/sql/identify.ts'
import { columns, renderOne } from '../../platform/sql/render.ts'
import { defineTable } from '../../platform/sql/rows.ts'
import { refuseTakenIDs } from '../../platform/sql/taken.ts'
import { type OwnedKind, ownerColumns } from '../investor/owned-kind.ts'
import { visibleOwned } from '../investor/scope.ts'
import {
  Address,
  type AddressKey,
  addressParameter,
  addressReference,
  NestedAddress,
} from './schema.ts'

const addressColumns = columns(Address, 't', {
  externalBizEntityId: 'be.external_biz_entity_id',
  externalPersonId: 'pe.external_person_id',
  externalOrganisationId: 'og.external_organisation_id',
})

const selectAddress = (where: Fragment) => sql`
  select ${addressColumns}
  from address t
  left join biz_entity be on be.biz_entity_id = t.biz_entity_id
  left join person pe on pe.person_id = t.person_id
  left join organisation og on og.organisation_id = t.organisation_id
  where ${where}`

const owners = ['bizEntity', 'person', 'organisation'] as const

export const addressKind: OwnedKind = {
  what: 'address',
  table: defineTable('address', {
    key: 'address_id',
    record: NestedAddress,
    others: ownerColumns(owners),
    inOrderOf: 'external_address_id',
    refuseTaken: refuseTakenIDs('address'),
    keepsVersions: true,
  }),
  owners,
  reference: addressReference,
  parameter: addressParameter,
  record: Address,
  select: selectAddress,
  fixedExternalID: true,
}

export async function readAddress(handle: Sql, actor: Actor, key: AddressKey) {
  if (!namesAny(addressParameter, key))
    throw invalid(
      'required',
      'Either AddressID or ExternalAddressId must be provided.',
      'AddressID',
    )
  const answer = await renderOne(
    handle,
    selectAddress(
      sql`${identified(addressParameter, key, 't')} and ${visibleOwned(actor, 't', owners)}`,
    ),
  )
  if (!answer) throw noSuch(addressParameter, key)
  return answer
}
