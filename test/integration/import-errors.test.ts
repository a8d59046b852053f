import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { endOf, errorsOf, imported, importFor, lines, sendFile } from '../support/imports.ts'
import { all, newFund, newInvestment, only } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { cellsOf } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let stop: () => Promise<void>
const env = { REGISTRY_DATA_DIR: temporaryFolder() }

before(async () => {
  service = await startService(env)
  stop = await importFor(service, env)
})
after(async () => {
  await stop()
  await service.stop()
})

const pathOf = ({ importID }: { importID: number }) =>
  `/Import/File?ImportID=${importID}&Result=errors`

/** A valid tax file number in a row that is refused because its account has no product. */
const taxNumber = '876543210'
const investors = { type: 'Investors', mode: 'continue', again: true }
const investorFile = () =>
  lines(
    ['name', 'bizEntityTypeID', 'bizEntityParties.person.firstName', 'accounts.productID'].concat(
      'bizEntityParties.person.taxFileNumber',
    ),
    ['Ann Example', 'Individual', 'Ann', 999_999, taxNumber],
  )

describe('The refused rows of an import', () => {
  const write = ['Import.Write', 'BizEntity.Write']
  const withRights = (...permissions: string[]) => service.userWith({ permissions })
  const lacks = async (client: Client, path: string, permission: string) => {
    const reply = await client.get(path)
    refused(reply, 403, 'permission_missing')
    assert.match(reply.text, new RegExp(permission))
    assert.doesNotMatch(reply.text, new RegExp(taxNumber))
  }

  it('are for those who could have sent them, and those of others for few', async () => {
    const importer = await withRights(...write)
    const path = pathOf(await imported(importer, investors, investorFile()))
    const own = await importer.get(path)
    assert.equal(own.status, 200, own.text)
    assert.match(Buffer.from(own.data.content, 'base64').toString(), new RegExp(taxNumber))
    await lacks(await withRights('Import.Write', 'Investment.Write'), path, 'BizEntity.Write')
    await lacks(await withRights(...write), path, 'PaymentDetail.Read')
    assert.equal((await (await withRights(...write, 'PaymentDetail.Read')).get(path)).status, 200)
    const priceFile = lines(['investmentID', 'priceDate', 'price'], [999_999, '2026-01-01', 1])
    const end = await imported(service.admin, { type: 'Prices', mode: 'continue' }, priceFile)
    await lacks(await withRights(...write), pathOf(end), 'Investment.Write')
    const colleague = await withRights('Import.Write', 'Investment.Write')
    assert.equal((await colleague.get(pathOf(end))).status, 200)
  })

  it('leave a record of everybody who took them away', async () => {
    const end = await imported(service.admin, investors, investorFile())
    const stranger = await withRights('Import.Write', 'Investment.Write')
    await lacks(stranger, pathOf(end), 'BizEntity.Write')
    assert.equal((await service.admin.get(pathOf(end))).status, 200)
    const trail = all(await service.admin.get(`/Audit?Resource=Import&ResourceID=${end.importID}`))
    const taken = trail.filter((one: { operation: string }) => one.operation === 'GET /Import/File')
    assert.deepEqual(
      taken.map((one: { username: string }) => one.username),
      ['admin'],
    )
    assert.doesNotMatch(JSON.stringify(trail), new RegExp(taxNumber))
  })
})

describe('A column headed Code, Line, Field or Message', () => {
  const prices = { type: 'Prices', mode: 'continue', again: true }

  it('is one like any other, also in the refused rows and once they are sent again', async () => {
    const { productID } = await newFund(service)
    const { securityCode } = await newInvestment(service, productID)
    const mapping = JSON.stringify([
      { column: 'Fund', field: 'productID' },
      { column: 'Code', field: 'securityCode' },
      { column: 'When', field: 'priceDate' },
      { column: 'NAV', field: 'price' },
    ])
    const file = lines(
      ['Fund', 'Code', 'When', 'NAV', 'Message'],
      [productID, securityCode, '2026-02-01', '1.5', 'a'],
      [productID, securityCode, '2026-02-02', 'x', 'b'],
    )
    const end = await imported(service.admin, { ...prices, mapping }, file)
    assert.deepEqual([end.rowsAccepted, end.rowsRefused], [1, 1], end.message)
    assert.deepEqual(end.unknownColumns, ['Message'])
    const errors = await errorsOf(service.admin, end)
    const [head, row] = cellsOf(errors)
    const own = ['Fund', 'Code', 'When', 'NAV', 'Message']
    assert.deepEqual(head, ['line', 'field', 'code', 'message', ...own])
    assert.deepEqual(row?.slice(4), [`${productID}`, securityCode, '2026-02-02', 'x', 'b'])
    const mended = errors.toString().replace(',x,', ',1.6,')
    const second = await imported(service.admin, { ...prices, mapping }, mended)
    assert.deepEqual([second.rowsAccepted, second.unknownColumns], [1, ['Message']])
  })

  it('is the verdict of an earlier attempt only where all four stand first', async () => {
    const file = lines(['line', 'investmentID', 'priceDate', 'price'], [1, 999_999, '', 1])
    const end = await imported(service.admin, prices, file)
    assert.deepEqual(end.unknownColumns, ['line'])
  })
})

