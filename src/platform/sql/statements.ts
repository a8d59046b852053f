/** How many statements may be kept prepared; filters can be combined without end. */
const most = 300
const names = new Map<string, string>()
const metOnce = new Set<string>()

/**
 * The name under which a statement is prepared, from the second time it is met on. Planning the
 * larger reads costs more than running them, so this is worth having; a statement met once is not
 * worth a place on every connection.
 */
export function statementName(text: string): string | undefined {
  const known = names.get(text)
  if (known) return known
  if (names.size >= most) return undefined
  if (metOnce.delete(text)) {
    const name = `s${names.size + 1}`
    names.set(text, name)
    return name
  }
  if (metOnce.size >= most) metOnce.clear()
  metOnce.add(text)
  return undefined
}
