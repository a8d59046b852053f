import assert from 'node:assert/strict'
import { appendFileSync, cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type pg from 'pg'
import { distribute } from '../../src/operations/cli/distribute.ts'
import { mendBlockRanges } from '../../src/platform/sql/block-ranges.ts'
import { migrate, migrationsFolder } from '../../src/platform/sql/migrate.ts'
import { readSteps } from '../../src/platform/sql/steps.ts'
import { rowsOf } from '../support/database.ts'
import { openAsService } from '../support/explain.ts'
import { all, assertVerified, newFund, only, poster } from '../support/ledger.ts'
import { payBefore } from '../support/paid-before.ts'
import { temporaryFolder } from '../support/process.ts'
import { startService } from '../support/service.ts'
import { ask } from './cluster.ts'
import { createDatabase, joinWorkers, serversOfRun } from './database.ts'

/** `npm run test:citus` runs this after the walk: it upgrades a register that is spread. */
const oldest = '0034-closing-marks.sql' // has nearly every table of distribute.sql
let connection: pg.ClientConfig
before(async () => {
  const servers = serversOfRun()
  const name = `test_upgrade_${process.pid}`
  await createDatabase(servers, name)
  connection = { ...servers.coordinator.connection, database: name }
})

const kindsOf = async (...tables: string[]) =>
  rowsOf(
    connection,
    `select relname::text as name, partmethod::text as kind from pg_dist_partition
    join pg_class on oid = logicalrelid where relname = any($1) order by 1`,
    [tables],
  )

/** A folder with all migrations and one more version, with what they say about their tables. */
function nextVersion(): URL {
  const folder = temporaryFolder()
  cpSync(migrationsFolder, join(folder, 'migrations'), { recursive: true })
  cpSync(new URL('../scale-out/', migrationsFolder), join(folder, 'scale-out'), { recursive: true })
  writeFileSync(
    join(folder, 'migrations', '9999-next.sql'),
    `create table note_kind (note_kind_id int primary key, name text not null);
    create table note (
      product_id int not null,
      note_id bigint generated always as identity,
      account_id int not null,
      note_kind_id int,
      text text not null default 'none',
      primary key (product_id, note_id));
    alter table note add foreign key (product_id) references product;
    alter table note add foreign key (note_kind_id) references note_kind;
    alter table note add foreign key (product_id, account_id) references ledger_account;
    alter table biz_transaction add column remark text;
    alter table person add column remark text;
    create index biz_transaction_remark on biz_transaction (product_id, remark);
    grant select, insert on note, note_kind to registry_service;`,
  )
  appendFileSync(
    join(folder, 'scale-out', 'distribute.sql'),
    `select create_reference_table('note_kind');
select create_distributed_table('note', 'product_id', colocate_with => 'ledger_account');\n`,
  )
  return pathToFileURL(join(folder, 'migrations/'))
}

describe('A register that is spread over several servers', () => {
  it('is brought to the present version from an older one, and works', async () => {
    await migrate(connection, migrationsFolder, oldest)
    // A view, functions and a table of later migrations.
    const isOfLater = /happening|folded|mend_block|entitlement_total/
    await distribute(
      connection,
      readSteps().filter(({ text }) => !isOfLater.test(text)),
    )
    const kept = await payBefore(connection)
    assert.ok((await migrate(connection)).length > 0)
    assert.deepEqual(await migrate(connection), [])
    await kept()
    const service = await startService({}, connection)
    try {
      const { accountID, investmentID, productID } = await newFund(service)
      only(await poster(() => service.admin)('Deposit', { accountID, investmentID, amount: 5 }))
      const list = all(await service.admin.get(`/BizTransaction?ProductID=${productID}`))
      assert.equal(list.length, 1)
      assert.ok(all(await service.admin.get('/Event')).length > 0)
      await assertVerified(service)
    } finally {
      await service.stop()
    }
  })

  it('has the functions that a migration adds on every server', async () => {
    const database = openAsService(connection)
    await mendBlockRanges(database.transaction).finally(database.close)
  })

  it('has the tables that a migration adds as the file of tables says', async () => {
    assert.deepEqual(await migrate(connection, nextVersion()), ['9999-next.sql'])
    assert.deepEqual(await kindsOf('note', 'note_kind'), [
      { name: 'note', kind: 'h' },
      { name: 'note_kind', kind: 'n' },
    ])
    const [{ n }] = await rowsOf(
      connection,
      `insert into note (product_id, account_id)
      select product_id, account_id from ledger_account where product_id = (
        select min(product_id) from product) returning note_id as n`,
    )
    assert.equal(Number(n), 1)
    await rowsOf(connection, 'select remark from biz_transaction')
  })
})

describe('A register that was there before Citus', () => {
  it('is spread with all that is in it, and works', async () => {
    const servers = serversOfRun()
    const database = `test_before_${process.pid}`
    const before = { ...servers.coordinator.connection, database }
    await ask(servers.coordinator.connection, `create database ${database}`)
    await migrate(before)
    const alone = await startService({}, before)
    const { accountID, investmentID } = await newFund(alone)
    const line = { accountID, investmentID, amount: 5 }
    only(await poster(() => alone.admin)('Deposit', line))
    await alone.stop()
    await joinWorkers(servers, database)
    await distribute(before)
    const service = await startService({}, before)
    try {
      only(await poster(() => service.admin)('Deposit', line))
      const list = '/BizEntity/Account/Holdings'
      const [holding] = all(await service.admin.get(`${list}?AccountID=${accountID}`))
      assert.equal(holding.quantity, 10)
      await assertVerified(service)
    } finally {
      await service.stop()
    }
  })
})
