import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import type { Perform } from '../../src/integration/import/item.ts'
import { settle } from '../../src/integration/import/settle.ts'
import { sideBySide, type Turn } from '../../src/integration/import/steps.ts'
import type { Actor } from '../../src/platform/actor.ts'
import { Refusal } from '../../src/platform/refusal.ts'
import type { Tx } from '../../src/platform/sql/handle.ts'
import { isSpread, rowsOf } from '../support/database.ts'
import {
  depositRow,
  endOf,
  errorsOf,
  importFor,
  investorFile,
  sendFile,
  transactionFile,
} from '../support/imports.ts'
import { assertVerified, type Fund, newFund } from '../support/ledger.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { cellsOf } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

/** The number of rows in a step. */
const size = 1000

describe('Steps of an import as a whole', () => {
  const env = { REGISTRY_DATA_DIR: temporaryFolder() }
  const accounts = 1000
  let service: Service
  let fund: Fund
  let stop: () => Promise<void>
  before(async () => {
    service = await startService(env)
    fund = await newFund(service, { accounts })
    stop = await importFor(service, env)
  })
  after(async () => {
    await stop()
    await service.stop()
  })

  const rowsOfAll = (days: readonly string[]) =>
    days.flatMap((day) => fund.accounts.map(({ accountID }) => depositRow(fund, accountID, 1, day)))
  const send = async (rows: (string | number)[][]) => {
    const terms = { type: 'Transactions', mode: 'atomic' }
    const { data } = await sendFile(service.admin, terms, transactionFile(...rows))
    return endOf(service.admin, data.importID)
  }
  const told = async () => {
    const named = 'count(*)::int as count, count(distinct id)::int as different'
    const [audited] = await rowsOf(
      service.connection,
      `select ${named} from audit, unnest(resource_ids) id where request_id like 'import %'`,
    )
    const [raised] = await rowsOf(
      service.connection,
      `select ${named} from event, unnest(ids) id where type = 'biztransaction.posted'`,
    )
    return [audited, raised]
  }
  const posted = async () =>
    (await rowsOf(service.connection, 'select count(*)::int as count from biz_transaction'))[0]
      .count as number

  it('leave a record and an event of each row, however often its account comes', async () => {
    const first = fund.accounts.map(({ accountID }) => ({ accountID, amount: 1 }))
    const day = { investmentID: fund.investmentID, transactionDate: '2026-01-01' }
    await service.admin.post(
      '/BizTransaction/Deposit',
      first.map((one) => ({ ...one, ...day })),
    )
    const before = await told()
    const days = ['2026-01-05', '2026-01-05', '2026-01-06']
    const end = await send(rowsOfAll(days))
    assert.deepEqual([end.status, end.rowsAccepted], ['Completed', days.length * accounts])
    const added = days.length * accounts
    for (const [i, { count, different }] of (await told()).entries())
      assert.deepEqual([count - before[i].count, different - before[i].different], [added, added])
    const dates = await rowsOf(
      service.connection,
      'select distinct last_date::text as last_date from ledger_account',
    )
    assert.deepEqual(dates, [{ last_date: '2026-01-06' }])
    await assertVerified(service)
  })

  it('leave nothing where a row of a later one is refused, with its line told', async () => {
    const [before, toldBefore] = [await posted(), await told()]
    const rows = rowsOfAll(['2026-01-07', '2026-01-07', '2026-01-07'])
    rows[2 * accounts + 7] = depositRow(fund, 999_999_999, 1)
    const end = await send(rows)
    assert.deepEqual([end.status, end.rowsRefused, end.rowsAccepted], ['Failed', 1, 0])
    assert.equal(await posted(), before)
    assert.deepEqual(await told(), toldBefore)
  })
})

