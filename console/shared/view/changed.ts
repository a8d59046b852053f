/** A changed field with its value before, where known, and after. */
export type Changed = { field: string; before: unknown; after: unknown }

type Pair = { from: unknown; to: unknown }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const isPair = (value: unknown): value is Pair =>
  isObject(value) && 'from' in value && 'to' in value

const isNone = (value: unknown) => value === null || value === undefined || value === ''

type Inner = { key: string; label: string; item: unknown }

/** An entry of a value: its label, and the key that identifies it in both versions. */
function inside(value: unknown): Inner[] {
  if (!isObject(value)) return []
  const isList = Array.isArray(value)
  return Object.entries(value).map(([key, item]) => ({
    key: isList ? keyOf(item, key) : key,
    label: isList ? String(Number(key) + 1) : key,
    item,
  }))
}

/** The first field of a stored record is its own id, which identifies it within a list. */
function keyOf(item: unknown, place: string): string {
  const id = isObject(item) ? Object.values(item)[0] : undefined
  return typeof id === 'number' ? `#${id}` : place
}

/**
 * A person may be listed twice, as director and as shareholder; the second entry is keyed by its
 * position.
 */
function byKey(value: unknown): Map<string, Inner> {
  const found = new Map<string, Inner>()
  for (const one of inside(value))
    found.set(found.has(one.key) ? `${one.key} ${one.label}` : one.key, one)
  return found
}

const below = (path: string, label: string) => (path ? `${path} ${label}` : label)

/** The differences between two versions; of lists and records only the fields that differ. */
function between(from: unknown, to: unknown, path: string): Changed[] {
  if (!isObject(from) && !isObject(to)) {
    const isSame = isNone(from) ? isNone(to) : String(from) === String(to)
    return isSame ? [] : [{ field: path, before: from, after: to }]
  }
  const [then, now] = [byKey(from), byKey(to)]
  return [...new Set([...now.keys(), ...then.keys()])].flatMap((key) => {
    const [was, is] = [then.get(key), now.get(key)]
    // The position that a removed entry had may now belong to another entry.
    const gone = Array.isArray(from) ? `${was?.label} (removed)` : key
    return between(was?.item, is?.item, below(path, is?.label ?? gone))
  })
}

/** The changed fields of an audit record or an approval. */
export function changedFields(changes: unknown, path = ''): Changed[] {
  if (isPair(changes)) return between(changes.from, changes.to, path)
  if (!isObject(changes))
    return isNone(changes) ? [] : [{ field: path, before: undefined, after: changes }]
  // The approved change is nested inside the record of its approval.
  return inside(changes).flatMap(({ label, item }) =>
    changedFields(item, label === 'changes' ? path : below(path, label)),
  )
}

/** "accounts 1 drpTypeID" is "Accounts 1 drp type". */
export const fieldName = (field: string) => {
  const text = field
    .replaceAll(/ID\b/g, '')
    .replaceAll(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`)
  return text.charAt(0).toUpperCase() + text.slice(1)
}
