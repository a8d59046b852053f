import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { getBytes } from '../support/files.ts'
import {
  depositRow,
  endOf,
  errorsOf,
  imported,
  importFor,
  lines,
  sendFile,
  transactionFile,
  transactionHead,
  unitsIn,
} from '../support/imports.ts'
import { all, assertVerified, type Fund, newFund, newInvestment } from '../support/ledger.ts'
import { newRun, paidFund, paymentsOf, step } from '../support/payment-run.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { cellsOf } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'
import { workbook } from '../support/workbook.ts'

let service: Service
let fund: Fund
let stop: () => Promise<void>
const env = { REGISTRY_DATA_DIR: temporaryFolder() }

before(async () => {
  service = await startService(env)
  stop = await importFor(service, env)
  fund = await newFund(service, { accounts: 20 })
})
after(async () => {
  await stop()
  await service.stop()
})

const head = transactionHead
const transactions = transactionFile
const deposit = (accountID: number, amount: string | number) => depositRow(fund, accountID, amount)
const redemption = (accountID: number, quantity: string | number) => [
  'Redemption',
  accountID,
  fund.investmentID,
  '2026-01-11',
  quantity,
  '',
]
const unitsOf = (accountID: number) => unitsIn(service.admin, accountID)
const newAccount = () => fund.accounts[counter++ % 20]!.accountID
let counter = 0

