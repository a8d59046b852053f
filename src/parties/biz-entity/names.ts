import sql from 'sql-template-tag'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import type { BizEntityInput } from './schema.ts'

/** The names that entities have in common decide whether the order of writing them matters. */

/** Names of the records that entities bring or change. A party only refers to existing records. */
export const ownNames = (entities: readonly BizEntityInput[]): string[] =>
  recordsIn(entities).flatMap(({ record, within }) =>
    within === 'bizEntityParties' ? [] : namesIn(record),
  )

/**
 * Names of the records that entities bring, change or refer to, and their e-mail addresses, which
 * are unique. All entities that name a parent share the name 'parents', because they take turns:
 * see lockParents.
 */
export function allNames(entities: readonly BizEntityInput[]): string[] {
  const names = recordsIn(entities).flatMap(({ record }) => [
    ...namesIn(record),
    ...emailIn(record),
  ])
  const hasParents = entities.some(({ bizEntityParents = [] }) => bizEntityParents.length > 0)
  return hasParents ? [...names, 'parents'] : names
}

/**
 * Whether entities give details of persons or organisations by native id. Others may then name the
 * same records by external id, which their names do not show.
 */
export const tellsByID = (entities: readonly BizEntityInput[]): boolean =>
  recordsIn(entities).some(({ record, within }) => tellers.has(within) && 'byID' in namedBy(record))

/** Two names of one person or organisation: its native id and its external id. */
type Pair = readonly [string, string]

/**
 * The external ids of the persons and organisations that entities name by native id. Undefined if
 * the entities show them: if none is named by native id, or none by external id alone.
 */
export function otherNames(
  entities: readonly BizEntityInput[],
): ((handle: Sql) => Promise<Pair[]>) | undefined {
  const named = recordsIn(entities).map(({ record }) => namedBy(record))
  const ids = named.flatMap(({ byID }) => byID ?? [])
  if (ids.length === 0 || !named.some(({ byExternal }) => byExternal)) return undefined
  const idsOf = (field: string) => ids.flatMap((one) => (one.field === field ? [one.id] : []))
  return async (handle) => {
    const rows = await handle.query<{ field: string; id: number; external: string }>(sql`
      select 'externalPersonId' as field, person_id as id, external_person_id as external
      from person where person_id = any(${idsOf('personID')}::int[])
        and external_person_id is not null
      union all
      select 'externalOrganisationId', organisation_id, external_organisation_id
      from organisation where organisation_id = any(${idsOf('organisationID')}::int[])
        and external_organisation_id is not null`)
    return rows.map(({ field, id, external }) => [
      nameOf(idFields.get(field)!, id),
      nameOf(field, external),
    ])
  }
}

/**
 * Splits entities into as few lists as possible, with the same result as one request per entity.
 * Within a list, the first details about a person or organisation win, and a party only finds
 * persons and organisations from before the list. So an entity begins a new list if it gives other
 * details, or if its party names a person or organisation from earlier in the list. `pairs` are the
 * other names of records, which two entities may name differently.
 */
export function listsInTurn(
  entities: readonly BizEntityInput[],
  pairs: readonly Pair[] = [],
): BizEntityInput[][] {
  const lists: BizEntityInput[][] = []
  const all = entities.map((entity) => ({ entity, records: recordsIn(entity) }))
  const sole = soleNames([...pairs, ...all.flatMap(({ records }) => records.flatMap(pairIn))])
  const soleNamesIn = (record: Fields) => namesIn(record).map(sole)
  let told = new Map<string, string>()
  for (const { entity, records } of all) {
    const tells = records.flatMap(({ record, within }) =>
      tellers.has(within)
        ? soleNamesIn(record).map((name) => ({ name, text: textOf(record) }))
        : [],
    )
    const refers = records.flatMap(({ record, within }) =>
      within === 'bizEntityParties' ? soleNamesIn(record) : [],
    )
    const isLater =
      refers.some((name) => told.has(name)) ||
      tells.some(({ name, text }) => told.has(name) && told.get(name) !== text)
    if (isLater || lists.length === 0) {
      lists.push([])
      told = new Map()
    }
    lists.at(-1)!.push(entity)
    for (const { name, text } of tells) if (!told.has(name)) told.set(name, text)
  }
  return lists
}

/** The native id and the external id of a person or an organisation, if a record gives both. */
const pairIn = ({ record }: { record: Fields }): Pair[] =>
  [...idFields].flatMap(([external, id]): Pair[] =>
    id in record && external in record
      ? [[nameOf(id, record[id]), nameOf(external, record[external])]]
      : [],
  )

/** Maps every name of a record, by way of pairs, to the same name. */
function soleNames(pairs: readonly Pair[]): (name: string) => string {
  const others = new Map<string, string>()
  const sole = (name: string) => {
    let last = name
    for (let next = others.get(last); next !== undefined; next = others.get(last)) last = next
    return last
  }
  for (const [one, other] of pairs)
    if (sole(one) !== sole(other)) others.set(sole(one), sole(other))
  return sole
}

/** The fields that contain a person or an organisation with details. */
const tellers = new Set(['person', 'organisation', 'associatedPersons'])
const textOf = (record: Fields) => JSON.stringify(record)

type Fields = Record<string, unknown>

const isName = /external(?!Product)|^(person|organisation)ID$|^accountNumber$/i

const namesIn = (record: Fields): string[] =>
  Object.entries(record).flatMap(([field, value]) =>
    isName.test(field) ? [nameOf(field, value)] : [],
  )

const nameOf = (field: string, value: unknown) => `${kindOf(field)} ${String(value).toLowerCase()}`

/** The fields of external ids of persons and organisations, with those of their native ids. */
const idFields = new Map([
  ['externalPersonId', 'personID'],
  ['externalOrganisationId', 'organisationID'],
])

/** How a record names a person or organisation; a native id wins over an external id. */
function namedBy(record: Fields): { byID?: { field: string; id: number }; byExternal?: true } {
  for (const [external, field] of idFields)
    if (field in record) return { byID: { field, id: record[field] as number } }
    else if (external in record) return { byExternal: true }
  return {}
}

/** Gives an entity the same name, whether as itself, as a parent or as a dealer group. */
const kindOf = (field: string) => /external(?:DealerGroup)?(.+)$/i.exec(field)?.[1] ?? field

const emailIn = ({ communicationTypeID, name }: Fields): string[] =>
  communicationTypeID === lookups.CommunicationType.Email
    ? [`email ${String(name).toLowerCase()}`]
    : []

/** Every record in a value, including the value itself, with the field that contains it. */
function recordsIn(value: unknown, within = ''): { record: Fields; within: string }[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((one) => recordsIn(one, within))
  const record = value as Fields
  const nested = Object.entries(record).flatMap(([field, inner]) => recordsIn(inner, field))
  return [{ record, within }, ...nested]
}