describe('A row that cannot be taken', () => {
  const prices = { type: 'Prices', mode: 'validate' }
  const head = ['investmentID', 'priceDate', 'price']

  it('keeps all its cells, also those that it has too many of', async () => {
    const file = lines(head, [1, '2026-01-01', 1, 2, 'x'], [1, '2026-01-01'])
    const end = await imported(service.admin, prices, file)
    const [, long, short] = cellsOf(await errorsOf(service.admin, end))
    assert.match(long?.[2] ?? '', /wrong_columns/)
    assert.deepEqual(long?.slice(4), ['1', '2026-01-01', '1', '2', 'x'])
    assert.deepEqual(short?.slice(4), ['1', '2026-01-01', ''])
  })

  it('is told one thing about a day that is none', async () => {
    const file = lines(head, [1, '1 June', 1], [1, '2026-13-01', 1])
    const end = await imported(service.admin, prices, file)
    const [, ...rows] = cellsOf(await errorsOf(service.admin, end))
    assert.deepEqual(
      rows.map(([, field, code]) => [field, code]),
      [
        ['priceDate', 'invalid_date'],
        ['priceDate', 'invalid_date'],
      ],
    )
    assert.equal(rows[0]?.[3], 'priceDate must be a date as YYYY-MM-DD.')
  })

  it('is told the order that was said where month and day are the other way', async () => {
    const days = ['06/30/2026', '31/02/2026', '30-06-2026']
    const file = lines(head, ...days.map((day) => [1, day, 1]))
    const end = await imported(service.admin, { ...prices, dateFormat: 'DD/MM/YYYY' }, file)
    const [, ...rows] = cellsOf(await errorsOf(service.admin, end))
    assert.deepEqual(
      rows.map(([, , code, message]) => [code, message]),
      days.map(() => ['invalid_date', 'priceDate must be a date as DD/MM/YYYY.']),
    )
  })

  it('of a line of JSON has its last verdict only, and is taken once it is mended', async () => {
    const { productID } = await newFund(service)
    const { investmentID } = await newInvestment(service, productID)
    const terms = { type: 'Prices', mode: 'continue' }
    const bad = `{"investmentID": ${investmentID}, "priceDate": "2026-01-01", "price": "x"}\n`
    let errors = await imported(service.admin, terms, bad, 'a.jsonl')
    for (const text of ['y', 'z']) {
      const sent = (await errorsOf(service.admin, errors)).toString().replace(/"[xy]"/, `"${text}"`)
      errors = await imported(service.admin, terms, sent, 'a.jsonl')
      assert.deepEqual([errors.rowsRefused, errors.unknownColumns], [1, []])
    }
    const last = (await errorsOf(service.admin, errors)).toString()
    assert.match(
      last,
      /^\{"line":1,"field":"price","code":"invalid_decimal",[^{]*"price": "z"\}\n$/,
    )
    const end = await imported(service.admin, terms, last.replace('"z"', '1.25'), 'a.jsonl')
    assert.equal(end.rowsAccepted, 1, end.message)
  })

  it('keeps the transaction of its file awake, which the database would end', async () => {
    const row = ['Deposit', 'none', '2026-01-10', 'bad']
    const head = ['operation', 'externalAccountId', 'transactionDate', 'amount']
    const file = lines(head, ...Array.from({ length: 20_000 }, () => row))
    const { data } = await sendFile(service.admin, { type: 'Transactions', mode: 'validate' }, file)
    const asked = new Map<string, Set<string>>()
    for (let status = 'Queued'; status !== 'Completed'; ) {
      const open = await rowsOf(
        service.connection,
        `select concat(pid, ' ', xact_start) as transaction, query_start::text as moment
         from pg_stat_activity where datname = current_database() and state = $1`,
        ['idle in transaction'],
      )
      for (const { transaction, moment } of open)
        asked.set(transaction, (asked.get(transaction) ?? new Set()).add(moment))
      status = only(await service.admin.get(`/Import?ImportID=${data.importID}`)).status
    }
    const most = Math.max(...[...asked.values()].map((moments) => moments.size))
    assert.ok(most > 2, `asked ${most} times`)
    assert.equal((await endOf(service.admin, data.importID)).rowsRefused, 20_000)
  })
})

describe('The files of an import', () => {
  it('lie sealed, what was sent as well as the refused rows, and come back whole', async () => {
    await stop() // nobody works at it: what was sent stays
    const name = 'x'.repeat(200)
    const rows = Array.from({ length: 1000 }, (_, i) => [i, `${name} ${taxNumber}`])
    const file = lines(['bizEntityTypeID', 'name'], ...rows)
    const key = { 'Idempotency-Key': 'sealed once' }
    const body = { ...investors, fileName: 'f.csv', content: Buffer.from(file).toString('base64') }
    const sent = await service.admin.post('/Import', body, key)
    assert.equal(sent.status, 202, sent.text)
    assert.equal(sent.data.fileSize, file.length)
    const again = await service.admin.post('/Import', body, key)
    assert.equal(again.data?.importID, sent.data.importID, 'the same request, whatever seals it')
    const waiting = await sealedFiles()
    stop = await importFor(service, env)
    const end = await endOf(service.admin, sent.data.importID)
    assert.deepEqual([end.rowsRefused, end.errorsSize > file.length], [1000, true], end.message)
    assert.ok((await sealedFiles()) > waiting)
    const errors = await errorsOf(service.admin, end)
    assert.equal(errors.length, end.errorsSize)
    assert.deepEqual(cellsOf(errors)[1000]?.slice(4), ['999', `${name} ${taxNumber}`])
  })

  /** Counts the stored files, without drafts, and asserts that none has the number in clear. */
  async function sealedFiles() {
    const folder = join(env.REGISTRY_DATA_DIR, 'files')
    const all = await readdir(folder, { recursive: true })
    const names = all.filter((name) => !name.startsWith('drafts'))
    const files = names.map((name) => join(folder, name)).filter((one) => statSync(one).isFile())
    for (const file of files) assert.equal((await readFile(file)).includes(taxNumber), false, file)
    return files.length
  }

  it('of before they were sealed are read as they are, changed ones not at all', async () => {
    const end = await imported(service.admin, investors, investorFile())
    const [{ sha256 }] = await rowsOf(
      service.connection,
      'select errors_sha256 as sha256 from import where import_id = $1',
      [end.importID],
    )
    const path = join(
      env.REGISTRY_DATA_DIR,
      'files',
      sha256.slice(0, 2),
      sha256.slice(2, 4),
      sha256,
    )
    const sealed = await readFile(path)
    const rows = Buffer.alloc(end.errorsSize, 'in clear ')
    await writeFile(path, rows)
    assert.deepEqual(await errorsOf(service.admin, end), rows)
    const changedAt = async (place: number) => {
      const other = Buffer.from(sealed)
      other[place] = (other[place] ?? 0) ^ 1
      await writeFile(path, other)
      return service.admin.get(pathOf(end))
    }
    refused(await changedAt(16), 409, 'key_missing')
    assert.equal((await changedAt(sealed.length - 1)).status, 500)
  })

  it('tell of values under no heading: none is dropped in silence', async () => {
    const terms = { type: 'Prices', mode: 'validate' }
    const file = 'investmentID,,priceDate,price,\n1,x,2026-01-01,1.5,\n1,,2026-01-02,1.5,lost\n'
    const end = await imported(service.admin, terms, file, 'prices.csv')
    assert.deepEqual(end.unknownColumns, ['column 2'])
    const errors = (await errorsOf(service.admin, end)).toString()
    assert.match(errors, /The row has more cells than the head/)
  })

  it('name a hundred columns that are no field, and say how many more there are', async () => {
    const terms = { type: 'Prices', mode: 'validate' }
    const others = Array.from({ length: 5000 }, (_, i) => `other${i}`)
    const long = 'x'.repeat(100_000)
    const table = `investmentID,priceDate,price,${long},${others.join()}\n1,2026-01-01,1.5\n`
    const { unknownColumns } = await imported(service.admin, terms, table, 'wide.csv')
    assert.deepEqual(unknownColumns.slice(0, 2), [`${'x'.repeat(200)}…`, 'other0'])
    assert.deepEqual(unknownColumns.slice(99), ['other98', 'and 4901 more'])
    const row = (from: number) => ({
      ...{ investmentID: 1, priceDate: '2026-01-01', price: 1.5 },
      ...Object.fromEntries(others.slice(from, from + 10).map((name) => [name, 1])),
    })
    const lines = others.slice(0, 11).map((_, i) => JSON.stringify(row(10 * i)))
    const told = await imported(service.admin, terms, lines.join('\n'), 'wide.jsonl')
    assert.deepEqual(told.unknownColumns.slice(99), ['other99', 'and more'])
    const few = await imported(service.admin, terms, JSON.stringify(row(0)), 'few.jsonl')
    assert.deepEqual(few.unknownColumns, others.slice(0, 10))
  })
})