describe('POST /Import', () => {
  it('posts what the rows say, in their order, through the rules of the API', async () => {
    const account = newAccount()
    const file = transactions(deposit(account, '100.5'), redemption(account, '0.25'))
    const end = await imported(service.admin, { type: 'Transactions', mode: 'atomic' }, file)
    assert.equal(end.status, 'Completed', end.message)
    assert.deepEqual([end.rowsRead, end.rowsAccepted, end.rowsRefused], [2, 2, 0])
    assert.equal(end.progressPercent, 100)
    assert.equal(await unitsOf(account), 100.25)
    const trail = all(await service.admin.get('/Audit?Resource=BizTransaction&PageSize=1000'))
    const own = trail.filter((one: { requestID: string }) =>
      one.requestID.startsWith(`import ${end.importID}`),
    )
    assert.deepEqual(own.map((one: { operation: string }) => one.operation).sort(), [
      'POST /BizTransaction/Deposit',
      'POST /BizTransaction/Redemption',
    ])
    // The feed tells of nothing before all that was begun earlier has ended.
    const told = await until('both events', async () => {
      const { data } = await service.admin.get('/Event?Type=import.created,import.completed')
      const ofIt = data.filter((one: { ids: number[] }) => one.ids[0] === end.importID)
      return ofIt.length > 1 ? ofIt : undefined
    })
    assert.deepEqual(told.map((one: { type: string }) => one.type).sort(), [
      'import.completed',
      'import.created',
    ])
    await assertVerified(service)
  })

  it('takes all rows or none, and tells everything that is wrong with every bad row', async () => {
    const [good, poor] = [newAccount(), newAccount()]
    const file = transactions(
      deposit(good, 10),
      deposit(good, 'ten'),
      redemption(poor, 5),
      ['Gift', good, fund.investmentID, '2026-01-10', 1, ''],
      deposit(999_999, 10),
      ['Deposit', good, fund.investmentID, '10/01/2026', '', 1],
    )
    const end = await imported(service.admin, { type: 'Transactions', mode: 'atomic' }, file)
    assert.equal(end.status, 'Failed')
    assert.deepEqual([end.rowsRead, end.rowsAccepted, end.rowsRefused], [6, 0, 5])
    assert.equal(await unitsOf(good), 0)
    const [heading, ...rows] = cellsOf(await errorsOf(service.admin, end))
    assert.deepEqual(heading, ['line', 'field', 'code', 'message', ...head])
    assert.deepEqual(
      rows.map(([line, field, code]) => [line, field, code]),
      [
        ['4', 'amount', 'invalid_decimal'],
        ['5', 'quantity', 'insufficient_holding'],
        ['6', 'operation', 'invalid_value'],
        ['7', 'accountID', 'not_found'],
        ['8', 'transactionDate', 'invalid_date'],
      ],
    )
  })

  it('goes on with the good rows, and takes the bad ones again once they are mended', async () => {
    const account = newAccount()
    const file = transactions(deposit(account, 10), deposit(account, 'x'), deposit(account, 5))
    const terms = { type: 'Transactions', mode: 'continue' }
    const end = await imported(service.admin, terms, file)
    assert.equal(end.status, 'Completed')
    assert.deepEqual([end.rowsRead, end.rowsAccepted, end.rowsRefused], [3, 2, 1])
    assert.equal(await unitsOf(account), 15)
    const mended = (await errorsOf(service.admin, end)).toString().replace(',x\r', ',7\r')
    const second = await imported(service.admin, terms, mended)
    assert.deepEqual([second.rowsAccepted, second.rowsRefused, second.unknownColumns], [1, 0, []])
    assert.equal(await unitsOf(account), 22)
  })

  it('writes nothing when it validates, and is no first time of the file', async () => {
    const account = newAccount()
    // The second row is right because of the first, which is not written either.
    const file = transactions(deposit(account, 10), redemption(account, 10), redemption(account, 1))
    const trial = await imported(service.admin, { type: 'Transactions', mode: 'validate' }, file)
    assert.equal(trial.status, 'Completed')
    assert.deepEqual([trial.rowsAccepted, trial.rowsRefused], [2, 1])
    assert.equal(await unitsOf(account), 0)
    const sql = 'select from audit where request_id = $1'
    const trail = await rowsOf(service.connection, sql, [`import ${trial.importID}`])
    assert.equal(trail.length, 1, 'the end of the import, and no posting')
    const done = await imported(service.admin, { type: 'Transactions', mode: 'continue' }, file)
    assert.deepEqual([done.status, done.rowsAccepted], ['Completed', 2])
    const again = { type: 'Transactions', mode: 'atomic' }
    refused(await sendFile(service.admin, again, file), 409, 'same_file')
    const forced = await imported(service.admin, { ...again, again: true }, file)
    assert.equal(forced.status, 'Failed', 'its last row is as wrong as before')
  })

  it('knows columns in any order and case or by a mapping, and lists the others', async () => {
    const account = newAccount()
    const file = [
      'Betrag;KONTO;Operation;transactiondate;INVESTMENTID;Notiz;Leer',
      `10,00;${account};deposit;31/01/2026;${fund.investmentID};x;y`,
    ].join('\r\n')
    const mapping = JSON.stringify([
      { column: 'konto', field: 'accountID' },
      { column: 'Betrag', field: 'amount' },
      { column: 'leer' },
    ])
    const terms = { type: 'Transactions', mode: 'validate', mapping, dateFormat: 'DD/MM/YYYY' }
    const wrong = await imported(service.admin, terms, file)
    assert.deepEqual(wrong.unknownColumns, ['Notiz'])
    const [, row] = cellsOf(await errorsOf(service.admin, wrong))
    assert.deepEqual(row?.slice(0, 3), ['2', 'amount', 'invalid_decimal'])
    const right = await imported(service.admin, terms, file.replace('10,00', '10.00'))
    assert.equal(right.rowsAccepted, 1)
    const missing = { ...terms, mapping: '[{"column":"Konto Nr","field":"accountID"}]' }
    const failed = await imported(service.admin, missing, file)
    assert.deepEqual([failed.status, failed.rowsRead], ['Failed', 0])
    assert.match(failed.message, /konto nr/)
  })

  it('reads Windows-1252 where that is said, and refuses what its encoding is not', async () => {
    const row = deposit(newAccount(), 1)
    const text = lines([...head, 'comment'], [...row, `Caf\u00e9 \u20ac ${counter}`])
    const bytes = Buffer.from(text.replace('\u20ac', '\u0080'), 'latin1')
    const terms = { type: 'Transactions', mode: 'atomic' }
    const failed = await imported(service.admin, terms, bytes)
    assert.equal(failed.status, 'Failed')
    assert.match(failed.message, /UTF-8/)
    const end = await imported(service.admin, { ...terms, encoding: 'windows-1252' }, bytes)
    assert.equal(end.status, 'Completed', end.message)
    const [kept] = await rowsOf(
      service.connection,
      'select comment from biz_transaction order by biz_transaction_id desc limit 1',
    )
    assert.equal(kept.comment, `Caf\u00e9 \u20ac ${counter}`)
  })

  it('takes investors with all that belongs to them, as a table and as lines of JSON', async () => {
    const { productID } = fund
    const table = lines(
      [
        'externalBizEntityId,bizEntityTypeID,bizEntityStatusID,name,accounts.productID',
        'bizEntityParties.person.firstName,bizEntityParties.2.person.firstName',
        'communications.communicationTypeID,communications.name',
      ],
      ['IMP-1', 'Individual', 1, 'Ann Example', productID, 'Ann', 'Bo', 'Email', 'a@imp.example'],
      ['IMP-2', 'individual', 1, 'Cy Example', productID, 'Cy', '', 'email', 'no address'],
      ['IMP-1', '1', 1, 'Again', productID, 'Di', '', '', ''],
    )
    const terms = { type: 'Investors', mode: 'continue' }
    const tried = await imported(service.admin, { ...terms, mode: 'validate' }, table)
    const end = await imported(service.admin, terms, table)
    for (const one of [tried, end]) assert.deepEqual([one.rowsAccepted, one.rowsRefused], [1, 2])
    const [, second, third] = cellsOf(await errorsOf(service.admin, end))
    assert.deepEqual(second?.slice(0, 2), ['3', 'communications.name'])
    assert.deepEqual(third?.slice(0, 3), ['4', 'externalBizEntityId', 'given_twice'])
    const [ann] = all(await service.admin.get('/BizEntity?ExternalBizEntityId=IMP-1'))
    assert.equal(ann.bizEntityParties.length, 2)
    const body = {
      ...{ externalBizEntityId: 'IMP-3', bizEntityTypeID: 1, bizEntityStatusID: 1 },
      name: 'Ed Example',
      colour: 'red',
      accounts: [{ productID }],
      bizEntityParties: [{ person: { firstName: 'Ed' } }],
    }
    const json = `${JSON.stringify(body)}\n{"name":1}\nnot json\n`
    const last = await imported(service.admin, terms, json, 'more.jsonl')
    assert.deepEqual([last.rowsAccepted, last.rowsRefused], [1, 2])
    assert.deepEqual(last.unknownColumns, ['colour'])
    const told = (await errorsOf(service.admin, last))
      .toString()
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one))
    assert.deepEqual(
      told.map(({ line, code }) => [line, code.split('; ')[0]]),
      [
        [2, 'required'],
        [3, 'malformed_json'],
      ],
    )
    assert.equal(told[1].given, 'not json')
  })

  it('takes an opening balance once for each holding', async () => {
    const other = await newInvestment(service, fund.productID)
    const account = newAccount()
    const file = lines(
      ['accountID', 'investmentID', 'transactionDate', 'quantity', 'amount'],
      [account, other.investmentID, '2026-01-01', '12.3456', '99.99'],
      [account, other.investmentID, '2026-01-02', '1', '1'],
    )
    const terms = { type: 'OpeningBalances', mode: 'continue' }
    const end = await imported(service.admin, terms, file)
    assert.deepEqual([end.rowsAccepted, end.rowsRefused], [1, 1])
    const [, row] = cellsOf(await errorsOf(service.admin, end))
    assert.deepEqual([row?.[0], row?.[2]], ['3', 'has_holding'])
    const again = await imported(service.admin, { ...terms, again: true }, file)
    assert.deepEqual([again.rowsAccepted, again.rowsRefused], [0, 2])
  })

  it('takes prices and what became of payments', async () => {
    const prices = lines(
      ['investmentID', 'priceDate', 'price'],
      [fund.investmentID, '2026-03-01', '1.04250000000001'],
      [fund.investmentID, '2026-03-01', '1.05'],
    )
    const end = await imported(service.admin, { type: 'Prices', mode: 'continue' }, prices)
    assert.deepEqual([end.rowsAccepted, end.rowsRefused], [1, 1])
    const paid = await paidFund(service, [10, 20, 30])
    const run = await newRun(service.admin, paid.fund)
    const approver = await service.userWith({ role: 'Administrator' })
    await step(approver, 'Approve', run)
    await step(service.admin, 'Sent', run)
    const [first, second] = await paymentsOf(service.admin, run)
    const results = lines(
      ['paymentRunID', 'reference', 'paymentID', 'state', 'reason'],
      [run.paymentRunID, first.reference, '', 'Paid', ''],
      [run.paymentRunID, '', second.paymentID, 'Returned', 'Account closed'],
      [run.paymentRunID, 'NO SUCH', '', 'Paid', ''],
    )
    const told = await imported(
      service.admin,
      { type: 'PaymentResults', mode: 'continue' },
      results,
    )
    assert.deepEqual([told.rowsAccepted, told.rowsRefused], [2, 1])
    const after = await paymentsOf(service.admin, run)
    assert.deepEqual(after.map((one: { state: string }) => one.state).sort(), [
      'Paid',
      'Returned',
      'Sent',
    ])
  })

  it('finds every bad row among thousands, whatever is wrong with it', async () => {
    const account = newAccount()
    const rows = Array.from({ length: 3500 }, (_, i) =>
      i % 500 === 7
        ? deposit(999_999, 1)
        : i % 700 === 3
          ? deposit(account, '-1')
          : deposit(account, 1),
    )
    const file = transactions(...rows)
    const end = await imported(service.admin, { type: 'Transactions', mode: 'continue' }, file)
    assert.deepEqual([end.rowsRead, end.rowsAccepted, end.rowsRefused], [3500, 3488, 12])
    assert.equal(await unitsOf(account), 3488)
    await assertVerified(service)
  })
})

