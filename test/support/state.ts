import pg from 'pg'

/** Watches everything that is stored, to tell whether a request wrote anything. */
export async function watchState(connection: pg.ClientConfig, except: readonly string[] = []) {
  const client = new pg.Client(connection)
  await client.connect()
  const { rows: tables } = await client.query<{ name: string }>(`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') order by 1`)
  const watched = tables.filter(({ name }) => !except.includes(name))
  const whole = watched.map(
    ({ name }) => `select '${name}' as name, count(*)::text as rows,
      max(xmin::text::bigint)::text as newest from ${name}`,
  )
  /**
   * A new row and a new version of a row bear the number of their transaction, and a row that is
   * gone is missing in the count: what leaves both as they were has written nothing.
   */
  const look = async () => {
    // By name: to plan it takes longer than to look.
    const { rows } = await client.query<Seen>({ name: 'look', text: whole.join(' union all ') })
    return new Map(rows.map(({ name, ...seen }) => [name, `${seen.rows} ${seen.newest}`]))
  }
  return {
    look,
    /** The tables that changed since a look. */
    changedSince: async (before: Map<string, string>) => {
      const now = await look()
      return [...now].flatMap(([name, seen]) => (before.get(name) === seen ? [] : [name]))
    },
    stop: () => client.end(),
  }
}

type Seen = { name: string; rows: string; newest: string }
