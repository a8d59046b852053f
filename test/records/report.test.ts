import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { eventsAfter, feedEnd } from '../support/events.ts'
import { getBytes, sha256 } from '../support/files.ts'
import { unique } from '../support/investors.ts'
import { dayIn, type Fund, newFund, newPrice, newProduct, only, poster } from '../support/ledger.ts'
import { newKey } from '../support/personas.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { cellsOf, ended, fileOf, order, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let admin: Client
let fund: Fund
let stopWorker: () => Promise<void>
const env = { REGISTRY_DATA_DIR: temporaryFolder() }
before(async () => {
  service = await startService(env)
  admin = service.admin
  stopWorker = await workFor(service, env)
  fund = await newFund(service, { accounts: 3, investments: [{ securityCode: 'GRA' }] })
  const post = poster(
    () => admin,
    () => ({ productID: fund.productID, investmentID: fund.investmentID }),
  )
  const [first, second] = fund.accounts
  const deposits = [
    { accountID: first!.accountID, amount: 1000, transactionDate: '2026-01-10' },
    { accountID: second!.accountID, amount: '250.5', transactionDate: '2026-02-10' },
  ]
  const reply = await post('Deposit', deposits)
  assert.equal(reply.status, 200, reply.text)
  await newPrice(service, fund.investmentID, '2026-03-01', 2)
})
after(async () => {
  await stopWorker()
  await service.stop()
})

const about = () => ({ reportTypeID: 2, productID: fund.productID, date: '2026-03-31' })

describe('POST /Report', () => {
  it('answers at once with a queued report, which a worker then makes', async () => {
    const reply = await admin.post('/Report', { ...about(), name: 'March', format: 'CSV' })
    assert.equal(reply.status, 200, reply.text)
    const { reportID, createdDate, ...rest } = reply.data
    assert.ok(reportID > 0 && createdDate)
    assert.deepEqual(rest, {
      reportTypeID: 2,
      reportStatusID: 1,
      name: 'March',
      format: 'csv',
      productID: fund.productID,
      externalProductId: fund.externalProductId,
      investmentID: null,
      corporateActionID: null,
      bizEntityID: null,
      accountID: null,
      date: '2026-03-31',
      fromDate: null,
      toDate: '2026-03-31',
      knownAt: null,
      top: null,
      progressPercent: 0,
      rowCount: null,
      errorMessage: null,
      fileSize: null,
      username: 'admin',
      startedDate: null,
      completedDate: null,
    })
    const done = await ended(admin, reportID)
    assert.deepEqual([done.reportStatusID, done.progressPercent, done.rowCount], [3, 100, 2])
    assert.ok(done.startedDate && done.completedDate && done.fileSize > 0)
  })

  it('needs a kind, a product, and what the kind is about', async () => {
    refused(await admin.post('/Report', { productID: fund.productID }), 400, 'required')
    refused(await admin.post('/Report', { reportTypeID: 99 }), 400, 'unknown_lookup')
    refused(await admin.post('/Report', { reportTypeID: 1 }), 400, 'required')
    refused(await admin.post('/Report', { ...about(), format: 'doc' }), 400, 'invalid_value')
    refused(await admin.post('/Report', { ...about(), date: '2026-02-30' }), 400, 'invalid_date')
    refused(await admin.post('/Report', { ...about(), productID: 99999999 }), 404)
    const product = { productID: fund.productID }
    const distribution = await admin.post('/Report', { reportTypeID: 4, ...product })
    refused(distribution, 400, 'required')
    assert.deepEqual(fieldsOf(distribution), ['corporateActionID'])
    const statement = await admin.post('/Report', { reportTypeID: 7, ...product })
    refused(statement, 400, 'required')
    assert.deepEqual(fieldsOf(statement), ['bizEntityID'])
    const period = { fromDate: '2026-02-01', toDate: '2026-01-01' }
    refused(await admin.post('/Report', { reportTypeID: 3, ...product, ...period }), 400)
    // Without a last day it is today.
    const ahead = { reportTypeID: 3, ...product, fromDate: dayIn(2) }
    refused(await admin.post('/Report', ahead), 400, 'invalid_period')
  })

  it('is of the day that it is where the product is, where no day is given', async () => {
    const dates = await Promise.all(
      ['Pacific/Kiritimati', 'Pacific/Pago_Pago'].map(async (timeZone) => {
        const name = unique(timeZone)
        const { productID } = only(await service.admin.post('/Product', { name, timeZone }))
        const ordered = await service.admin.post('/Report', { reportTypeID: 1, productID })
        const { date, toDate } = only(
          await service.admin.get(`/Report?ReportID=${ordered.data.reportID}`),
        )
        assert.equal(toDate, date)
        return date as string
      }),
    )
    // They are 25 hours apart: at every moment it is another day there.
    assert.ok(dates[0]! > dates[1]!, dates.join())
  })

  it('takes ids of either form, and finds the product by what else is named', async () => {
    const { externalProductId, productID, investmentID, accounts } = fund
    const [account] = accounts
    for (const named of [
      { reportTypeID: 1, externalProductId },
      { reportTypeID: 1, investmentID },
      { reportTypeID: 1, externalProductId, securityCode: 'GRA' },
      { reportTypeID: 7, bizEntityID: account!.bizEntityID },
      { reportTypeID: 7, accountID: account!.accountID },
      { reportTypeID: 7, externalProductId, externalAccountId: account!.externalAccountId },
    ]) {
      const reply = await admin.post('/Report', named)
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.data.productID, productID)
    }
  })

  it('refuses what does not belong together', async () => {
    const other = await newFund(service)
    const product = { productID: fund.productID, reportTypeID: 7 }
    const [own] = fund.accounts
    const [theirs] = other.accounts
    refused(await admin.post('/Report', { ...product, bizEntityID: theirs!.bizEntityID }), 400)
    refused(await admin.post('/Report', { ...product, accountID: theirs!.accountID }), 404)
    const both = { bizEntityID: fund.accounts[1]!.bizEntityID, accountID: own!.accountID }
    refused(await admin.post('/Report', { ...product, ...both }), 400, 'combination')
    refused(await admin.post('/Report', { ...about(), investmentID: other.investmentID }), 404)
  })

  it('needs the permission to read what it is made of', async () => {
    const user = await service.userWith({ permissions: ['Report.Read', 'Report.Write'] })
    for (const reportTypeID of [1, 2, 3, 5, 6])
      refused(await user.post('/Report', { ...about(), reportTypeID }), 403, 'permission_missing')
  })

  it('is done once under an Idempotency-Key', async () => {
    const key = { 'Idempotency-Key': 'report-1' }
    const first = await admin.post('/Report', about(), key)
    const again = await admin.post('/Report', about(), key)
    assert.equal(again.data.reportID, first.data.reportID)
  })
})

