import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import pg from 'pg'
import type { Client, Reply } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import {
  depositRow,
  endOf,
  errorsOf,
  imported,
  importFor,
  investorFile,
  sendFile,
  transactionFile as transactions,
  unitsIn,
} from '../support/imports.ts'
import { type Fund, newFund } from '../support/ledger.ts'
import { newKey } from '../support/personas.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let one: Fund
let other: Fund
let stop = async () => {}
let gate: pg.Client
const env = { REGISTRY_DATA_DIR: temporaryFolder() }

/**
 * A trigger that lets inserts of refused rows wait while the gate is locked. The SQL statements are
 * sent one by one, because Citus passes each on to its workers.
 */
const gates = [
  `create function wait_for_test() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(7); return new; end $$`,
  `create trigger waits before insert on import_refusal
    for each row execute function wait_for_test()`,
]

before(async () => {
  service = await startService(env)
  one = await newFund(service, { accounts: 9 })
  other = await newFund(service, { accounts: 1 })
  gate = new pg.Client(service.connection)
  await gate.connect()
  for (const statement of gates) await gate.query(statement)
  stop = await importFor(service, env)
})
afterEach(() => gate.query('select pg_advisory_unlock_all()'))
after(async () => {
  await stop()
  await gate.end()
  await service.stop()
})

const waiting = `
  select 1 from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'
    and query ~ 'into import_refusal'`

/** Rows of one account, so that steps run in sequence, with a bad row in the first thousand. */
const rowsFor = (accountID: number, count: number) =>
  Array.from({ length: count }, (_, i) => depositRow(one, accountID, i === 7 ? 'much' : 1))

/** Sends a file and changes its user while its first step is under way. */
async function changedMeanwhile(
  client: Client,
  mode: string,
  rows: (string | number)[][],
  to: object,
) {
  const { data: me } = await client.get('/User/Me')
  const { userID, username, role } = me
  return importedWhile(client, mode, rows, () =>
    service.admin.put('/User', { userID, username, role, ...to }),
  )
}

/** Sends a file and does something else while its first step is under way. */
async function importedWhile(
  client: Client,
  mode: string,
  rows: (string | number)[][],
  change: () => Promise<Reply>,
) {
  await gate.query('select pg_advisory_lock(7)')
  const { data } = await sendFile(client, { type: 'Transactions', mode }, transactions(...rows))
  await until('the first step', async () => (await rowsOf(service.connection, waiting)).length > 0)
  const changed = await change()
  assert.equal(changed.status, 200, changed.text)
  await gate.query('select pg_advisory_unlock(7)')
  return endOf(service.admin, data.importID)
}

describe('An import whose user is changed meanwhile', () => {
  it('ends after the step under way once they are gone, and tells how far it got', async () => {
    const { accountID } = one.accounts[0]!
    const client = await service.userWith({ role: 'Administrator' })
    const rows = rowsFor(accountID, 5000)
    const end = await changedMeanwhile(client, 'continue', rows, { isActive: false })
    assert.equal(end.status, 'Failed')
    const [, line] = /no longer has the rights for it\. The rows up to line (\d+) are done: /.exec(
      end.message,
    )!
    assert.deepEqual([end.rowsRead, end.rowsAccepted, end.rowsRefused], [1000, 999, 1])
    assert.equal(Number(line), 1002, 'a note and the head stand above')
    assert.equal(await unitsIn(service.admin, accountID), 999)
    assert.match((await errorsOf(service.admin, end)).toString(), /much/)
  })

  it('takes no more rows of products that they do not see any more', async () => {
    const { accountID } = one.accounts[1]!
    const client = await service.userWith({ role: 'Administrator' })
    const foreign = depositRow(other, other.accountID, 1)
    const rows = rowsFor(accountID, 3000).map((row, i) => (i % 1000 === 900 ? foreign : row))
    const to = { productIDs: [one.productID] }
    const end = await changedMeanwhile(client, 'continue', rows, to)
    assert.deepEqual([end.status, end.rowsAccepted, end.rowsRefused], ['Completed', 2997, 3])
    assert.equal(await unitsIn(service.admin, other.accountID), 1)
    assert.equal(await unitsIn(service.admin, accountID), 2996)
  })

  it('of all or nothing is undone, for that reason', async () => {
    const { accountID } = one.accounts[2]!
    const client = await service.userWith({ role: 'Administrator' })
    const rows = rowsFor(accountID, 1500)
    const end = await changedMeanwhile(client, 'atomic', rows, { role: 'ReadOnly' })
    assert.deepEqual([end.status, end.rowsAccepted], ['Failed', 0])
    assert.match(end.message, /no longer has the rights for it/)
    assert.equal(await unitsIn(service.admin, accountID), 0)
  })
})

