import { useSyncExternalStore } from 'react'

/**
 * Three versions of a record: as the user began to edit it, as it is stored now, and as the user
 * wants to save it.
 */
export type Versions = { before: unknown; now: unknown; mine: unknown }
export type Choice = 'mine' | 'theirs' | 'stay'
type Clash = Versions & { choose: (choice: Choice) => void }

let clash: Clash | undefined
const listeners = new Set<() => void>()

function change(next: Clash | undefined) {
  clash = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useClash = () => useSyncExternalStore(subscribe, () => clash)

/** Asks the user which version to keep. */
export const askWhich = (versions: Versions): Promise<Choice> =>
  new Promise((resolve) => {
    change({
      ...versions,
      choose: (choice) => {
        change(undefined)
        resolve(choice)
      },
    })
  })

export type Difference = { field: string; now: string; mine: string; whose: Whose }
/** Who has changed a field since it was read. */
export type Whose = 'you' | 'somebody' | 'both'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const at = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined)

/** A plain value as text; a list of plain values becomes one text. */
const plain = (value: unknown): string =>
  value === null || value === undefined ? '' : Array.isArray(value) ? value.join(', ') : `${value}`

const isRecords = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.some(isObject)

/** The fields that saving a body would change, each with both versions. */
export function differences(versions: Versions, path = ''): Difference[] {
  const { before, now, mine } = versions
  if (isRecords(mine) || isRecords(now)) return inLists(versions, path)
  // Fields of a record that are not sent stay; a record that is not sent at all is removed as a
  // whole.
  const sent = isObject(mine) ? mine : now
  if (isObject(sent) && !Array.isArray(sent))
    return Object.keys(sent).flatMap((key) =>
      differences(
        { before: at(before, key), now: at(now, key), mine: at(mine, key) },
        to(path, key),
      ),
    )
  if (plain(mine) === plain(now)) return []
  const theirs = plain(before) !== plain(now)
  const ours = plain(before) !== plain(mine)
  const whose = theirs && ours ? 'both' : theirs ? 'somebody' : 'you'
  return [{ field: path, now: plain(now), mine: plain(mine), whose }]
}

const to = (path: string, place: string) => (path ? `${path} ${place}` : place)

/**
 * Matches the records of two lists by their own ids; a stored record that is not sent is removed.
 */
function inLists({ before, now, mine }: Versions, path: string): Difference[] {
  const own = ownField([now, before])
  const [was, is, ours] = [before, now, mine].map((list) => byId(list, own))
  return [...new Set([...(ours?.keys() ?? []), ...(is?.keys() ?? [])])].flatMap((id) => {
    const [then, there, here] = [was?.get(id), is?.get(id), ours?.get(id)]
    const place = here ? `${here.place}` : `${there?.place} (not in yours)`
    const versions = { before: then?.item, now: there?.item, mine: here?.item }
    const found = differences(versions, to(path, place))
    return here ? found : found.filter(tells)
  })
}

/** For a record to be removed, ids and false flags tell the user nothing. */
const tells = ({ field, now }: Difference) => !/I[dD]$/.test(field) && now !== 'false'

/** The first field of a stored record is its own id. */
function ownField(lists: unknown[]): string {
  const [stored] = lists.flatMap((list) => (Array.isArray(list) ? list : []))
  return isObject(stored) ? (Object.keys(stored)[0] ?? '') : ''
}

/** Records that are not stored yet are matched by their position. */
const byId = (list: unknown, own: string) =>
  new Map(
    (Array.isArray(list) ? list : []).map((item, i) => {
      const id = plain(at(item, own))
      return [id || `new ${i}`, { item, place: i + 1 }] as const
    }),
  )