describe('GET /Report', () => {
  it('lists the reports of a product, in pages', async () => {
    const { productID } = await newProduct(service)
    for (let i = 0; i < 3; i++) await order(admin, { ...about(), productID })
    const all = await admin.get(`/Report?ProductID=${productID}`)
    assert.equal(all.recordCount, 3)
    const second = await admin.get(`/Report?ProductID=${productID}&PageSize=2&PageNumber=2`)
    assert.deepEqual(second.data, all.data.slice(2))
    const one = await admin.get(`/Report?ReportID=${all.data[0].reportID}`)
    assert.equal(one.recordCount, 1)
    assert.equal(
      (await admin.get(`/Report?ProductID=${productID}&ReportStatusID=4`)).recordCount,
      0,
    )
    refused(await admin.get('/Report/Status'), 400, 'required')
    refused(await admin.get('/Report/Status?ReportID=99999999'), 404)
  })
})

describe('GET /Report/File', () => {
  it('gives the same bytes as JSON and raw', async () => {
    const { reportID, fileSize } = await order(admin, { ...about(), name: 'Q1: "March"/x' })
    const { bytes, headers } = await getBytes(admin, `/Report/File?ReportID=${reportID}`)
    assert.equal(bytes.length, fileSize)
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="x\.csv"/)
    const { data } = await admin.get(`/Report/File?ReportID=${reportID}`)
    assert.ok(Buffer.from(data.content, 'base64').equals(bytes))
    assert.equal(data.sha256, sha256(bytes))
  })

  it('is 404 when there is none, and 409 while it is not complete', async () => {
    refused(await admin.get('/Report/File?ReportID=99999999'), 404)
    await stopWorker()
    const { data } = await admin.post('/Report', about())
    refused(await admin.get(`/Report/File?ReportID=${data.reportID}`), 409, 'not_complete')
    stopWorker = await workFor(service, env)
    assert.equal((await ended(admin, data.reportID)).reportStatusID, 3)
  })
})

describe('DELETE /Report', () => {
  it('removes the record and the file', async () => {
    const { reportID } = await order(admin, { ...about(), date: '2026-02-03' })
    const path = `/Report/File?ReportID=${reportID}`
    const hash = sha256((await getBytes(admin, path)).bytes)
    const stored = () =>
      rowsOf(service.connection, 'select from stored_file where sha256 = $1', [hash])
    assert.equal((await stored()).length, 1)
    const reply = await admin.delete(`/Report?ReportID=${reportID}`)
    assert.deepEqual([reply.status, reply.data], [200, null])
    refused(await admin.get(path), 404)
    refused(await admin.delete(`/Report?ReportID=${reportID}`), 404)
    await until('the file to go', async () => (await stored()).length === 0)
  })
})

