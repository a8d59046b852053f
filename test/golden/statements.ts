import pg from 'pg'

type Recording = { statements: readonly string[]; stop: () => void }

/**
 * Records every SQL statement that this process sends to PostgreSQL, by listening to the driver,
 * until it is told to stop. It leaves out begin and commit, and the bell that rings by itself
 * (integration/event).
 */
export function recordStatements(): Recording {
  const heard: string[] = []
  const { prototype } = pg.Client
  const { query } = prototype
  // The driver's own signature has a dozen forms, all of which go on as they came.
  const listening = function (this: pg.Client, ...given: unknown[]) {
    const text = textOf(given[0])
    if (text && !/^(begin|commit|rollback|select pg_notify)\b/.test(text)) heard.push(text)
    return Reflect.apply(query, this, given)
  }
  Object.assign(prototype, { query: listening })
  return { statements: heard, stop: () => Object.assign(prototype, { query }) }
}

function textOf(statement: unknown): string | undefined {
  if (typeof statement === 'string') return statement
  return (statement as { text?: string }).text
}

/** An SQL statement without the indentation of its file, and with one line for each field. */
export function dedented(text: string): string {
  const lines = text
    .replace(/^\s*\n/, '')
    .trimEnd()
    .split('\n')
  const depth = (line: string) => line.search(/\S|$/)
  const margin = Math.min(
    ...lines
      .slice(1)
      .filter((line) => line.trim())
      .map(depth),
  )
  return lines
    .map((line) => line.slice(Math.min(margin, depth(line))).trimEnd())
    .filter((line) => line !== '')
    .join('\n')
    .replace(/( as "\w+"), (?=\S)/g, '$1,\n  ')
}
