import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { constraints } from '../../platform/constraints.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { refuseAll } from '../../platform/refusal.ts'
import { inside } from '../../platform/shape/path.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { identified, namesAny } from '../../platform/sql/identify.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns } from '../../platform/sql/render.ts'
import { defineTable, type PathOf, type Row } from '../../platform/sql/rows.ts'
import { refuseTakenIDs } from '../../platform/sql/taken.ts'
import { type OwnedKind, ownerColumns } from '../investor/owned-kind.ts'
import { visibleEntity, visibleOwned } from '../investor/scope.ts'
import { pageOfSeen, seenOrganisations, seenPersons } from '../investor/seen.ts'
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

const selectCommunication = (where: Fragment, from = sql`communication`) => sql`
  select ${communicationColumns}
  from ${from} t
  left join biz_entity be on be.biz_entity_id = t.biz_entity_id
  left join person pe on pe.person_id = t.person_id
  left join organisation og on og.organisation_id = t.organisation_id
  where ${where}`

/**
 * Refuses all e-mail addresses of a request that are taken. A single address is left to the unique
 * constraint, which reports it just as well.
 */
async function refuseTakenEmails(tx: Tx, rows: readonly Row[], pathOf: PathOf) {
  const emails = rows.filter((row) => row.communication_type_id === lookups.CommunicationType.Email)
  if (emails.length < 2) return
  const taken = await tx.query<{ place: number }>(sql`
    select g.place from (
      select n.name, n.place::int, row_number() over (
        partition by lower(n.name) order by n.place) as nth
      from unnest(${emails.map(({ name }) => name)}::text[]) with ordinality n (name, place)) g
    where g.nth > 1 or exists (
      select 1 from communication t
      where lower(t.name) = lower(g.name)
        and t.communication_type_id = ${lookups.CommunicationType.Email})
    order by g.place`)
  const { status, field, ...problem } = constraints.communication_email_unique!
  refuseAll(
    status,
    taken.map(({ place }) => ({ ...problem, field: inside(pathOf(emails[place - 1]!), field!) })),
  )
}

const refuseTakenExternals = refuseTakenIDs('communication')

const owners = ['bizEntity', 'person', 'organisation'] as const

export const communicationKind: OwnedKind = {
  what: 'communication',
  table: defineTable('communication', {
    key: 'communication_id',
    record: NestedCommunication,
    others: ownerColumns(owners),
    // E-mail addresses are unique on the platform: writing in this order, requests with the same
    // addresses wait for each other instead of deadlocking.
    inOrderOf: 'name',
    refuseTaken: async (...given) => {
      await refuseTakenExternals(...given)
      await refuseTakenEmails(...given)
    },
    keepsVersions: true,
  }),
  owners,
  reference: communicationReference,
  parameter: communicationParameter,
  record: Communication,
  select: (where) => selectCommunication(where),
}

const list = { table: 'communication', alias: 't' }

/** The ids of the contacts of all owners that the caller sees. */
const seenCommunications = (actor: Actor): Fragment => sql`
  select c.communication_id as id from biz_entity e join communication c using (biz_entity_id)
  where ${visibleEntity(actor, 'e')}
  union all
  select communication_id from communication
  where person_id = any(array(select s.id from (${seenPersons(actor)}) s))
  union all
  select communication_id from communication
  where organisation_id = any(array(select s.id from (${seenOrganisations(actor)}) s))`

export const readCommunications = (handle: Sql, actor: Actor, query: CommunicationQuery) =>
  renderPage(handle, query, {
    key: ['communicationID'],
    rows: (wanted) => {
      const visible = visibleOwned(actor, 't', owners)
      if (actor.productIDs !== null && !namesAny(communicationParameter, query))
        return pageOfSeen(wanted, { ...list, visible, ids: seenCommunications(actor) })
      return sql`
        select * from communication t
        where ${identified(communicationParameter, query, 't')} and ${visible}
        ${page(wanted, 'communication t', 't.communication_id')}`
    },
    show: (rows) => selectCommunication(sql`true order by t.communication_id`, sql`(${rows})`),
  })
