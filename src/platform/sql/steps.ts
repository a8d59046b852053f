import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { statementsOf } from './script.ts'

/** What scale-out/distribute.sql says about every table: which kind it becomes on Citus. */
const scaleOutFile = new URL('../../../scale-out/distribute.sql', import.meta.url)

export const kinds = {
  create_reference_table: 'a copy on every server',
  create_distributed_table: 'spread by product',
  citus_add_local_table_to_metadata: 'stays here, known to Citus',
}
type Kind = keyof typeof kinds

/** One SQL statement of distribute.sql, with the table or function it is about, if any. */
export type Step = { text: string; kind?: Kind; table?: string; function?: string }

export const readSteps = (file = scaleOutFile): Step[] =>
  statementsOf(readFileSync(file, 'utf8')).map(stepOf)

function stepOf(text: string): Step {
  const [, kind, table] = /^select (\w+)\(\s*'(\w+)'/.exec(text) ?? []
  if (kind && table && kind in kinds) return { text, kind: kind as Kind, table }
  const [, name] = /^select create_distributed_function\(\s*'(\w+)\(/.exec(text) ?? []
  return name ? { text, function: name } : { text }
}

/** The registry's tables that Citus knows; empty where Citus is not installed. */
export async function spreadTables(client: pg.Client): Promise<Set<string>> {
  const { rows: found } = await client.query(`select to_regclass('pg_dist_partition') as known`)
  if (found[0].known === null) return new Set()
  const { rows } = await client.query<{ name: string }>(`
    select relname::text as name from pg_dist_partition join pg_class on oid = logicalrelid
    where relnamespace = 'public'::regnamespace`)
  return new Set(rows.map(({ name }) => name))
}

/**
 * For a ledger that is spread already: the SQL statement that gives a new table its kind, or brings
 * a new function to the workers, by the name of the table or function. Empty where the ledger is
 * not spread.
 */
export async function placesOfNew(client: pg.Client, file: URL): Promise<Map<string, string>> {
  const known = await spreadTables(client)
  const steps = known.size > 0 ? readSteps(file) : []
  return new Map(
    steps.flatMap(({ text, table, function: name = table }) => (name ? [[name, text]] : [])),
  )
}

/** The table or function that a migration's SQL statement creates, or an empty text. */
export const madeBy = (statement: string): string =>
  /^\s*create (?:table|function) (?:if not exists )?(\w+)/i.exec(statement)?.[1] ?? ''