describe('Steps of an import that are under way at once', () => {
  const env = { REGISTRY_DATA_DIR: temporaryFolder() }
  let service: Service
  let fund: Fund
  let stop: () => Promise<void>
  before(async () => {
    service = await startService(env)
    fund = await newFund(service, { accounts: 4 })
    stop = await importFor(service, env)
  })
  after(async () => {
    await stop()
    await service.stop()
  })

  const step = (account: number) =>
    Array.from({ length: size }, () => depositRow(fund, fund.accounts[account]!.accountID, 1))
  const send = async (rows: (string | number)[][]): Promise<number> => {
    const terms = { type: 'Transactions', mode: 'continue' }
    return (await sendFile(service.admin, terms, transactionFile(...rows))).data.importID
  }
  const count = async (query: string, values: unknown[] = []): Promise<number> =>
    (await rowsOf(service.connection, query, values))[0].count
  const posted = () => count('select count(*)::int as count from biz_transaction')
  const ownOf = (account: number) => [fund.productID, fund.accounts[account]!.accountID]
  const free = (account: number) =>
    count(
      `select count(*)::int as count from (
        select 1 from ledger_account
        where product_id = $1 and account_id = $2 for update skip locked) f`,
      ownOf(account),
    )

  it('are committed in the order of the file, although a later one is done before', async () => {
    for (const { accountID } of fund.accounts)
      await service.admin.post('/BizTransaction/Deposit', {
        accountID,
        investmentID: fund.investmentID,
        transactionDate: '2026-01-05',
        amount: 1,
      })
    const before = await posted()
    const other = new pg.Client(service.connection)
    await other.connect()
    try {
      await other.query('begin')
      await other.query(
        'select 1 from ledger_account where product_id = $1 and account_id = $2 for update',
        ownOf(0),
      )
      const importID = await send([...step(0), ...step(1), ...step(2), ...step(3)])
      await until('the second step', async () => (await free(1)) === 0)
      await until('the third step', async () => (await free(2)) === 0)
      assert.equal(await posted(), before, 'none is committed before the first')
      await other.query('commit')
      assert.equal((await endOf(service.admin, importID)).rowsAccepted, 4 * size)
    } finally {
      await other.end()
    }
    assert.equal(await posted(), before + 4 * size)
    await assertVerified(service)
  })

  it('are not about the same account: its rows are posted in their order', async () => {
    const { accountID } = fund.accounts[0]!
    const held = await count('select quantity::int as count from holding where account_id = $1', [
      accountID,
    ])
    const { investmentID } = fund
    const redeem = (quantity: number) =>
      ['Redemption', accountID, investmentID, '2026-01-10', quantity, ''] as (string | number)[]
    // One row takes all there is with the first step, and the next finds nothing.
    const rows = [...step(0), ...step(1), redeem(held + size), redeem(1), ...step(2)]
    const end = await endOf(service.admin, await send(rows))
    assert.deepEqual([end.rowsAccepted, end.rowsRefused], [3 * size + 1, 1])
    await assertVerified(service)
  })

  it('keep to their order what brings units in and what takes those out again', async () => {
    const { accounts, investmentID } = await newFund(service, { accounts: 2 })
    const [one, other] = accounts.map(({ accountID }) => accountID) as [number, number]
    const own = { investmentID, transactionDate: '2026-01-05', amount: 5 }
    for (const accountID of [one, other])
      await service.admin.post('/BizTransaction/Deposit', { ...own, accountID })
    const row = (operation: string, accountID: number, quantity: number) =>
      [operation, accountID, investmentID, '2026-01-10', quantity, quantity] as (string | number)[]
    const end = await endOf(
      service.admin,
      await send([
        row('Deposit', one, 10),
        row('Redemption', one, 15),
        row('Redemption', other, 6),
        row('Deposit', other, 1),
      ]),
    )
    assert.deepEqual([end.rowsAccepted, end.rowsRefused], [3, 1])
    assert.match(String(await errorsOf(service.admin, end)), /^5,.*insufficient_holding/m)
    await assertVerified(service)
  })
})

