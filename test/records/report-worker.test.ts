import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { reportsOfOneUser } from '../../src/operations/worker.ts'
import { rowsOf, urlOf, waitingForLocks } from '../support/database.ts'
import { getBytes } from '../support/files.ts'
import { type Fund, newFund } from '../support/ledger.ts'
import { type Program, start, temporaryFolder, until } from '../support/process.ts'
import { cellsOf, ended } from '../support/reports.ts'
import { adminPassword, type Service, startService } from '../support/service.ts'

/** The members of a register that does not fit in memory, and of one with many reports. */
const members = Number(process.env.REGISTRY_REPORT_ROWS ?? 60_000)
const fewer = 5_000

let service: Service
let fund: Fund
let small: Fund
const dataDir = temporaryFolder()
before(async () => {
  service = await startService({ REGISTRY_DATA_DIR: dataDir })
  fund = await newFund(service)
  await fill(fund, members)
  small = await newFund(service)
  await fill(small, fewer)
})
after(() => service.stop())

/** Inserts a large register straight into the database. */
async function fill({ productID, investmentID }: Fund, count: number) {
  const run = (text: string, values: unknown[]) => rowsOf(service.connection, text, values)
  await run(
    `with entity as (
      insert into biz_entity (product_id, biz_entity_type_id, biz_entity_status_id, name,
        communication_preference_copy_parent_biz_entity, is_director_interest,
        is_executive_interest)
      select $1, 1, 1, 'Member number ' || n, false, false, false
      from generate_series(1, $2::int) n returning biz_entity_id)
    insert into account (biz_entity_id, product_id, account_number, currency_id, drp_type_id,
      account_status_id)
    select biz_entity_id, $1, 'M' || biz_entity_id, 1, 1, 1 from entity`,
    [productID, count],
  )
  const accounts = `select account_id from account
    where product_id = $1 and account_number like 'M%'`
  await run(
    `insert into ledger_account (product_id, account_id, last_date)
    select $1, account_id, '2026-01-10' from (${accounts}) a`,
    [productID],
  )
  await run(
    `insert into holding (product_id, account_id, investment_id, quantity, invested_amount,
      cost_amount, realised_gain)
    select $1, account_id, $2, 10, 10, 10, 0 from (${accounts}) a`,
    [productID, investmentID],
  )
  await run(
    `insert into biz_transaction (product_id, biz_transaction_type_id, account_id, investment_id,
      transaction_date, amount, quantity, closing_quantity, closing_amount, closing_cost,
      closing_gain)
    select $1, 2, account_id, $2, '2026-01-10', 10, 10, 10, 10, 10, 0
    from (${accounts}) a`,
    [productID, investmentID],
  )
  await rowsOf(service.connection, 'analyze')
}

async function startWorker(flags: string[] = []): Promise<Program> {
  const worker = start([...flags, join('scripts', 'run.mjs'), 'worker'], {
    DATABASE_URL: urlOf(service.connection),
    REGISTRY_DATA_DIR: dataDir,
    REGISTRY_LOG_LEVEL: 'error',
  })
  await until('the worker to start', () => {
    if (!worker.isUp()) throw new Error(worker.errors())
    return worker.output().includes('making reports')
  })
  return worker
}

const orderRegister = async (format: string, { productID } = fund) => {
  const about = { reportTypeID: 1, productID, format }
  const reply = await service.admin.post('/Report', about)
  assert.equal(reply.status, 200, reply.text)
  return reply.data.reportID as number
}
const status = async (reportID: number) =>
  (await service.admin.get(`/Report/Status?ReportID=${reportID}`)).data
const isRunning = (reportID: number) =>
  until('the report to run', async () => (await status(reportID)).reportStatusID === 2)

async function somebodyElse(username: string) {
  const user = { username, password: adminPassword, role: 'Operator' }
  assert.equal((await service.admin.post('/User', user)).status, 200)
  return service.anyone.signIn(username, adminPassword)
}

/** A report type that reads no holdings. */
const dataQuality = 13

/** Locks tables so that nobody can read them until the lock is released. */
async function hold(tables: string) {
  const client = new pg.Client(service.connection)
  await client.connect()
  // However long it takes: idle transactions are ended after a minute.
  await client.query('set idle_in_transaction_session_timeout = 0')
  await client.query(`begin; lock table ${tables}`)
  return () => client.end()
}
const holdHoldings = () => hold('biz_transaction, holding')

async function assertWhole(reportID: number, rows = members) {
  const done = await ended(service.admin, reportID)
  assert.equal(done.reportStatusID, 3, done.errorMessage)
  assert.equal(done.rowCount, rows)
  const { bytes } = await getBytes(service.admin, `/Report/File?ReportID=${reportID}`)
  assert.equal(bytes.length, done.fileSize)
  return bytes
}

