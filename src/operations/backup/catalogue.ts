import type pg from 'pg'
import sql, { raw } from 'sql-template-tag'

/**
 * A table as the database's catalogue describes it; all tables of the registry are in the schema
 * public.
 */
export type DataTable = { name: string; columns: string[] }

/**
 * Tables that a backup leaves out: those that migrations fill, sessions, and the event feed.
 * Sessions that were ended after the backup must not come back with it, so everybody signs in anew.
 * The feed is in the order of this database's transactions, so a restored registry begins its own.
 */
const made = ['migration', 'lookup', 'event_feed']
const leftOut = [...made, 'session', 'refresh_token', 'login_failure', 'event', 'webhook_delivery']

export const dataTables = async (client: pg.Client): Promise<DataTable[]> =>
  (await tablesOf(client)).filter(({ name }) => !leftOut.includes(name))

/** Tables that migrations fill, but whose rows a backup replaces with its own. */
export const seeded = ['withholding_rate']

/** The tables that hold rows, apart from those that migrations fill. */
export async function filledTables(client: pg.Client): Promise<string[]> {
  const filled: string[] = []
  for (const { name } of await tablesOf(client)) {
    if (made.includes(name) || seeded.includes(name)) continue
    const { rowCount } = await client.query(
      sql`select 1 from ${raw(client.escapeIdentifier(name))} limit 1`,
    )
    if (rowCount) filled.push(name)
  }
  return filled
}

async function tablesOf(client: pg.Client): Promise<DataTable[]> {
  const { rows } = await client.query<DataTable>(`
    select relname::text as name, array(
      select attname::text from pg_attribute
      where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
      order by attnum) as columns
    from pg_class c
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    order by relname`)
  return rows
}

/** Reads the sequences. They are not part of a snapshot: read last, they are ahead of every row. */
export async function sequencesOf(client: pg.Client) {
  const { rows } = await client.query<{ name: string; value: string; isCalled: boolean }>(`
    select sequencename::text as name, coalesce(last_value, start_value)::text as value,
      last_value is not null as "isCalled"
    from pg_sequences where schemaname = 'public' order by 1`)
  return rows
}

export type Reference = { table: string; name: string; definition: string }

/** The foreign keys, with the definitions by which they can be made again. */
export async function referencesOf(client: pg.Client): Promise<Reference[]> {
  const { rows } = await client.query<Reference>(`
    select conrelid::regclass::text as table, conname::text as name,
      pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0
    order by 1, 2`)
  return rows
}