describe('An import of what a rule is made about meanwhile', () => {
  async function ruledMeanwhile(mode: string, accountID: number, count: number) {
    let approvalRuleID = 0
    const end = await importedWhile(service.admin, mode, rowsFor(accountID, count), async () => {
      const rule = { resource: 'BizTransaction', productIDs: [one.productID] }
      const made = await service.admin.post('/ApprovalRule', rule)
      approvalRuleID = made.data[0].approvalRuleID
      return made
    })
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
    return end
  }

  it('ends after the step under way, and tells how far it got', async () => {
    const { accountID } = one.accounts[7]!
    const end = await ruledMeanwhile('continue', accountID, 3000)
    assert.equal(end.status, 'Failed')
    assert.match(end.message, /wait for approval, .* The rows up to line 1002 are done: /)
    assert.equal(await unitsIn(service.admin, accountID), 999)
  })

  it('of all or nothing is undone', async () => {
    const { accountID } = one.accounts[8]!
    const end = await ruledMeanwhile('atomic', accountID, 1500)
    assert.deepEqual([end.status, end.rowsAccepted], ['Failed', 0])
    assert.match(end.message, /An approval rule lets this wait for approval/)
    assert.equal(await unitsIn(service.admin, accountID), 0)
  })
})

describe('A file that was imported', () => {
  const terms = { type: 'Transactions', mode: 'continue' }
  const newFile = () =>
    transactions(depositRow(one, one.accountID, 1), depositRow(other, other.accountID, 1))

  it('for one product can be for another, and once for each', async () => {
    const file = newFile()
    for (const { productID } of [one, other]) {
      const end = await imported(service.admin, { ...terms, productID }, file)
      assert.deepEqual([end.rowsAccepted, end.rowsRefused], [1, 1])
      refused(await sendFile(service.admin, { ...terms, productID }, file), 409, 'same_file')
    }
    refused(await sendFile(service.admin, terms, file), 409, 'same_file')
  })

  it('by somebody who sees more is not told by its number', async () => {
    const file = newFile()
    const { importID } = await imported(service.admin, terms, file)
    const scoped = await service.userWith({ role: 'Operator', productIDs: [other.productID] })
    const told = await sendFile(scoped, terms, file)
    refused(told, 409, 'same_file')
    assert.doesNotMatch(told.message!, /\(import/)
    const known = await sendFile(service.admin, terms, file)
    assert.match(known.message!, new RegExp(`\\(import ${importID}\\)`))
  })
})

describe('Who may not write what is imported', () => {
  it('does not cancel it either', async () => {
    const client = await service.userWith({ permissions: ['Import.Write', 'Investment.Write'] })
    const { accountID } = one.accounts[0]!
    const rows = rowsFor(accountID, 10)
    const end = await importedWhile(service.admin, 'atomic', rows, async () => {
      const [{ importID }] = (await client.get('/Import?Status=Running')).data
      const path = `/Import?ImportID=${importID}`
      refused(await client.delete(path), 403, 'permission_missing')
      return service.admin.delete(path)
    })
    assert.equal(end.status, 'Cancelled')
  })
})

describe('The refused rows of investors', () => {
  it('of a user are for a key of theirs only if it may read bank numbers', async () => {
    const terms = { type: 'Investors', mode: 'continue' }
    const file = investorFile(one.productID, [{ id: 'refused', parent: 'nobody' }])
    const end = await imported(service.admin, terms, file)
    assert.equal(end.rowsRefused, 1)
    const permissions = ['Import.Write', 'BizEntity.Write']
    const path = `/Import/File?ImportID=${end.importID}&Result=errors`
    const narrow = await newKey(service.admin, { permissions })
    refused(await narrow.get(path), 403, 'permission_missing')
    const wide = [...permissions, 'PaymentDetail.Read']
    assert.equal((await (await newKey(service.admin, { permissions: wide })).get(path)).status, 200)
    const own = await imported(narrow, terms, `${file}\n`)
    assert.match((await errorsOf(narrow, own)).toString(), /nobody/)
  })
})

describe('An import that was ordered with an API key', () => {
  const permissions = ['Import.Write', 'BizTransaction.Write']
  const endOfKey = async (key: Client) => {
    const { data } = await key.get('/User/Me')
    return () => service.admin.delete(`/ApiKey?ApiKeyID=${data.apiKeyID}`)
  }

  it('ends after the step under way once the key is deleted', async () => {
    const { accountID } = one.accounts[4]!
    const key = await newKey(service.admin, { permissions })
    const rows = rowsFor(accountID, 5000)
    const end = await importedWhile(key, 'continue', rows, await endOfKey(key))
    assert.equal(end.status, 'Failed')
    assert.match(
      end.message,
      /no longer has the rights for it\. The rows up to line 1002 are done: /,
    )
    assert.equal(await unitsIn(service.admin, accountID), 999)
  })

  it('of all or nothing is undone once the key is deleted', async () => {
    const { accountID } = one.accounts[5]!
    const key = await newKey(service.admin, { permissions })
    const rows = rowsFor(accountID, 1500)
    const end = await importedWhile(key, 'atomic', rows, await endOfKey(key))
    assert.deepEqual([end.status, end.rowsAccepted], ['Failed', 0])
    assert.match(end.message, /no longer has the rights for it/)
    assert.equal(await unitsIn(service.admin, accountID), 0)
  })

  it('has the products of the key, and no other of its user', async () => {
    const { accountID } = one.accounts[6]!
    const key = await newKey(service.admin, { permissions, productIDs: [one.productID] })
    const rows = [depositRow(one, accountID, 1), depositRow(other, other.accountID, 1)]
    const held = await unitsIn(service.admin, other.accountID)
    const { data } = await sendFile(
      key,
      { type: 'Transactions', mode: 'continue' },
      transactions(...rows),
    )
    const end = await endOf(service.admin, data.importID)
    assert.deepEqual([end.status, end.rowsAccepted, end.rowsRefused], ['Completed', 1, 1])
    assert.equal(await unitsIn(service.admin, other.accountID), held)
  })
})

describe('An import that fails by a fault of ours, again and again', () => {
  it('tells how far it got, and has the rows that were refused by then', async () => {
    const { accountID } = one.accounts[3]!
    await gate.query(`
      create function fail_for_test() returns trigger language plpgsql as $$
      begin raise exception 'a fault of ours'; end $$`)
    await gate.query(`
      create trigger fails before update on import for each row
        when (new.last_line > 2000) execute function fail_for_test()`)
    const terms = { type: 'Transactions', mode: 'continue' }
    const end = await imported(service.admin, terms, transactions(...rowsFor(accountID, 3000)))
    assert.equal(end.status, 'Failed')
    assert.match(end.message, /the log says why\. The rows up to line 1002 are done: /)
    assert.equal(await unitsIn(service.admin, accountID), 999)
    assert.match((await errorsOf(service.admin, end)).toString(), /much/)
  })
})