describe('The scope of a user', () => {
  it('holds for reports: when ordered, listed, read, downloaded and deleted', async () => {
    const other = await newProduct(service)
    const user = await service.userWith({ role: 'Operator', productIDs: [other.productID] })
    refused(await user.post('/Report', about()), 404)
    const { reportID } = await order(admin, about())
    assert.equal((await user.get('/Report')).recordCount, 0)
    refused(await user.get(`/Report/Status?ReportID=${reportID}`), 404)
    refused(await user.get(`/Report/File?ReportID=${reportID}`), 404)
    refused(await user.delete(`/Report?ReportID=${reportID}`), 404)
  })

  it('is looked at again when the report is made, and so are the permissions', async () => {
    const username = 'leaver'
    const password = 'a password for leaving'
    const rights = { role: 'Operator', productIDs: [fund.productID] }
    const created = await admin.post('/User', { username, password, ...rights })
    const [{ userID }] = created.data
    const user = await service.anyone.signIn(username, password)
    const start = await feedEnd(admin)
    await stopWorker()
    const { data: first } = await user.post('/Report', about())
    const { data: second } = await user.post('/Report', about())
    const { productID } = await newProduct(service)
    const moved = await admin.put('/User', {
      userID,
      username,
      role: 'Operator',
      isActive: true,
      productIDs: [productID],
    })
    stopWorker = await workFor(service, env)
    assert.equal(moved.status, 200, moved.text)
    const failed = await ended(admin, first.reportID)
    assert.equal(failed.reportStatusID, 4)
    assert.match(failed.errorMessage, /no longer has the rights for it/)
    assert.equal((await ended(admin, second.reportID)).reportStatusID, 4)
    refused(await admin.get(`/Report/File?ReportID=${first.reportID}`), 409, 'report_failed')
    const told = await eventsAfter(admin, start, 2, { Type: 'report.failed' })
    assert.deepEqual(told.flatMap(({ ids }) => ids).sort(), [first.reportID, second.reportID])
  })

  it('is that of the API key it was ordered with, and ends with it', async () => {
    const key = await newKey(admin, { permissions: ['Report.Write', 'BizEntity.Read'] })
    const { data: me } = await key.get('/User/Me')
    await stopWorker()
    const { data } = await key.post('/Report', about())
    const gone = await admin.delete(`/ApiKey?ApiKeyID=${me.apiKeyID}`)
    stopWorker = await workFor(service, env)
    assert.equal(gone.status, 200, gone.text)
    const failed = await ended(admin, data.reportID)
    assert.equal(failed.reportStatusID, 4)
    assert.match(failed.errorMessage, /no longer has the rights for it/)
  })

  it('with Report.Read alone does not download what one may not read', async () => {
    const { reportID } = await order(admin, about())
    const user = await service.userWith({ permissions: ['Report.Read'] })
    assert.equal((await user.get(`/Report/Status?ReportID=${reportID}`)).status, 200)
    refused(await user.get(`/Report/File?ReportID=${reportID}`), 403, 'permission_missing')
  })
})

describe('A cell', () => {
  it('that would be a formula is made harmless; figures stay figures', async () => {
    const own = await newFund(service, { accounts: 5 })
    const names = ['=1+1', '+A1', '-2+3', '@SUM(A1)', 'plain, "quoted"\nand broken']
    const transactionDate = '2026-01-10'
    for (const [i, name] of names.entries()) {
      const { bizEntityID, accountID } = own.accounts[i]!
      await rowsOf(service.connection, 'update biz_entity set name = $1 where biz_entity_id = $2', [
        name,
        bizEntityID,
      ])
      const { productID, investmentID } = own
      const common = { productID, investmentID, accountID, transactionDate }
      await admin.post('/BizTransaction/Deposit', { ...common, amount: 10 })
      await admin.post('/BizTransaction/Redemption', { ...common, amount: 4 })
    }
    const csv = await fileOf(admin, { reportTypeID: 3, productID: own.productID })
    const [head, ...rows] = cellsOf(csv)
    const shown = new Set(rows.map((row) => row[head!.indexOf('Name')]))
    assert.deepEqual(
      [...shown].filter(Boolean).sort(),
      [...names.slice(0, 4).map((name) => `'${name}`), names[4]!].sort(),
    )
    const units = rows.map((row) => row[head!.indexOf('Units')])
    assert.ok(units.includes('-4.0000') && units.includes('10.0000'))
  })
})
