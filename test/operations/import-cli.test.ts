import assert from 'node:assert/strict'
import { chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { rowsOf, urlOf, waitingForLocks } from '../support/database.ts'
import { lines } from '../support/imports.ts'
import { all, type Fund, newFund } from '../support/ledger.ts'
import { cliCommand, runCli, start, temporaryFolder, until } from '../support/process.ts'
import { cellsOf } from '../support/reports.ts'
import { encryptionKey, type Service, startService } from '../support/service.ts'

let service: Service
let fund: Fund
const folder = temporaryFolder()
before(async () => {
  service = await startService()
  fund = await newFund(service)
})
after(() => service.stop())

const environment = () => ({
  DATABASE_URL: urlOf(service.connection),
  REGISTRY_DATA_DIR: folder,
  REGISTRY_ENCRYPTION_KEY: encryptionKey,
})
const run = (...args: string[]) => runCli(['import', ...args], environment())
const head = ['operation', 'accountID', 'investmentID', 'transactionDate', 'amount']

const nobody = 65_534
const within = (place: string) => [
  place,
  ...readdirSync(place, { recursive: true, encoding: 'utf8' }).map((name) => join(place, name)),
]
const giveAll = (place: string) => {
  for (const one of within(place)) chownSync(one, nobody, nobody)
}

describe('cli import', () => {
  it('checks a file, then takes it; refused rows are beside it, and the code says so', async () => {
    const { accountID, investmentID, productID } = fund
    const row = (amount: string) => ['Deposit', accountID, investmentID, '2026-01-10', amount]
    const path = join(folder, 'june.csv')
    writeFileSync(path, lines(head, row('10'), row('ten')))
    const trial = await run(path, '--type', 'Transactions')
    assert.equal(trial.code, 1, trial.errors)
    assert.match(trial.output, /2 rows read, 1 accepted, 1 refused/)
    assert.match(trial.output, /june\.errors\.csv/)
    const [, refused] = cellsOf(readFileSync(join(folder, 'june.errors.csv')))
    assert.deepEqual(refused?.slice(0, 3), ['3', 'amount', 'invalid_decimal'])
    writeFileSync(path, lines(head, row('10'), row('11')))
    const terms = ['--type', 'Transactions', '--mode', 'atomic', '--product', String(productID)]
    const done = await run(path, ...terms)
    assert.deepEqual([done.code, done.errors], [0, ''])
    assert.match(done.output, /Completed/)
    const held = all(await service.admin.get(`/BizEntity/Account/Holdings?AccountID=${accountID}`))
    assert.equal(held[0].quantity, 21)
    const again = await run(path, ...terms)
    assert.deepEqual([again.code, again.output], [1, ''])
    assert.match(again.errors, /imported before/)
    const [record] = all(await service.admin.get('/Import?Status=Completed&Order=desc'))
    assert.equal(record.username, 'cli')
    assert.ok(existsSync(path), 'the file itself stays')
  })

  it('run by root leaves nothing that the user of the data folder cannot read', {
    skip: process.getuid?.() !== 0,
  }, async () => {
    const own = { ...environment(), REGISTRY_DATA_DIR: temporaryFolder() }
    delete (own as Record<string, string>).REGISTRY_ENCRYPTION_KEY
    const places = ['files', 'keys'].map((name) => join(own.REGISTRY_DATA_DIR, name))
    const { accountID, investmentID } = fund
    const path = join(folder, 'by-root.csv')
    for (const amount of ['1', '2']) {
      writeFileSync(path, lines(head, ['Deposit', accountID, investmentID, '2026-01-11', amount]))
      const done = await runCli(['import', path, '--type', 'Transactions'], own)
      assert.deepEqual([done.code, done.errors], [0, ''])
      // From here on they are another's, as where a service manager starts the service.
      if (amount === '1') for (const place of places) giveAll(place)
    }
    const rotated = await runCli(['rotate-encryption-key', '--generate'], own)
    assert.equal(rotated.code, 0, rotated.errors)
    const owners = places.flatMap(within).map((one) => statSync(one).uid)
    assert.ok(owners.length > 8, String(owners.length))
    assert.deepEqual([...new Set(owners)], [nobody])
  })

  it('goes on until its end where an attempt fails by a fault that passes', async () => {
    const { accountID, investmentID } = await newFund(service)
    const path = join(folder, 'second-attempt.csv')
    writeFileSync(path, lines(head, ['Deposit', accountID, investmentID, '2026-01-10', 'ten']))
    const fault = (statement: string) => rowsOf(service.connection, statement)
    await fault('create sequence faults')
    await fault('grant usage on sequence faults to public')
    await fault(`
      create function fail_once() returns trigger language plpgsql as $$
      begin
        if nextval('faults') = 1 then raise exception 'a fault that passes'; end if;
        return new;
      end $$`)
    await fault(`create trigger fails before insert on import_refusal
      for each row execute function fail_once()`)
    try {
      const end = await run(path, '--type', 'Transactions', '--mode', 'continue')
      assert.match(end.output, /Completed\.\n1 rows read, 0 accepted, 1 refused/, end.errors)
    } finally {
      await fault('drop function fail_once cascade')
    }
  })

  it('is cancelled by Ctrl-C, also where npm passes it on a second time', async () => {
    const { accountID, investmentID, productID } = await newFund(service)
    const first = { accountID, investmentID, transactionDate: '2026-01-09', amount: 1 }
    assert.equal((await service.admin.post('/BizTransaction/Deposit', first)).status, 200)
    const path = join(folder, 'broken-off.csv')
    writeFileSync(path, lines(head, ['Deposit', accountID, investmentID, '2026-01-10', '10']))
    const holder = new pg.Client(service.connection)
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query(
        'select 1 from ledger_account where product_id = $1 and account_id = $2 for update',
        [productID, accountID],
      )
      const terms = ['import', path, '--type', 'Transactions', '--mode', 'continue']
      const command = start(cliCommand(terms), environment())
      await until('the import to wait', async () => (await waitingForLocks(service.connection)) > 0)
      command.kill('SIGINT')
      await until('the signal to be heard', () => /Cancelling/.test(command.output()))
      command.kill('SIGINT')
      const stopped = async () =>
        all(await service.admin.get('/Import?Status=Cancelled')).length === 1
      await until('the import to be cancelled', stopped)
      await holder.query('rollback')
      assert.equal(await command.exited, 1, command.errors())
      assert.match(command.output(), /Cancelled/)
      const { recordCount } = await service.admin.get(`/BizTransaction?AccountID=${accountID}`)
      assert.equal(recordCount, 1, 'nothing was posted')
    } finally {
      await holder.end()
    }
  })

  it('says what is wrong with its words', async () => {
    const wrong = await run('no-such-file.csv', '--type', 'Prices')
    assert.equal(wrong.code, 1)
    assert.match(wrong.errors, /no such file/)
    const folder = await run(temporaryFolder(), '--type', 'Prices', '--format', 'csv')
    assert.equal(folder.code, 1)
    assert.match(folder.errors, /^\/.* is a folder: name the file in it that is to be imported/)
    const type = await run('x.csv', '--type', 'Nonsense')
    assert.equal(type.code, 1)
    assert.match(type.errors, /Allowed choices are Investors/)
  })
})
