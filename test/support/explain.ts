import pg from 'pg'
// @ts-expect-error: not in the driver's types; it is how the driver writes a value
import { prepareValue } from 'pg/lib/utils.js'
import sql from 'sql-template-tag'
import {
  type Database,
  type Fragment,
  openDatabase,
  type Tx,
} from '../../src/platform/sql/handle.ts'
import { serviceRole } from '../../src/platform/sql/migrate.ts'

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'CTE Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Rows Removed by Join Filter'?: number
  Plans?: Node[]
}

/**
 * A scan of an SQL statement: its kind, how often it was begun, and the rows it read, including
 * those it discarded.
 */
export type Reading = { text: string; table: string; how: string; times: number; rows: number }

/** Opens the database as the service does. */
export const openAsService = (connection: pg.ClientConfig): Database =>
  openDatabase({
    connection,
    role: serviceRole,
    connections: 2,
    prepareStatements: false,
    onLostConnection: () => {},
  })

type Mode = 'force_custom_plan' | 'force_generic_plan'

/**
 * Runs work in a database transaction that is undone, and returns what each of its SQL statements
 * read, with a custom plan (for its values) and with a generic plan (for any values).
 */
export async function readingsOf(
  database: Database,
  work: (tx: Tx) => Promise<unknown>,
  modes: readonly Mode[] = ['force_custom_plan', 'force_generic_plan'],
): Promise<Reading[]> {
  const readings: Reading[] = []
  const undone = new Error('undone on purpose')
  await database
    .transaction(async (tx) => {
      const query: Tx['query'] = (statement) => explained(tx, statement, readings, modes)
      await work({ query, isSpread: tx.isSpread } as Tx)
      throw undone
    })
    .catch((error) => {
      if (error !== undone) throw error
    })
  return readings
}

/** Runs an SQL statement once per mode to see its plan, each undone, and then for its rows. */
async function explained<Row extends object>(
  tx: Tx,
  statement: Fragment,
  readings: Reading[],
  modes: readonly Mode[],
) {
  if (/^\s*(select|insert|update|delete|with)\b/.test(statement.text))
    for (const mode of modes) {
      await tx.query(sql`savepoint explaining`)
      for (const reading of await planOf(tx, statement, mode)) readings.push(reading)
      await tx.query(sql`rollback to savepoint explaining`)
    }
  return tx.query<Row>(statement)
}

/** What an SQL statement reads in a mode; it is prepared, because only then the mode matters. */
async function planOf(tx: Tx, { text, values }: Fragment, mode: string): Promise<Reading[]> {
  const readings: Reading[] = []
  const run = (words: string) =>
    tx.query<{ 'QUERY PLAN': string }>({ text: words, values: [] as unknown[] } as Fragment)
  await run(`set local plan_cache_mode = ${mode}`)
  await run(`prepare explained as ${text}`)
  const literals = values.map((value) => {
    const plain = prepareValue(value)
    return plain === null ? 'null' : pg.escapeLiteral(String(plain))
  })
  const given = literals.length > 0 ? `(${literals.join(', ')})` : ''
  const [row] = await run(`explain (analyze, format json) execute explained${given}`)
  await run('deallocate explained')
  const [{ Plan }] = JSON.parse(row!['QUERY PLAN']) as [{ Plan: Node }]
  collect(Plan, `${mode} ${text}`, readings)
  return readings
}

function collect(node: Node, text: string, readings: Reading[]) {
  const { 'Node Type': how, 'Actual Rows': rows, 'Actual Loops': loops } = node
  const removed =
    (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  const table = node['Relation Name'] ?? node['Index Name'] ?? node['CTE Name']
  if (table && / Scan$/.test(how))
    readings.push({ text, table, how, times: loops, rows: Math.round((rows + removed) * loops) })
  // Pairs that a join discarded: lists that are not in a table show only here as comparisons.
  const pairs = Math.round((node['Rows Removed by Join Filter'] ?? 0) * loops)
  if (pairs > 0) readings.push({ text, table: 'pairs', how, times: loops, rows: pairs })
  for (const child of node.Plans ?? []) collect(child, text, readings)
}
