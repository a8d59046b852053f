import { isAmount, isChange } from './match.ts'

/** What changes by itself, and is nobody's to approve. */
const passing = new Set(['balance', 'balances', 'updatedDate'])

/**
 * Whether a write would change more than was shown when it was asked for, something that is not any
 * more as it was shown, or come to another sum: who approves has seen none of it. What a field
 * becomes follows from the request and from what it was, but for the numbers that new records get.
 */
export function changesElse(shown: unknown, now: unknown): boolean {
  const before = new Map(startsOf(shown))
  return startsOf(now).some(([path, from]) => before.get(path) !== from)
}

/** What each field that changes is now, and each sum that is told, by the way to it. */
function startsOf(changes: unknown, path = ''): [string, string][] {
  if (typeof changes !== 'object' || changes === null) return []
  return Object.entries(changes).flatMap(([name, value]): [string, string][] => {
    if (passing.has(name)) return []
    const own = `${path}.${name}`
    if (isChange(value)) return [[own, textOf(value.from)]]
    return isAmount(name) ? [[own, textOf(value)]] : startsOf(value, own)
  })
}

const textOf = (value: unknown) =>
  JSON.stringify(value, (name, inner) => (passing.has(name) ? undefined : inner))
