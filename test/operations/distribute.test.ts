import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import pg from 'pg'
import { migrationsFolder } from '../../src/platform/sql/migrate.ts'
import { statementsOf } from '../../src/platform/sql/script.ts'
import { madeBy, readSteps } from '../../src/platform/sql/steps.ts'
import { emptyDatabase, freshDatabase, rowsOf, urlOf } from '../support/database.ts'
import { runCli } from '../support/process.ts'
import { readStaying } from '../support/scale-out.ts'

const steps = readSteps()
const tables = steps.flatMap(({ table }) => table ?? [])
let connection: pg.ClientConfig
const rows = (text: string) => rowsOf(connection, text)
before(async () => {
  connection = await freshDatabase()
})

const references = `
  select conrelid::regclass::text as owner, confrelid::regclass::text as target, conname as name,
    pg_get_constraintdef(oid) as definition
  from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace order by 1, 3`

describe('The file that distributes the tables', () => {
  it('names every table there is, once, and no other', async () => {
    const found = await rows(`select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`)
    assert.deepEqual([...tables, ...readStaying()].sort(), found.map(({ name }) => name).sort())
  })

  it('has what is referred to before what refers to it', async () => {
    const place = (table: string) => tables.indexOf(table)
    const late = (await rows(references)).filter(
      ({ owner, target }) => owner !== target && place(target) > place(owner),
    )
    assert.deepEqual(late, [])
  })

  it('leaves plain only tables that refer to nothing and that nothing refers to', async () => {
    const staying = readStaying()
    const tied = (await rows(references)).filter(({ owner, target }) =>
      [owner, target].some((table) => staying.includes(table)),
    )
    assert.deepEqual(tied, [])
  })

  it('spreads every ledger table by its product, beside the first of them', () => {
    const spread = steps.filter(({ kind }) => kind === 'create_distributed_table')
    const [first, ...others] = spread
    assert.match(first!.text, /'product_id', colocate_with => 'none'\);/)
    for (const { text } of others)
      assert.ok(text.includes(`'product_id', colocate_with => '${first!.table}');`), text)
  })

  /** The SQL statements of the migrations that may still run on a register that is spread. */
  const later = readdirSync(migrationsFolder)
    .filter((name) => /^\d{4}-/.test(name) && name > '0038')
    .flatMap((name) => statementsOf(readFileSync(new URL(name, migrationsFolder), 'utf8')))

  it('can be followed by migrations: what a new table refers to is told after it', () => {
    const others = steps.filter(({ kind }) => kind !== 'citus_add_local_table_to_metadata')
    const isPlaced = new Set(others.map(({ table }) => table))
    const early = later.filter((text) => isPlaced.has(madeBy(text)) && /\breferences\b/.test(text))
    assert.deepEqual(early, [])
  })

  it('can be followed by migrations: a constraint of a table comes alone', () => {
    const others = /^alter table \w+\s[\s\S]*,\s*(add|drop|alter) /
    const mixed = later.filter((text) => /\badd constraint\b/.test(text) && others.test(text))
    assert.deepEqual(mixed, [])
  })

  it('brings every function that statements compute with to the workers', async () => {
    const named = steps.flatMap(
      ({ text }) => /^select create_distributed_function\(\s*'([^']+)'\)/.exec(text)?.[1] ?? [],
    )
    // Jobs are queued, and postings at once looked at, on the coordinator alone.
    const found = await rows(`
      select p.oid::regprocedure::text as name from pg_proc p
      where pronamespace::regnamespace::text in ('public', 'known', 'named')
        and proname not in ('queue_job', 'period_lock') and not exists (
        select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1`)
    const spelt = await Promise.all(
      named.map(async (name) => (await rows(`select '${name}'::regprocedure::text as n`))[0].n),
    )
    assert.deepEqual(spelt.sort(), found.map(({ name }) => name).sort())
  })

  it('takes every reference away and brings it back as it was', async () => {
    const client = new pg.Client(connection)
    await client.connect()
    try {
      const all = async () => (await client.query(references)).rows
      const kept = await all()
      await client.query('begin')
      const plain = steps.filter(({ text }) => /reference_between|^alter role/.test(text))
      for (const { text } of plain.slice(0, -1)) await client.query(text)
      assert.deepEqual(await all(), [])
      await client.query(plain.at(-1)!.text)
      assert.deepEqual(await all(), kept)
      assert.ok(kept.length > 30)
      await client.query('rollback')
    } finally {
      await client.end()
    }
  })
})

