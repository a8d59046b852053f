import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type pg from 'pg'
import { freshDatabase, rowsOf } from '../support/database.ts'
import { endOf, investorFile, lines, sendFile } from '../support/imports.ts'
import { assertVerified, type Fund, newFund } from '../support/ledger.ts'
import { type Node, startNode } from '../support/node.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { encryptionKey } from '../support/service.ts'

/** How many rows a file has; a step is a thousand of them. */
const count = Number(process.env.REGISTRY_CRASH_ROWS ?? 8_000)
/** Both processes use one data folder, so that the next one finds the file. */
const env = { REGISTRY_DATA_DIR: temporaryFolder(), REGISTRY_ENCRYPTION_KEY: encryptionKey }

let connection: pg.ClientConfig
let node: Node
let fund: Fund
before(async () => {
  connection = await freshDatabase()
  node = await startNode(connection, env)
  fund = await newFund({ admin: node.admin, connection }, { accounts: 50 })
})
after(() => node.stop())

/** The account of a row: consecutive steps, which run at the same time, have other accounts. */
const accountOf = (row: number) => fund.accounts[((5 * Math.floor(row / 1000)) % 50) + (row % 5)]!

/** A file of rows without external ids: only the import's own progress prevents double postings. */
const fileOf = (name: string) =>
  `# ${name}\n${lines(
    ['operation', 'accountID', 'investmentID', 'transactionDate', 'amount'],
    ...Array.from({ length: count }, (_, i) => [
      'Deposit',
      accountOf(i).accountID,
      fund.investmentID,
      '2026-01-10',
      i % 1000 === 500 ? 'bad' : 1,
    ]),
  )}`
const bad = Math.ceil((count - 500) / 1000)

const posted = async () =>
  (await rowsOf(connection, 'select count(*)::int as count from biz_transaction'))[0].count
const rowsDone = async (importID: number): Promise<{ read: number; status: string }> =>
  (
    await rowsOf(connection, 'select rows_read as read, status from import where import_id = $1', [
      importID,
    ])
  )[0]

/** The unencrypted copies of files that imports are reading. */
const copiesLeft = () =>
  readdirSync(join(env.REGISTRY_DATA_DIR, 'files', 'drafts')).filter((name) =>
    name.startsWith('import-'),
  )

const connections = async (): Promise<number> =>
  (
    await rowsOf(
      connection,
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()
         and backend_type = 'client backend' and application_name !~ '^citus_internal'`,
    )
  )[0].count

/** Kills the service (-9) when it has read more than so many rows, and starts it again. */
async function killAfter(importID: number, rows: number, done = posted) {
  await until(`row ${rows}`, async () => (await rowsDone(importID)).read > rows)
  await node.kill()
  // What it had sent is still done: a commit on its way, too.
  await until('its connections to end', async () => (await connections()) === 0)
  const seen = { ...(await rowsDone(importID)), done: await done() }
  await assertVerified({ connection })
  node = await startNode(connection, env)
  return seen
}

describe(`A service killed (-9) in the middle of ${count} rows`, () => {
  it('goes on where it was, and does no row twice', async () => {
    const terms = { type: 'Transactions', mode: 'continue' }
    const { data } = await sendFile(node.admin, terms, fileOf('continue'))
    const seen = await killAfter(data.importID, 0)
    assert.equal(seen.done, seen.read - Math.ceil((seen.read - 500) / 1000))
    await killAfter(data.importID, seen.read)
    const end = await endOf(node.admin, data.importID)
    assert.equal(end.status, 'Completed', end.message)
    assert.deepEqual([end.rowsRead, end.rowsRefused], [count, bad])
    assert.equal(await posted(), count - bad)
    await assertVerified({ connection })
    await until('no copy of the file to be left', () => copiesLeft().length === 0)
  })

  it('makes no investor twice, and finds the parents of before it was killed', async () => {
    const made = async () =>
      (await rowsOf(connection, `select count(*)::int as count from biz_entity where ${ours}`))[0]
    const ours = `external_biz_entity_id ~ '^K[0-9]+$'`
    // Those of every other step name one of the step before, or of the one before that.
    const parentOf = (i: number) => (i % 1000 < 500 ? '' : `K${Math.max(0, i - 500 - (i % 9))}`)
    const rows = Array.from({ length: 3000 }, (_, i) => ({ id: `K${i}`, parent: parentOf(i) }))
    const terms = { type: 'Investors', mode: 'continue' }
    const file = investorFile(fund.productID, rows)
    const { data } = await sendFile(node.admin, terms, file)
    const seen = await killAfter(data.importID, 0, async () => (await made()).count)
    assert.equal(seen.done, seen.read)
    const end = await endOf(node.admin, data.importID)
    assert.deepEqual([end.rowsAccepted, end.rowsRefused], [3000, 0], end.message)
    assert.deepEqual(await made(), { count: 3000 })
    const links = await rowsOf(
      connection,
      `select c.external_biz_entity_id as id, p.external_biz_entity_id as parent
       from biz_entity_parent l
       join biz_entity c on c.biz_entity_id = l.biz_entity_id
       join biz_entity p on p.biz_entity_id = l.parent_biz_entity_id
       order by c.biz_entity_id`,
    )
    assert.deepEqual(
      links,
      rows.filter(({ parent }) => parent),
    )
  })

  it('leaves an atomic import undone, and then does all of it', async () => {
    const before = await posted()
    const terms = { type: 'Transactions', mode: 'atomic' }
    const file = fileOf('atomic').replaceAll('bad', '1')
    const { data } = await sendFile(node.admin, terms, file)
    const seen = await killAfter(data.importID, 0)
    assert.ok([before, before + count].includes(seen.done))
    const end = await endOf(node.admin, data.importID)
    assert.equal(end.status, 'Completed', end.message)
    assert.equal(await posted(), before + count)
    await assertVerified({ connection })
  })

  it('hands it back when it is told to stop (SIGTERM), within its time', async () => {
    const before = await posted()
    const terms = { type: 'Transactions', mode: 'continue' }
    const { data } = await sendFile(node.admin, terms, fileOf('stop'))
    await until('a step', async () => (await rowsDone(data.importID)).read > 0)
    assert.equal(await node.stop(), 0)
    node = await startNode(connection, env)
    await endOf(node.admin, data.importID)
    assert.equal(await posted(), before + count - bad)
  })
})
