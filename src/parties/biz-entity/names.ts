import { lookups } from '../../platform/lookup/lookups.ts'
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
 * Splits entities into as few lists as possible, with the same result as one request per entity.
 * Within a list, the first details about a person or organisation win, and a party only finds
 * persons and organisations from before the list. So an entity begins a new list if it gives other
 * details, or if its party names a person or organisation from earlier in the list.
 */
export function listsInTurn(entities: readonly BizEntityInput[]): BizEntityInput[][] {
  const lists: BizEntityInput[][] = []
  let told = new Map<string, string>()
  for (const entity of entities) {
    const records = recordsIn(entity)
    const tells = records.flatMap(({ record, within }) =>
      tellers.has(within) ? namesIn(record).map((name) => ({ name, text: textOf(record) })) : [],
    )
    const refers = records.flatMap(({ record, within }) =>
      within === 'bizEntityParties' ? namesIn(record) : [],
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

/** The fields that contain a person or an organisation with details. */
const tellers = new Set(['person', 'organisation', 'associatedPersons'])
const textOf = (record: Fields) => JSON.stringify(record)

type Fields = Record<string, unknown>

const isName = /external(?!Product)|^(person|organisation)ID$|^accountNumber$/i

const namesIn = (record: Fields): string[] =>
  Object.entries(record).flatMap(([field, value]) =>
    isName.test(field) ? [`${kindOf(field)} ${String(value).toLowerCase()}`] : [],
  )

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
