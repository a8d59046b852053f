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

const plain = (value: unknown) => (value === null || value === undefined ? '' : String(value))

/** The fields of a body whose saving would change the register, each with both versions. */
export function differences({ before, now, mine }: Versions, path = ''): Difference[] {
  if (isObject(mine))
    return Object.keys(mine).flatMap((key) => {
      const [was, is] = [at(before, key), at(now, key)]
      const place = Array.isArray(mine) ? String(Number(key) + 1) : key
      return differences(
        { before: was, now: is, mine: mine[key] },
        path ? `${path} ${place}` : place,
      )
    })
  if (isObject(now) || plain(mine) === plain(now)) return []
  const theirs = plain(before) !== plain(now)
  const ours = plain(before) !== plain(mine)
  const whose = theirs && ours ? 'both' : theirs ? 'somebody' : 'you'
  return [{ field: path, now: plain(now), mine: plain(mine), whose }]
}