describe('distribute', () => {
  const stateOf = async (own: pg.ClientConfig) => [
    await rowsOf(own, references),
    await rowsOf(own, `select rolcanlogin from pg_roles where rolname = 'registry_service'`),
  ]

  it('says so where there is no Citus, what to do, and changes nothing', async () => {
    const own = await freshDatabase()
    const state = await stateOf(own)
    const { code, output, errors } = await runCli(['distribute'], { DATABASE_URL: urlOf(own) })
    assert.equal(code, 1)
    assert.equal(output, '')
    assert.match(errors, /^Nothing was changed: this database has no Citus\. Install its packages/m)
    assert.match(errors, /citus_add_node/)
    assert.deepEqual(await stateOf(own), state)
  })

  it('wants a database that is up to date', async () => {
    const env = { DATABASE_URL: urlOf(await emptyDatabase()) }
    const { code, errors } = await runCli(['distribute'], env)
    assert.equal(code, 1)
    assert.match(errors, /Run the command migrate first/)
  })
})

/** The tables of the ledger; `source` finds where SQL names one of them, with its alias. */
const spread = steps.flatMap(({ kind, table }) =>
  kind === 'create_distributed_table' ? [table!] : [],
)
const reserved = 'where|join|left|cross|on|using|order|group|limit|union|set|for|returning'
const source = new RegExp(
  `\\b(?:from|join|update)\\s+(${[...spread, 'transaction_line'].join('|')})\\b` +
    `(?:\\s+(?!(?:${reserved})\\b)(\\w+))?`,
  'g',
)

/** The tables of the ledger that an SQL statement reads without a condition on the product. */
function unplaced(statement: string): string[] {
  // The most that a page can begin at is asked of everything, and only of lists over everything.
  const text = statement.replace('(select max(corporate_action_id) from distribution)', '')
  const isPlaced = (table: string, alias: string | undefined) => {
    const own = `${alias ?? table}\\.product_id`
    const said = [`\\b${own} =`, `= ${own}\\b`, `\\(${own},`, 'using \\(product_id']
    return new RegExp([...said, ...(alias ? [] : ['(?<![.\\w])product_id ='])].join('|')).test(text)
  }
  return [...text.matchAll(source)].flatMap(([whole, table, alias]) =>
    isPlaced(table!, alias) ? [] : [whole],
  )
}

describe('A statement about the ledger', () => {
  const folder = 'test/golden/sql' // tests run in the project's folder, wherever they are built
  const golden = readdirSync(folder).map((name) => ({
    name,
    statements: readFileSync(`${folder}/${name}`, 'utf8').split(/;\n\n/),
  }))

  it('says of which product its rows are, for every table of the ledger that it names', () => {
    const found = golden.flatMap(({ name, statements }) =>
      statements.flatMap((one) => unplaced(one).map((words) => `${name}: ${words}`)),
    )
    assert.deepEqual(found, [])
    const read = golden.flatMap(({ statements }) => statements).join('\n')
    assert.ok([...read.matchAll(source)].length > 50, 'the statements are looked at')
  })

  it('is found out when it does not', () => {
    const alone = 'select h.quantity from holding h where h.account_id = $1'
    assert.deepEqual(unplaced(alone), ['from holding h'])
    assert.deepEqual(unplaced(`${alone} and h.product_id = $2`), [])
  })
})