describe('Steps of investors', () => {
  const env = { REGISTRY_DATA_DIR: temporaryFolder() }
  const size = 500
  let service: Service
  let productID: number
  let stop: () => Promise<void>
  before(async () => {
    service = await startService(env)
    ;({ productID } = await newFund(service))
    stop = await importFor(service, env)
  })
  after(async () => {
    await stop()
    await service.stop()
  })

  const investors = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ id: `${name}${i}` }))
  const count = async (query: string): Promise<number> =>
    (await rowsOf(service.connection, `select count(*)::int as count from ${query}`))[0].count
  const done = () =>
    count(`pg_stat_activity where datname = current_database()
      and state = 'idle in transaction' and query ~ 'insert into audit'`)
  const waiting = () =>
    count(`pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)

  /** Imports a file in which the row with this address waits for another session for a while. */
  async function heldUp(id: string, rows: { id: string; parent?: string }[], until: () => unknown) {
    const other = new pg.Client(service.connection)
    await other.connect()
    try {
      await other.query('begin')
      await other.query(
        `insert into communication (communication_type_id, name, biz_entity_id)
         select 1, $1, min(biz_entity_id) from biz_entity`,
        [`${id}@import.example`],
      )
      const terms = { type: 'Investors', mode: 'continue' }
      const { data } = await sendFile(service.admin, terms, investorFile(productID, rows))
      await until()
      await other.query('rollback')
      return await endOf(service.admin, data.importID)
    } finally {
      await other.end()
    }
  }

  it('that have nothing in common are under way at once, and end in their order', async () => {
    const end = await heldUp('A7', investors('A', 4 * size), async () => {
      // Where they are written to every server of a cluster they take turns.
      if (isSpread) return until('the first step', async () => (await waiting()) === 1)
      await until('the others', async () => (await done()) === 2)
      assert.equal(await count(`biz_entity where external_biz_entity_id ~ '^A'`), 0)
    })
    assert.equal(end.rowsAccepted, 4 * size, end.message)
  })

  it('that name a parent, or bring an address, of the step before wait for it', async () => {
    const first = () => until('the first step', async () => (await waiting()) === 1)
    const rows = investors('B', 3 * size).map((row, i) => ({
      ...row,
      ...(i >= size && i % 50 === 0 && { parent: `B${i - size}` }),
    }))
    const end = await heldUp('B7', rows, first)
    assert.equal(end.rowsAccepted, 3 * size, end.message)
    const repeated = [...investors('C', size), ...investors('D', size - 1), { id: 'c7' }]
    const second = await heldUp('C7', repeated, first)
    assert.deepEqual([second.rowsAccepted, second.rowsRefused], [2 * size - 1, 1])
    const [, refused] = cellsOf(await errorsOf(service.admin, second))
    const [line, field, code] = refused!
    assert.deepEqual([line, field, code], ['1001', 'communications.name', 'duplicate_email'])
  })
})

describe('Work side by side', () => {
  const about = (...names: string[]) => ({ by: 'account_id', names: new Set(names) })
  const gate = () => {
    let resolve = () => {}
    const promise = new Promise<void>((open) => {
      resolve = open
    })
    return { promise, resolve: () => resolve() }
  }
  const passing = () => new Promise((resolve) => setImmediate(resolve))

  it('ends in the order it came in, each with what the one before came to', async () => {
    const ends: string[] = []
    const steps = sideBySide({ done: '' })
    const door = gate()
    const work = (name: string, until?: Promise<void>) => async (turn: Turn<{ done: string }>) => {
      await until
      const { done } = await turn.before()
      ends.push(name)
      return { done: done + name }
    }
    await steps.add(about('a'), work('1', door.promise))
    await steps.add(about('b'), work('2'))
    await steps.add(about('c'), work('3'))
    const fourth = steps.add(about('d'), work('4'))
    await passing()
    assert.deepEqual(ends, [])
    door.resolve()
    await fourth
    assert.deepEqual(await steps.end(), { done: '1234' })
    assert.deepEqual(ends, ['1', '2', '3', '4'])
  })

  it('is undone and done again where one behind is in the way of one before', async () => {
    const tries: string[] = []
    const steps = sideBySide({})
    const isHeld = gate()
    const letGo = gate()
    await steps.add(about('a'), async ({ clearWay }) => {
      await isHeld.promise
      clearWay()
      await letGo.promise
      tries.push('first')
      return {}
    })
    await steps.add(about('b'), async ({ before }) => {
      tries.push('second')
      isHeld.resolve()
      try {
        return await before()
      } catch (error) {
        letGo.resolve()
        throw error
      }
    })
    await steps.end()
    assert.deepEqual(tries, ['second', 'first', 'second'])
  })

  it('fails with the one before', async () => {
    const steps = sideBySide({})
    const fault = new Error('a fault')
    await steps.add(about('a'), async () => {
      await passing()
      throw fault
    })
    await steps.add(about('b'), ({ before }) => before())
    await assert.rejects(steps.end(), fault)
    await steps.over()
  })
})

describe('Rows of a step that are refused one at a time', () => {
  const tx = { query: async () => [] } as unknown as Tx
  const actor = {} as Actor

  it('are all found, and the others done, without trying all again for each', async () => {
    let tried = 0
    const done = new Set<number>()
    const isBad = (line: number) => line <= 256 || line % 2 === 0
    const perform: Perform = (_, items) => async () => {
      tried += items.length
      const bad = items.findIndex(({ line }) => isBad(line))
      if (bad >= 0) throw new Refusal(409, [{ code: 'duplicate', field: `[${bad}]`, message: '' }])
      for (const { line } of items) done.add(line)
      return { parts: [], refused: new Map() }
    }
    const items = Array.from({ length: 512 }, (_, i) => ({ line: i, operation: '', body: {} }))
    const how = { actor, perform, clearWay: () => {}, hasSavepoints: true }
    const { refused } = await settle(tx, how, items)
    const lines = refused.map(({ line }) => line).sort((one, other) => one - other)
    const all = items.map(({ line }) => line)
    assert.deepEqual(lines, all.filter(isBad))
    assert.deepEqual(
      [...done],
      all.filter((line) => !isBad(line)),
    )
    assert.ok(tried < 12 * items.length, String(tried))
  })
})
