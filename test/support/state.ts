import pg from 'pg'

/** Watches all tables of a database, to see whether a request wrote anything. */
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
   * Reads the newest transaction id (xmin) and the row count of each table. An inserted or updated
   * row has a newer xmin, and a deleted row changes the count, so a request that changes neither
   * has written nothing.
   */
  const look = async () => {
    // A named statement is planned once; planning takes longer than running it.
    const { rows } = await client.query<Seen>({ name: 'look', text: whole.join(' union all ') })
    return new Map(rows.map(({ name, ...seen }) => [name, `${seen.rows} ${seen.newest}`]))
  }
  return {
    look,
    /** The tables that changed since an earlier `look`. */
    changedSince: async (before: Map<string, string>) => {
      const now = await look()
      return [...now].flatMap(([name, seen]) => (before.get(name) === seen ? [] : [name]))
    },
    stop: () => client.end(),
  }
}

type Seen = { name: string; rows: string; newest: string }
