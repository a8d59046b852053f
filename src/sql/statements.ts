/** How many statements may be kept prepared; filters can be combined without end. */
const most = 500
const names = new Map<string, { uses: number; name: string }>()

/**
 * The name under which a statement is prepared, once it has been seen a few times. Planning the
 * larger reads costs more than running them, so this is worth having; a statement met once or twice
 * is not worth a place on every connection.
 */
export function statementName(text: string): string | undefined {
  const known = names.get(text)
  if (known) return ++known.uses > 3 ? known.name : undefined
  if (names.size < most) names.set(text, { uses: 1, name: `s${names.size + 1}` })
  return undefined
}