describe('A worker', () => {
  it('that is killed in the middle of a report leaves it to another', async () => {
    const first = await startWorker()
    const letGo = await holdHoldings()
    const reportID = await orderRegister('csv', small)
    await isRunning(reportID)
    first.kill('SIGKILL')
    await first.exited
    await letGo()
    assert.equal((await status(reportID)).reportStatusID, 2)
    const second = await startWorker()
    const rows = cellsOf(await assertWhole(reportID, fewer))
    assert.equal(rows.length, fewer + 2)
    assert.equal(new Set(rows.map(([, , account]) => account)).size, fewer + 2)
    const [label, ...total] = rows.at(-1) ?? []
    assert.deepEqual([label, total.at(-1)], ['Total', `${fewer * 10}.0000`])
    second.kill('SIGTERM')
    assert.equal(await second.exited, 0)
  })

  it('that was away for long leaves the letters of who has made them since', async () => {
    const { productID, accountID, investmentID } = await newFund(service)
    const deposit = { accountID, investmentID, transactionDate: '2026-01-10', amount: 10 }
    assert.equal((await service.admin.post('/BizTransaction/Deposit', deposit)).status, 200)
    const asked = { reportTypeID: 15, productID, format: 'zip', fromDate: '2026-01-01' }
    const { reportID } = (await service.admin.post('/Report', asked)).data
    const letGo = await hold('account')
    const away = await startWorker()
    await until('it to be at it', async () => (await waitingForLocks(service.connection)) > 0)
    away.kill('SIGSTOP')
    await letGo()
    await rowsOf(
      service.connection,
      `update report set lease_date = now() - interval '1 minute' where report_id = ${reportID}`,
    )
    const other = await startWorker()
    assert.equal((await ended(service.admin, reportID)).reportStatusID, 3)
    const letters = () =>
      rowsOf(
        service.connection,
        `select xmin::text, account_id, state from report_statement where report_id = ${reportID}`,
      )
    const made = await letters()
    assert.equal(made.length, 1)
    away.kill('SIGCONT')
    await until('it to notice', () => away.output().includes('a report failed'))
    assert.deepEqual(await letters(), made)
    for (const worker of [away, other]) worker.kill('SIGTERM')
    await Promise.all([away.exited, other.exited])
  })

  it('that is told to stop finishes its report or hands it back', async () => {
    const first = await startWorker()
    const reportID = await orderRegister('pdf')
    await isRunning(reportID)
    first.kill('SIGTERM')
    assert.equal(await first.exited, 0)
    const { reportStatusID } = await status(reportID)
    assert.ok(reportStatusID === 1 || reportStatusID === 3, `status ${reportStatusID}`)
    await service.admin.delete(`/Report?ReportID=${reportID}`)
  })

  it('makes the one report of a user before all that another has ordered are done', async () => {
    const other = await somebodyElse('one-report')
    const many: number[] = []
    for (let i = 0; i < 10; i++) many.push(await orderRegister('csv', small))
    const about = { reportTypeID: 1, productID: small.productID, format: 'csv' }
    const { reportID } = (await other.post('/Report', about)).data
    const worker = await startWorker()
    assert.equal((await ended(other, reportID)).reportStatusID, 3)
    const open = (await Promise.all(many.map(status))).filter((one) => one.reportStatusID < 3)
    assert.ok(open.length >= 4, `${open.length} of the others are left`)
    for (const one of many) await service.admin.delete(`/Report?ReportID=${one}`)
    worker.kill('SIGTERM')
    assert.equal(await worker.exited, 0)
  })

  it('makes no more than a share of one user at once, and those of another meanwhile', async () => {
    const other = await somebodyElse('not-kept-waiting')
    const few = await newFund(service)
    const { productID } = few
    const worker = await startWorker()
    const letGo = await holdHoldings()
    const many: number[] = []
    for (let i = 0; i < reportsOfOneUser + 3; i++) many.push(await orderRegister('csv', few))
    const running = async () =>
      (await Promise.all(many.map(status))).filter((one) => one.reportStatusID === 2).length
    await until('a share to run', async () => (await running()) === reportsOfOneUser)
    const ordered = await other.post('/Report', { reportTypeID: dataQuality, productID })
    assert.equal((await ended(other, ordered.data.reportID)).reportStatusID, 3)
    assert.equal(await running(), reportsOfOneUser)
    await letGo()
    for (const one of many) assert.equal((await ended(service.admin, one)).reportStatusID, 3)
    worker.kill('SIGTERM')
    assert.equal(await worker.exited, 0)
  })

  it('whose report is deleted meanwhile goes on with the next', async () => {
    const worker = await startWorker()
    const letGo = await holdHoldings()
    const reportID = await orderRegister('csv', small)
    await isRunning(reportID)
    assert.equal((await service.admin.delete(`/Report?ReportID=${reportID}`)).status, 200)
    await letGo()
    const next = await orderRegister('json', small)
    const { rows } = JSON.parse(String(await assertWhole(next, fewer)))
    assert.equal(rows.length, fewer)
    worker.kill('SIGTERM')
    assert.equal(await worker.exited, 0)
  })

  it(`writes ${members} rows in little memory`, {
    skip: process.platform !== 'linux',
  }, async () => {
    const worker = await startWorker(['--max-old-space-size=72'])
    for (const format of ['csv', 'json', 'xlsx']) await assertWhole(await orderRegister(format))
    const peak = Number(
      /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))?.[1],
    )
    assert.ok(peak < 330 * 1024, `${Math.round(peak / 1024)} MiB`)
    worker.kill('SIGTERM')
    assert.equal(await worker.exited, 0)
  })
})
