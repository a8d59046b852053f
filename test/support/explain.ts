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

/** What a statement read: how, and how many rows, counting those it threw away. */
export type Reading = { text: string; table: string; how: string; rows: number }

/** The database as the service opens it. */
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
 * Runs work in a transaction that is undone, and tells what each of its statements read: by the
 * plan for its values, and by the one for any values.
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

/** Once to see its plan at work, undone, and once for its rows. */
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

/** The plan for these values, or the one for any values: a prepared statement gets either. */
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
    readings.push({ text, table, how, rows: Math.round((rows + removed) * loops) })
  // Pairs that a join looked at in vain: lists that no table holds are compared there alone.
  const pairs = Math.round((node['Rows Removed by Join Filter'] ?? 0) * loops)
  if (pairs > 0) readings.push({ text, table: 'pairs', how, rows: pairs })
  for (const child of node.Plans ?? []) collect(child, text, readings)
}