describe('An import', () => {
  it('reads a workbook: days as days, figures as they are seen, shared texts', async () => {
    const account = newAccount()
    const book = await workbook([
      head.map((text) => ({ text })),
      [
        { text: 'Deposit' },
        { number: String(account) },
        { number: String(fund.investmentID) },
        { day: 46_032 },
        null,
        { number: '0.10000000000000001' },
      ],
    ])
    const end = await imported(
      service.admin,
      { type: 'Transactions', mode: 'atomic' },
      book,
      'b.xlsx',
    )
    assert.equal(end.status, 'Completed', end.message)
    const path = `/BizTransaction?AccountID=${account}&Order=desc&PageSize=1`
    const [posted] = all(await service.admin.get(path))
    assert.deepEqual([posted.amount, posted.transactionDate], [0.1, '2026-01-10T00:00:00Z'])
  })

  it('writes the refused rows of a workbook as one, which can be sent again', async () => {
    const template = await getBytes(service.admin, '/Import/Template?Type=Transactions&Format=xlsx')
    assert.equal(template.status, 200)
    const terms = { type: 'Transactions', mode: 'validate' }
    const end = await imported(service.admin, terms, template.bytes, 'book.xlsx')
    assert.deepEqual([end.rowsRead, end.rowsRefused, end.unknownColumns], [1, 1, []])
    const errors = await errorsOf(service.admin, end)
    const again = await imported(service.admin, terms, errors, 'errors.xlsx')
    assert.deepEqual([again.rowsRead, again.unknownColumns], [1, []])
    const bad = await imported(service.admin, terms, 'PK\x03\x04 and no more', 'bad.xlsx')
    assert.equal(bad.status, 'Failed')
  })

  it('has a template of each type whose own example it can read', async () => {
    for (const type of ['Investors', 'Prices', 'Transactions', 'OpeningBalances', 'PaymentResults'])
      for (const format of ['csv', 'jsonl']) {
        const path = `/Import/Template?Type=${type}&Format=${format}`
        const { bytes } = await getBytes(service.admin, path)
        const terms = { type, mode: 'validate' }
        const end = await imported(service.admin, terms, bytes, `t.${format}`)
        const told = `${type} ${format} ${end.message}`
        assert.doesNotMatch(bytes.toString(), /^# [\w.]+: \d+\r$/m, 'a number has its name')
        assert.deepEqual([end.status, end.rowsRead, end.unknownColumns], ['Completed', 1, []], told)
        if (type === 'Transactions' && format === 'csv')
          assert.match(bytes.toString(), /^# operation: Redemption\r$/m)
        if (type === 'Investors')
          assert.match((await errorsOf(service.admin, end)).toString(), /not_found/)
      }
  })

  it('takes the file of a document', async () => {
    const { productID } = fund
    const about = { productID, name: 'File', documentTypeID: 1 }
    const { documentID } = (await service.admin.post('/Document', about)).data
    const file = transactions(deposit(newAccount(), 3))
    const content = Buffer.from(file).toString('base64')
    await service.admin.post('/Document/File', { documentID, fileName: 'd.csv', content })
    const body = { type: 'transactions', mode: 'ATOMIC', documentID }
    const reply = await service.admin.post('/Import', body)
    assert.equal(reply.status, 202, reply.text)
    assert.equal((await endOf(service.admin, reply.data.importID)).status, 'Completed')
    const nowhere = await service.admin.post('/Import', { ...body, documentID: 999_999 })
    refused(nowhere, 404, 'not_found')
    assert.deepEqual(fieldsOf(nowhere), ['documentID'])
    refused(await service.admin.post('/Import', { ...body, content }), 400, 'combination')
    refused(
      await service.admin.post('/Import', { type: 'Prices', mode: 'atomic' }),
      400,
      'required',
    )
  })

  it('needs the permission of what it imports, and stays in the products of its user', async () => {
    const file = transactions(deposit(newAccount(), 3))
    const terms = { type: 'Transactions', mode: 'atomic' }
    const clerk = await service.userWith({ permissions: ['Import.Write'] })
    refused(await sendFile(clerk, terms, file), 403, 'permission_missing')
    const other = await newFund(service)
    const rights = { permissions: ['Import.Write', 'BizTransaction.Write'] }
    const stranger = await service.userWith({ ...rights, productIDs: [other.productID] })
    const end = await imported(stranger, terms, file)
    assert.equal(end.status, 'Failed')
    const [, row] = cellsOf(await errorsOf(stranger, end))
    assert.equal(row?.[2], 'not_found')
    const neighbour = await service.userWith({ ...rights, productIDs: [fund.productID] })
    assert.deepEqual((await neighbour.get(`/Import?ImportID=${end.importID}`)).data, [])
    const path = `/Import/File?ImportID=${end.importID}&Result=errors`
    refused(await neighbour.get(path), 404, 'not_found')
    refused(await neighbour.delete(`/Import?ImportID=${end.importID}`), 404, 'not_found')
  })
})
