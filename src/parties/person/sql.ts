import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import type { Fragment, Sql } from '../../platform/sql/handle.ts'
import { identified, namesAny } from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { defineTable } from '../../platform/sql/rows.ts'
import { Address } from '../address/schema.ts'
import { addressKind } from '../address/sql.ts'
import { Communication } from '../communication/schema.ts'
import { communicationKind } from '../communication/sql.ts'
import { personParameter } from '../investor/identities.ts'
import { listOf } from '../investor/owned-kind.ts'
import { visiblePerson } from '../investor/scope.ts'
import { pageOfSeen, seenPersons } from '../investor/seen.ts'
import { Person, type PersonQuery, PersonRecord } from './schema.ts'

export const personTable = defineTable('person', {
  key: 'person_id',
  record: PersonRecord,
  inOrderOf: 'external_person_id',
  contested: 'person_external_id_unique',
  keepsVersions: true,
  updatedDate: true,
})

const personColumns = columns(Person, 'p')
const addressesOf = listOf(addressKind.table, Address, 'person', 'p')
const communicationsOf = listOf(communicationKind.table, Communication, 'person', 'p')

/** Persons with their addresses and communications, from the table or from a page of it. */
export const selectPerson = (where: Fragment, from = sql`person`) => sql`
  select ${personColumns},
    ${addressesOf} as addresses, ${communicationsOf} as communications
  from ${from} p where ${where}`

export const readPersons = (handle: Sql, actor: Actor, query: PersonQuery) =>
  renderPage(handle, query, {
    key: ['personID'],
    rows: (wanted) => {
      const visible = visiblePerson(actor, 'p.person_id')
      if (actor.productIDs !== null && !namesAny(personParameter, query))
        return pageOfSeen(wanted, { table: 'person', alias: 'p', visible, ids: seenPersons(actor) })
      return sql`
        select * from person p
        where ${identified(personParameter, query, 'p')} and ${visible}
        ${page(wanted, 'person p', 'p.person_id')}`
    },
    show: (rows) => selectPerson(sql`true order by p.person_id`, sql`(${rows})`),
  })

export const personsByID = (ids: readonly number[]) =>
  selectPerson(sql`p.person_id = any(${ids}::int[]) order by p.person_id`)
