import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { identified, namesAny } from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns, many, one } from '../../platform/sql/render.ts'
import { defineTable } from '../../platform/sql/rows.ts'
import { Address } from '../address/schema.ts'
import { addressKind } from '../address/sql.ts'
import { Communication } from '../communication/schema.ts'
import { communicationKind } from '../communication/sql.ts'
import { organisationParameter } from '../investor/identities.ts'
import { listOf } from '../investor/owned-kind.ts'
import { visibleOrganisation } from '../investor/scope.ts'
import { pageOfSeen, seenOrganisations } from '../investor/seen.ts'
import { selectPerson } from '../person/sql.ts'
import { Organisation, type OrganisationQuery, OrganisationRecord, Relationship } from './schema.ts'

export const organisationTable = defineTable('organisation', {
  key: 'organisation_id',
  record: OrganisationRecord,
  inOrderOf: 'external_organisation_id',
  contested: 'organisation_external_id_unique',
  keepsVersions: true,
  updatedDate: true,
})

/** The associated persons of an organisation, whose rows are replaced as a whole. */
export const associationTable = defineTable('organisation_person', {
  key: 'organisation_id',
  record: Relationship,
  others: { organisation_id: 'integer', person_id: 'integer', ordinal: 'integer' },
})

const organisationColumns = columns(Organisation, 'o')
const addressesOf = listOf(addressKind.table, Address, 'organisation', 'o')
const communicationsOf = listOf(communicationKind.table, Communication, 'organisation', 'o')

const selectAssociated = sql`
  select a.person_id as "personID", ap.external_person_id as "externalPersonId",
    a.relationship_type_id as "relationshipTypeID", a.is_signatory as "isSignatory",
    ${one(selectPerson(sql`p.person_id = a.person_id`))} as person
  from organisation_person a join person ap on ap.person_id = a.person_id
  where a.organisation_id = o.organisation_id order by a.ordinal`

/**
 * Organisations with their persons, addresses and communications, from the table or from a page of
 * it.
 */
export const selectOrganisation = (where: Fragment, from = sql`organisation`) => sql`
  select ${organisationColumns},
    ${many(selectAssociated)} as "associatedPersons",
    ${addressesOf} as addresses, ${communicationsOf} as communications
  from ${from} o where ${where}`

export const readOrganisations = (handle: Sql, actor: Actor, query: OrganisationQuery) =>
  renderPage(handle, query, {
    key: ['organisationID'],
    rows: (wanted) => {
      const visible = visibleOrganisation(actor, 'o.organisation_id')
      const ids = seenOrganisations(actor)
      if (actor.productIDs !== null && !namesAny(organisationParameter, query))
        return pageOfSeen(wanted, { table: 'organisation', alias: 'o', visible, ids })
      return sql`
        select * from organisation o
        where ${identified(organisationParameter, query, 'o')} and ${visible}
        ${page(wanted, 'organisation o', 'o.organisation_id')}`
    },
    show: (rows) => selectOrganisation(sql`true order by o.organisation_id`, sql`(${rows})`),
  })

export const organisationsByID = (ids: readonly number[]) =>
  selectOrganisation(sql`o.organisation_id = any(${ids}::int[]) order by o.organisation_id`)
