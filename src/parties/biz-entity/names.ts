import { lookups } from '../../platform/lookup/lookups.ts'
import type { BizEntityInput } from './schema.ts'

/** What entities may have in common, so that it matters which of them is written first. */

/** What they bring or change under a name of its own: a party only refers to what is there. */
export const ownNames = (entities: readonly BizEntityInput[]): string[] =>
  recordsIn(entities).flatMap(({ record, within }) =>
    within === 'bizEntityParties' ? [] : namesIn(record),
  )

/**
 * What they bring, change or refer to, and their e-mail addresses, of which each is one's alone.
 * Who names a parent takes turns with all others who do: see lockParents.
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
 * Entities as if each came in a request of its own, in as few lists as that takes. Of one list the
 * first to tell of a person or an organisation wins, and a party finds those alone who were there
 * before it: who tells otherwise, or names as a party whom an earlier one brings, begins another.
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

/** The fields in which a person or an organisation stands with what is told of them. */
const tellers = new Set(['person', 'organisation', 'associatedPersons'])
const textOf = (record: Fields) => JSON.stringify(record)

type Fields = Record<string, unknown>

const isName = /external(?!Product)|^(person|organisation)ID$|^accountNumber$/i

const namesIn = (record: Fields): string[] =>
  Object.entries(record).flatMap(([field, value]) =>
    isName.test(field) ? [`${kindOf(field)} ${String(value).toLowerCase()}`] : [],
  )

/** An entity is the same one, be it named as itself, as a parent or as a dealer group. */
const kindOf = (field: string) => /external(?:DealerGroup)?(.+)$/i.exec(field)?.[1] ?? field

const emailIn = ({ communicationTypeID, name }: Fields): string[] =>
  communicationTypeID === lookups.CommunicationType.Email
    ? [`email ${String(name).toLowerCase()}`]
    : []

/** Every record in a value, itself and nested ones, with the field that it stands in. */
function recordsIn(value: unknown, within = ''): { record: Fields; within: string }[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((one) => recordsIn(one, within))
  const record = value as Fields
  const nested = Object.entries(record).flatMap(([field, inner]) => recordsIn(inner, field))
  return [{ record, within }, ...nested]
}
