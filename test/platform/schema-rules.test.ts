import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type pg from 'pg'
import { constraints } from '../../src/platform/constraints.ts'
import { readSteps } from '../../src/platform/sql/steps.ts'
import { freshDatabase, rowsOf } from '../support/database.ts'
import { readStaying } from '../support/scale-out.ts'

/**
 * The rules that let the schema be spread over several machines. Tables that grow with activity are
 * split by product, tables that everything refers to are copied to all machines, and the rest stay
 * on the first. scale-out/distribute.sql has a line with the kind of each table.
 */
const tablesOf = (wanted: string) =>
  readSteps().flatMap(({ kind, table }) => (kind === wanted ? table! : []))
const ledger = tablesOf('create_distributed_table')
const identity = tablesOf('create_reference_table')
const local = [...tablesOf('citus_add_local_table_to_metadata'), ...readStaying()]

/** Indexes of the ledger without the product, for pages over all products by id. */
const pages = ['biz_event_page', 'biz_transaction_page', 'hold_page', 'payment_run_page']
/** Indexes without the product, because with it they need an extension that may not be allowed. */
const parts = ['biz_transaction_external_part']

/** Constraints that no request can break, so that constraints.ts needs no message for them. */
const unbreakable = [
  // They hold the native id, which is a key by itself.
  'account_in_product',
  'biz_entity_in_product',
  'biz_entity_parent_biz_entity_parent_id_key',
  'investment_in_product',
  // Rows of the ledger are written together, and none is ever deleted.
  'version_of_transaction',
  // A content goes only when nothing refers to it, and is stored anew for who comes then.
  'report_stored_file',
  'import_stored_file',
  'import_stored_errors',
  // A run is deleted as a whole; references and transactions get numbers that are nobody else's.
  'payment_of_run',
  'item_of_payment',
  'file_of_run',
  'payment_reference',
  'residual_payment_transaction',
  // Users are deactivated and keys ended, never deleted.
  'webhook_user',
  'approval_api_key',
  'import_api_key',
  'report_api_key',
  'report_sender_api_key',
  'webhook_api_key',
  // Counted up, and drawn from 256 bits.
  'session_number_unique',
  'api_key_hash_unique',
]

type Key = { table: string; name: string; primary: boolean; columns: string[] }
type Reference = {
  table: string
  name: string
  target: string
  columns: string[]
  targetColumns: string[]
  onDelete: string
}

let connection: pg.ClientConfig
let tables: string[]
let keys: Key[]
let references: Reference[]
const rows = (text: string) => rowsOf(connection, text)

before(async () => {
  connection = await freshDatabase()
  const found = await rows(`select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1`)
  tables = found.map(({ name }) => name)
  keys = (await rows(`
    select t.relname as table, i.relname as name, x.indisprimary as primary,
      array(select coalesce(a.attname::text, '(expression)')
        from unnest(x.indkey::int[]) with ordinality k (attnum, place)
        left join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum and k.attnum > 0
        order by place) as columns
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
    where t.relnamespace = 'public'::regnamespace and x.indisunique`)) as Key[]
  const names = (table: string, columns: string) => `
    array(select a.attname::text from unnest(${columns}) with ordinality k (attnum, place)
      join pg_attribute a on a.attrelid = ${table} and a.attnum = k.attnum order by place)`
  references = (await rows(`
    select c.conrelid::regclass::text as table, c.conname as name,
      c.confrelid::regclass::text as target, ${names('c.conrelid', 'c.conkey')} as columns,
      ${names('c.confrelid', 'c.confkey')} as "targetColumns", c.confdeltype as "onDelete"
    from pg_constraint c
    where c.contype = 'f' and c.connamespace = 'public'::regnamespace
      and c.conparentid = 0`)) as Reference[]
})

describe('Every table', () => {
  it('is of one kind: ledger, identity or local', () => {
    assert.deepEqual(tables, [...ledger, ...identity, ...local].sort())
  })

  it('refers only to what will be where it is', () => {
    const reaches = [
      { from: ledger, to: [...ledger, ...identity] },
      { from: identity, to: identity },
      { from: local, to: [...local, ...identity] },
    ]
    const wrong = references.filter(({ table, target }) =>
      reaches.some(({ from, to }) => from.includes(table) && !to.includes(target)),
    )
    assert.deepEqual(
      wrong.map(({ table, target }) => `${table} → ${target}`),
      [],
    )
  })

  it('has a primary key, or is a list that is only added to', () => {
    const keyed = keys.filter(({ primary }) => primary).map(({ table }) => table)
    assert.deepEqual(
      tables.filter((table) => !keyed.includes(table)),
      ['login_failure'],
    )
  })

  it('has an index behind every reference to it: nothing is deleted by a scan', async () => {
    const scanned = await rows(`
      select c.conrelid::regclass || ' ' || c.conname as name from pg_constraint c
      where c.contype = 'f' and c.connamespace = 'public'::regnamespace and not exists (
        select from pg_index x
        left join pg_attribute a on a.attrelid = x.indrelid and a.attnum = x.indkey[0]
        where x.indrelid = c.conrelid and x.indkey[0] = any(c.conkey)
          and (a.attname <> 'product_id' or cardinality(c.conkey) = 1
            or x.indkey[1] = any(c.conkey)))`)
    assert.deepEqual(
      scanned.map(({ name }) => name),
      [],
    )
  })
})

