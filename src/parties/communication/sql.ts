import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { identified } from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { defineTable } from '../../platform/sql/rows.ts'
import { type OwnedKind, ownerColumns } from '../investor/owned-kind.ts'
import { visibleOwned } from '../investor/scope.ts'
import {
  Communication,
  type CommunicationQuery,
  communicationParameter,
  communicationReference,
  NestedCommunication,
} from './schema.ts'

const communicationColumns = columns(Communication, 't', {
  externalBizEntityId: 'be.external_biz_entity_id',
  externalPersonId: 'pe.external_person_id',
  externalOrganisationId: 'og.external_organisation_id',
})

export const selectCommunication = (where: Fragment, from = sql`communication`) => sql`
  select ${communicationColumns}
  from ${from} t
  left join biz_entity be on be.biz_entity_id = t.biz_entity_id
  left join person pe on pe.person_id = t.person_id
  left join organisation og on og.organisation_id = t.organisation_id
  where ${where}`

const owners = ['bizEntity', 'person', 'organisation'] as const

export const communicationKind: OwnedKind = {
  what: 'communication',
  table: defineTable('communication', {
    key: 'communication_id',
    record: NestedCommunication,
    others: ownerColumns(owners),
    // Email addresses are unique on the platform: requests that bring the same ones meet here.
    inOrderOf: 'name',
    keepsVersions: true,
  }),
  owners,
  reference: communicationReference,
  parameter: communicationParameter,
  record: Communication,
  select: (where) => selectCommunication(where),
}

export const readCommunications = (handle: Sql, actor: Actor, query: CommunicationQuery) =>
  renderPage(handle, query, {
    key: ['communicationID'],
    rows: (wanted) => sql`
      select * from communication t
      where ${identified(communicationParameter, query, 't')}
        and ${visibleOwned(actor, 't', owners)}
      ${page(wanted, 'communication t', 't.communication_id')}`,
    show: (rows) => selectCommunication(sql`true order by t.communication_id`, sql`(${rows})`),
  })
