import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { rowsOf } from '../support/database.ts'

type Column = { table: string; name: string; type: string; isKey: boolean; isReference: boolean }
type Reference = { table: string; target: string; columns: string[]; optional: boolean }

const columnsQuery = `
  select c.relname as table, a.attname as name, t.typname as type,
    exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'p'
      and a.attnum = any(k.conkey)) as "isKey",
    exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'f'
      and a.attnum = any(k.conkey)) as "isReference"
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
  join pg_type t on t.oid = a.atttypid
  where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
    and not a.attisdropped
  order by c.relname collate "C", a.attnum`

const referencesQuery = `
  select k.conrelid::regclass::text as table, k.confrelid::regclass::text as target,
    array(select a.attname::text from unnest(k.conkey) with ordinality u (attnum, place)
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.attnum
      order by u.place) as columns,
    exists (select from pg_attribute a where a.attrelid = k.conrelid
      and a.attnum = any(k.conkey) and not a.attnotnull) as optional
  from pg_constraint k
  where k.contype = 'f' and k.connamespace = 'public'::regnamespace
  order by 1, 2, k.conname collate "C"`

const kinds: [RegExp, string][] = [
  [/create_distributed_table\('(\w+)'/g, 'ledger'],
  [/create_reference_table\('(\w+)'/g, 'identity'],
]

/** The headings of the kinds of tables; scale-out/distribute.sql says of which kind a table is. */
const headings: Record<string, string> = {
  ledger:
    'These tables grow with activity. Every key begins with the product, by which they spread.',
  identity: 'Other tables refer to these: people, products, classes and coded values.',
  local: 'Users, sessions, the audit trail and other data of this installation.',
}

/** A page of diagrams with all tables, columns and references, made from the schema. */
export async function dataModelPage(connection: pg.ClientConfig): Promise<string> {
  const columns: Column[] = await rowsOf(connection, columnsQuery)
  const references: Reference[] = await rowsOf(connection, referencesQuery)
  const names = [...new Set(columns.map(({ table }) => table))]
  const kindOf = kindsOfTables()
  const parts = Object.entries(headings).map(([kind, words]) => {
    const own = names.filter((name) => (kindOf.get(name) ?? 'local') === kind)
    return `## ${kind[0]!.toUpperCase()}${kind.slice(1)} tables

${words}

\`\`\`mermaid
erDiagram
${own.map((name) => entityOf(name, columns)).join('\n')}
${linesOf(own, references).join('\n')}
\`\`\`
`
  })
  return `# Data model

\`npm run golden\` writes this page from the schema that the migrations create, and a test compares
them. \`test/golden/schema.sql\` has the same schema with every constraint and index.
[ARCHITECTURE.md](ARCHITECTURE.md#kinds-of-tables) explains the kinds of tables, and
[glossary.md](glossary.md) the terms. A line leads from a table to a table that it refers to. Nearly
every table refers to \`product\`: that line is left out where a table has others.

${parts.join('\n')}`
}

function kindsOfTables(): Map<string, string> {
  const text = readFileSync('scale-out/distribute.sql', 'utf8')
  return new Map(
    kinds.flatMap(([pattern, kind]) =>
      [...text.matchAll(pattern)].map(([, table]) => [table!, kind] as const),
    ),
  )
}

function entityOf(name: string, columns: Column[]): string {
  const lines = columns
    .filter(({ table }) => table === name)
    .map(({ name: column, type, isKey, isReference }) => {
      const marks = [isKey && 'PK', isReference && 'FK'].filter(Boolean).join(', ')
      return `    ${type.replace(/^_(.*)/, '$1_array')} ${column}${marks ? ` ${marks}` : ''}`
    })
  return `  ${name} {\n${lines.join('\n')}\n  }`
}

function linesOf(own: string[], references: Reference[]): string[] {
  const lines = references
    .filter(({ table }) => own.includes(table))
    .filter(({ table, target }) => {
      const others = references.filter((one) => one.table === table && one.target !== 'product')
      return target !== 'product' || others.length === 0
    })
    .map(({ table, target, columns, optional }) => {
      const by = columns.filter((name) => name !== 'product_id').join(', ') || 'product_id'
      return `  ${table} }o--${optional ? 'o|' : '||'} ${target} : "${by}"`
    })
  return [...new Set(lines)]
}
