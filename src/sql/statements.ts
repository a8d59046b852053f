/** How many statements may be kept prepared; filters can be combined without end. */
const most = 500
const names = new Map<string, string>()
/** How often a statement without a name was met, the most recent last. */
const uses = new Map<string, number>()

/**
 * The name under which a statement is prepared, once it has been seen a few times. Planning the
 * larger reads costs more than running them, so this is worth having; a statement met once or twice
 * is not worth a place on every connection, and must not keep one from those that are.
 */
export function statementName(text: string): string | undefined {
  if (names.has(text) || names.size >= most) return names.get(text)
  const met = (uses.get(text) ?? 0) + 1
  uses.delete(text)
  if (met > 3) names.set(text, `s${names.size + 1}`)
  else uses.set(text, met)
  if (uses.size > most) forgetOldest()
  return names.get(text)
}

function forgetOldest() {
  for (const text of uses.keys()) return void uses.delete(text)
}
