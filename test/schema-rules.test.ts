import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type pg from 'pg'
import { constraints } from '../src/constraints.ts'
import { freshDatabase, rowsOf } from './support/database.ts'

/**
 * The rules that keep the schema ready for many machines: what grows with activity lies with its
 * product on one of them, what everybody refers to is copied to all, the rest stays on the first.
 * A new table is written into one of these lists.
 */
const ledger = [
  'ledger_account',
  'holding',
  'biz_transaction',
  'biz_transaction_version',
  'biz_event',
  'distribution',
  'distribution_component',
  'entitlement',
  'drp_residual',
]
const identity = [
  'lookup',
  'product',
  'person',
  'organisation',
  'organisation_person',
  'biz_entity',
  'account',
  'retired_account_number',
  'biz_entity_party',
  'biz_entity_parent',
  'address',
  'communication',
  'payment_detail',
  'investment',
  'investment_price',
  'stored_file',
  'document',
]
const local = [
  'migration',
  'app_user',
  'app_user_product',
  'session',
  'refresh_token',
  'login_failure',
  'idempotency',
  'audit',
  'encryption_key',
  'report',
]

/** Constraints that no request can break, so that they need no words in constraints.ts. */
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

  it('refers to another by the product first', () => {
    const wrong = references.filter(
      ({ table, target, columns, targetColumns }) =>
        ledger.includes(table) &&
        ledger.includes(target) &&
        (columns[0] !== 'product_id' || targetColumns[0] !== 'product_id'),
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
