import { useSyncExternalStore } from 'react'

/** What somebody is about to save, what it was when they began, and what it is by now. */
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

/** Which version is to stand. */
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

/** Of values that are no records a list is one text. */
const plain = (value: unknown): string =>
  value === null || value === undefined ? '' : Array.isArray(value) ? value.join(', ') : `${value}`

const isRecords = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.some(isObject)

/** The fields of a body whose saving would change the register, each with both versions. */
export function differences(versions: Versions, path = ''): Difference[] {
  const { before, now, mine } = versions
  if (isRecords(mine) || isRecords(now)) return inLists(versions, path)
  // Of a record, what is not sent stays; where none is sent, the whole of it goes.
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

/** Records of a list go by their own ids: what is not among those that are sent is removed. */
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

/** Of a record that goes, its ids and what it is not say nothing to who decides. */
const tells = ({ field, now }: Difference) => !/I[dD]$/.test(field) && now !== 'false'

/** The first field of a stored record is its own id. */
function ownField(lists: unknown[]): string {
  const [stored] = lists.flatMap((list) => (Array.isArray(list) ? list : []))
  return isObject(stored) ? (Object.keys(stored)[0] ?? '') : ''
}

/** Those that are not stored yet go by their places. */
const byId = (list: unknown, own: string) =>
  new Map(
    (Array.isArray(list) ? list : []).map((item, i) => {
      const id = plain(at(item, own))
      return [id || `new ${i}`, { item, place: i + 1 }] as const
    }),
  )