describe('A ledger table', () => {
  const isLedger = ({ table }: { table: string }) => ledger.includes(table)

  it('has a product, and its keys begin with it', async () => {
    const found = await rows(`
      select attrelid::regclass::text as table from pg_attribute
      where attname = 'product_id' and attnotnull and atttypid = 'int'::regtype`)
    const owned = found.map(({ table }) => table)
    assert.deepEqual(
      ledger.filter((table) => !owned.includes(table)),
      [],
    )
    const wrong = keys.filter((key) => isLedger(key) && key.columns[0] !== 'product_id')
    assert.deepEqual(
      wrong.map(({ name }) => name),
      [],
    )
  })

  it('has indexes that begin with the product, but for pages and parts of texts', async () => {
    const found = await rows(`
      select i.relname as name, t.relname as table
      from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
      left join pg_attribute a on a.attrelid = t.oid and a.attnum = x.indkey[0]
      where t.relnamespace = 'public'::regnamespace and a.attname is distinct from 'product_id'
      order by 1`)
    assert.deepEqual(
      (found as { table: string; name: string }[]).filter(isLedger).map(({ name }) => name),
      [...pages, ...parts].sort(),
    )
  })

  it('has no rule beside its keys that would need a look at other shards', async () => {
    const found = await rows(`
      select conrelid::regclass::text as table, conname as name from pg_constraint
      where connamespace = 'public'::regnamespace and contype in ('x', 't')`)
    assert.deepEqual((found as { table: string; name: string }[]).filter(isLedger), [])
  })

  it('is not emptied in part by what it refers to: its product stays', () => {
    const wrong = references.filter(
      (one) => isLedger(one) && one.columns.includes('product_id') && /[nd]/.test(one.onDelete),
    )
    assert.deepEqual(
      wrong.map(({ name }) => name),
      [],
    )
  })

  it('refers to another, and to what belongs to a product, by the product first', () => {
    const wrong = references.filter(
      ({ table, target, columns, targetColumns }) =>
        ledger.includes(table) &&
        (columns[0] !== 'product_id' || targetColumns[0] !== 'product_id') &&
        target !== 'product',
    )
    assert.deepEqual(
      wrong.map(({ name }) => name),
      [],
    )
  })

  it('has no triggers', async () => {
    const found = await rows(`
      select tgrelid::regclass::text as table, tgname as name from pg_trigger
      where not tgisinternal`)
    assert.deepEqual(
      (found as { table: string; name: string }[]).filter(isLedger).map(({ name }) => name),
      [],
    )
  })

  it('is read by no view whose product nobody could name', async () => {
    const found = await rows(`
      select distinct u.table_name as table from information_schema.view_table_usage u
      where u.view_schema = 'public' and not exists (select from information_schema.columns c
        where c.table_schema = 'public' and c.table_name = u.view_name
          and c.column_name = 'product_id')`)
    assert.deepEqual((found as { table: string }[]).filter(isLedger), [])
  })

  it('takes its ids from a sequence, in 64 bits', async () => {
    const ids = { biz_transaction: 'biz_transaction_id', biz_event: 'biz_event_id' }
    for (const [table, column] of Object.entries(ids)) {
      const [id] = await rows(`
        select atttypid = 'bigint'::regtype as long,
          pg_get_serial_sequence('${table}', '${column}') is not null as sequence
        from pg_attribute where attrelid = '${table}'::regclass and attname = '${column}'`)
      assert.deepEqual(id, { long: true, sequence: true }, table)
    }
  })
})

describe('The code', () => {
  it('counts no id by hand', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .filter((name) => /max\([\w.]*_id\)[^)]*\+ ?1/.test(readFileSync(join('src', name), 'utf8')))
    assert.deepEqual(files, [])
  })

  it('has words for every constraint that a request can break', () => {
    const unique = keys.filter(({ primary }) => !primary).map(({ name }) => name)
    const refusing = references.filter(({ onDelete }) => onDelete === 'a').map(({ name }) => name)
    const known = [...Object.keys(constraints), ...unbreakable]
    assert.deepEqual(
      [...unique, ...refusing].filter((name) => !known.includes(name)),
      [],
    )
  })

  it('has words for no constraint that there is not', async () => {
    const found = await rows(`
      select conname as name from pg_constraint where connamespace = 'public'::regnamespace
      union select relname from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'i'`)
    const names = found.map(({ name }) => name)
    assert.deepEqual(
      Object.keys(constraints).filter((name) => !names.includes(name)),
      [],
    )
  })
})
