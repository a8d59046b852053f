/** The most prepared statements at a time; filters can be combined without end. */
const most = 300
/**
 * Of these, places for SQL statements that were met at least `often` times: writes, and reads of
 * one record.
 */
const mostProven = 200
const often = 20

export type StatementNames = (text: string) => string | undefined

type Name = { name: string; times: number }

/**
 * Names the SQL statements to prepare, from the second time each is met. Planning the larger reads
 * costs more than running them, but an SQL statement met once is not worth a place on every
 * connection. The least recently used name gives up its place; a flood of new SQL statements
 * displaces one another, not the proven ones.
 */
export function statementNames(prefix: string): StatementNames {
  const proven = new Map<string, Name>()
  const others = new Map<string, Name>()
  const metOnce = new Set<string>()
  let given = 0

  const touch = (names: Map<string, Name>, text: string, name: Name) => {
    names.delete(text)
    names.set(text, name)
  }
  const room = (names: Map<string, Name>, size: number) => {
    for (const oldest of names.keys()) if (names.size >= size) names.delete(oldest)
  }
  const meetAgain = (text: string, name: Name) => {
    name.times++
    if (name.times < often) return touch(others, text, name)
    others.delete(text)
    room(proven, mostProven)
    proven.set(text, name)
  }

  return (text) => {
    const kept = proven.get(text)
    if (kept) {
      touch(proven, text, kept)
      return kept.name
    }
    const known = others.get(text)
    if (known) {
      meetAgain(text, known)
      return known.name
    }
    if (metOnce.delete(text)) {
      const name = { name: `${prefix}${++given}`, times: 2 }
      room(others, most - mostProven)
      others.set(text, name)
      return name.name
    }
    if (metOnce.size >= most) metOnce.clear()
    metOnce.add(text)
    return undefined
  }
}

/** A connection with more prepared statements than this is closed: only that frees their memory. */
export const mostOnConnection = 2 * most
