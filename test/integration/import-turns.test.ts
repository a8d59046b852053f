import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { rowsOf } from '../support/database.ts'
import { eventsAfter, feedEnd } from '../support/events.ts'
import {
  depositRow,
  endOf,
  errorsOf,
  imported,
  importFor,
  sendFile,
  transactionFile as transactions,
  unitsIn,
} from '../support/imports.ts'
import { type Fund, newFund } from '../support/ledger.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let fund: Fund
let stop = async () => {}
const env = { REGISTRY_DATA_DIR: temporaryFolder() }

before(async () => {
  service = await startService(env)
  fund = await newFund(service, { accounts: 7 })
})
after(async () => {
  await stop()
  await service.stop()
})

const deposit = (accountID: number, amount: string | number) => depositRow(fund, accountID, amount)
const unitsOf = (accountID: number) => unitsIn(service.admin, accountID)
const newAccount = () => fund.accounts[counter++]!.accountID
let counter = 0

describe('An import among others', () => {
  it('leaves nothing when it is atomic and cancelled, before it begins or on its way', async () => {
    const account = newAccount()
    const before = await unitsOf(account)
    const file = transactions(...Array.from({ length: 20_000 }, () => deposit(account, 1)))
    const terms = { type: 'Transactions', mode: 'atomic' }
    const start = await feedEnd(service.admin)
    const waiting = await sendFile(service.admin, terms, file)
    const cancel = `/Import?ImportID=${waiting.data.importID}`
    assert.equal((await service.admin.delete(cancel)).status, 200)
    const [told] = await eventsAfter(service.admin, start, 1, { Type: 'import.cancelled' })
    assert.deepEqual(told!.ids, [waiting.data.importID])
    refused(await service.admin.delete(cancel), 409, 'wrong_state')
    stop = await importFor(service, env)
    const { data } = await sendFile(service.admin, terms, file)
    await until('the import to begin', async () => {
      const [seen] = (await service.admin.get(`/Import?ImportID=${data.importID}`)).data
      return seen.rowsRead > 0 || seen.status !== 'Running' ? seen : undefined
    })
    assert.equal((await service.admin.delete(`/Import?ImportID=${data.importID}`)).status, 200)
    const next = await imported(service.admin, terms, transactions(deposit(account, 5)))
    assert.equal(next.status, 'Completed', 'the account is free again')
    assert.equal(await unitsOf(account), before + 5)
    // Its end is told, not when its one transaction began.
    const [row] = await rowsOf(
      service.connection,
      `select i.completed_date > a.occurred_date as "isAfter" from import i
       join audit a on a.request_id = 'import ' || i.import_id
       where i.import_id = $1 and a.resource = 'BizTransaction'`,
      [next.importID],
    )
    assert.equal(row!.isAfter, true)
  })

  it('tells what is in and what was refused when one that goes on is cancelled', async () => {
    const account = newAccount()
    const before = await unitsOf(account)
    const rows = Array.from({ length: 40_000 }, (_, i) => deposit(account, i % 500 ? 1 : 'bad'))
    const file = transactions(...rows)
    const { data } = await sendFile(service.admin, { type: 'Transactions', mode: 'continue' }, file)
    const place = `/Import?ImportID=${data.importID}`
    await until(
      'the first rows',
      async () => (await service.admin.get(place)).data[0].rowsAccepted > 0,
    )
    assert.equal((await service.admin.delete(place)).status, 200)
    const [{ status, message, rowsAccepted, rowsRefused }] = (await service.admin.get(place)).data
    const [, line] = /^The rows up to line (\d+) are done: send only those after it\.$/.exec(
      message,
    ) as RegExpExecArray
    // A note and the heading stand above the rows.
    assert.deepEqual([status, rowsAccepted + rowsRefused], ['Cancelled', Number(line) - 2])
    assert.equal(await unitsOf(account), before + rowsAccepted)
    await until('its refused rows', async () => (await service.admin.get(place)).data[0].errorsSize)
    const told = (await errorsOf(service.admin, data)).toString().trim().split('\n').slice(1)
    const linesOf = told.map((row) => Number(row.split(',')[0]))
    assert.deepEqual(
      linesOf,
      Array.from({ length: rowsRefused }, (_, i) => 3 + 500 * i),
    )
    const [left] = await rowsOf(
      service.connection,
      `select status, message, file_sha256 as file, lease from import where import_id = $1`,
      [data.importID],
    )
    assert.deepEqual(left, { status, message, file: null, lease: null })
  })

  it('lets nobody wait for all the imports of another', async () => {
    await stop()
    const one = await service.userWith({ role: 'Administrator' })
    const terms = { type: 'Transactions', mode: 'continue' }
    const account = newAccount()
    const many = []
    for (let i = 0; i < 6; i++) {
      const rows = Array.from({ length: 3000 }, () => deposit(account, 1))
      many.push((await sendFile(one, terms, transactions(...rows))).data.importID)
    }
    const two = await service.userWith({ role: 'Administrator' })
    const own = await sendFile(two, terms, transactions(deposit(newAccount(), 1)))
    stop = await importFor(service, env)
    await endOf(two, own.data.importID)
    const { data } = await one.get(`/Import?ImportID=${many.at(-1)}`)
    assert.equal(data[0].status, 'Queued')
    for (const importID of many) await endOf(one, importID)
  })

  it('waits for the other one of its user, also when two workers look at once', async () => {
    await stop()
    const one = await service.userWith({ role: 'Administrator' })
    const terms = { type: 'Transactions', mode: 'continue' }
    const ids: number[] = []
    for (let i = 0; i < 2; i++) {
      const file = transactions(deposit(newAccount(), 'bad'))
      const { data } = await sendFile(one, terms, file)
      ids.push(data.importID)
    }
    const other = new pg.Client(service.connection)
    await other.connect()
    const stops: (() => Promise<void>)[] = []
    try {
      // Who takes an import waits for lock 8, and who keeps a refused row waits for lock 9.
      await other.query(`
        create function wait_for_turn() returns trigger language plpgsql as $$
        begin perform pg_advisory_xact_lock(tg_argv[0]::int); return new; end $$`)
      await other.query(`
        create trigger takes before update on import for each row
          when (new.attempts > old.attempts) execute function wait_for_turn('8')`)
      await other.query(`
        create trigger refuses before insert on import_refusal
          for each row execute function wait_for_turn('9')`)
      await other.query('select pg_advisory_lock(8), pg_advisory_lock(9)')
      const waiting = async (condition: string) => {
        const [row] = await rowsOf(
          service.connection,
          `select count(*)::int as count from pg_stat_activity
           where datname = current_database() and wait_event = 'advisory' and ${condition}`,
        )
        return row!.count
      }
      stops.push(await importFor(service, env), await importFor(service, env))
      await until('both workers to look', async () => (await waiting('true')) === 2)
      await other.query('select pg_advisory_unlock(8)')
      const keeps = `query ~ 'into import_refusal'`
      await until('an import at its refused row', async () => (await waiting(keeps)) > 0)
      await until('the other worker', async () => (await waiting(`not ${keeps}`)) === 0)
      const seen = ids.map((id) => one.get(`/Import?ImportID=${id}`))
      const statuses = (await Promise.all(seen)).map(({ data }) => data[0].status)
      assert.deepEqual(statuses, ['Running', 'Queued'])
      await other.query('select pg_advisory_unlock(9)')
      for (const importID of ids) assert.equal((await endOf(one, importID)).status, 'Completed')
    } finally {
      await other.query(`select pg_advisory_unlock_all()`)
      await other.query(`drop function wait_for_turn cascade`)
      await other.end()
      await Promise.all(stops.map((end) => end()))
      stop = async () => {}
    }
  })

  it('does not begin again where what it keeps beside its work fails for a moment', async () => {
    const account = newAccount()
    const rows = Array.from({ length: 3000 }, (_, i) => deposit(account, i % 1000 || 'bad'))
    await stop()
    stop = await importFor(service, env)
    const other = new pg.Client(service.connection)
    await other.connect()
    try {
      // Who keeps a refused row waits for us. One by one: Citus tells its workers of each.
      await other.query(`
        create function wait_for_test() returns trigger language plpgsql as $$
        begin perform pg_advisory_xact_lock(7); return new; end $$`)
      await other.query(`
        create trigger waits before insert on import_refusal
          for each row execute function wait_for_test()`)
      await other.query('select pg_advisory_lock(7)')
      const terms = { type: 'Transactions', mode: 'validate' }
      const { data } = await sendFile(service.admin, terms, transactions(...rows))
      const killed = new Set<number>()
      await until('two tries that fail', async () => {
        for (const { pid } of await rowsOf(service.connection, ended)) killed.add(pid)
        return killed.size >= 2
      })
      await other.query('select pg_advisory_unlock(7)')
      const end = await endOf(service.admin, data.importID)
      assert.deepEqual([end.status, end.rowsRead, end.rowsRefused], ['Completed', 3000, 3])
      const [{ attempts }] = await rowsOf(
        service.connection,
        'select attempts from import where import_id = $1',
        [data.importID],
      )
      assert.equal(attempts, 1)
    } finally {
      await other.end()
    }
  })
})

/** Ends the database session that waits to insert refused rows. */
const ended = `
  select pid, pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'
    and query ~ 'into import_refusal'`
