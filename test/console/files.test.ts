import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { writeSheet } from '../../src/integration/import/xlsx-write.ts'
import { type Browser, findings, skip, startConsole } from '../support/browser.ts'
import { rowsOf } from '../support/database.ts'
import { fundOf } from '../support/distribution.ts'
import { importFor } from '../support/imports.ts'
import { temporaryFolder } from '../support/process.ts'
import type { Service } from '../support/service.ts'

/** A picture of one pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk' +
    '+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('The console’s files', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let fund: Awaited<ReturnType<typeof fundOf>>
  let address: string

  const fill = (label: string, text: string) =>
    page.getByLabel(new RegExp(`^${label}( \\*)?$`)).fill(text)
  const press = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: true }).first().click()
  const choose = async (label: string, option: string) => {
    await page.getByRole('combobox', { name: label }).click()
    await page.getByRole('option', { name: option, exact: true }).click()
  }
  const file = (name: string, mimeType: string, buffer: Buffer) => ({ name, mimeType, buffer })

  before(async () => {
    const folder = { REGISTRY_DATA_DIR: temporaryFolder() }
    ;({ service, browser, stop } = await startConsole(folder))
    fund = await fundOf(service, [100, 200])
    const stopImports = await importFor(service, folder)
    const stopRest = stop
    stop = async () => {
      await stopImports()
      await stopRest()
    }
    address = `${service.url}/console/${fund.productID}`
    page = await browser.open(`/${fund.productID}/documents`)
  })
  after(() => stop())

  it('takes a dropped file with a password, and shows it in the page to who has it', async () => {
    await page.getByText('No document here').waitFor()
    assert.deepEqual(await findings(page), [])
    await page.locator('input[type=file]').setInputFiles(file('passport.png', 'image/png', picture))
    await fill('Name', 'Passport of Ann')
    await choose('Type', 'Identification')
    await fill('Password', 'open sesame')
    assert.deepEqual(await findings(page), [])
    await press('Upload')
    await page.getByRole('button', { name: 'Passport of Ann' }).click()
    await fill('Password of the file', 'wrong')
    await press('Open')
    await page.getByRole('alert').filter({ hasText: 'wrong' }).waitFor()
    await fill('Password of the file', 'open sesame')
    await press('Open')
    await page.getByRole('img', { name: 'Passport of Ann' }).waitFor()
    assert.deepEqual(await findings(page), [])
    const { data } = await service.admin.get(`/Document/List?ProductID=${fund.productID}`)
    assert.deepEqual([data[0].hasPassword, data[0].fileName], [true, 'passport.png'])
  })

  it('takes the password away again, and deletes the document', async () => {
    await press('Edit')
    await page.getByRole('switch', { name: 'Take the password away' }).check({ force: true })
    await press('Save')
    await page.getByText('The document is saved.').waitFor()
    const { data } = await service.admin.get(`/Document/List?ProductID=${fund.productID}`)
    assert.equal(data[0].hasPassword, false)
    await page.getByRole('button', { name: 'Passport of Ann' }).click()
    await page.getByRole('img', { name: 'Passport of Ann' }).waitFor()
    await press('Delete')
    await press('Delete the document')
    await page.getByText('No document here').waitFor()
  })

  it('uploads once what is sent again because its answers were lost', async () => {
    const lost = new Set(['/Document', '/Document/File'])
    await page.route(/\/Document(\/File)?$/, async (route) => {
      const { pathname } = new URL(route.request().url())
      if (!lost.delete(pathname)) return route.continue()
      await route.fetch()
      return route.abort('connectionreset')
    })
    const text = file('deed.txt', 'text/plain', Buffer.from('Deed'))
    const files = [file('deed.png', 'image/png', picture), text]
    await page.locator('input[type=file]').setInputFiles(files)
    for (const left of [1, 0]) {
      await press('Upload')
      await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor()
      assert.equal(lost.size, left)
      await page.getByText('What you entered stays').waitFor({ state: 'hidden' })
    }
    await press('Upload')
    await page.getByText('The documents are there.').waitFor()
    await page.unrouteAll()
    browser.faults()
    const { data } = await service.admin.get(`/Document/List?ProductID=${fund.productID}`)
    assert.deepEqual(
      data.map((one: { fileName: string }) => one.fileName),
      ['deed.png', 'deed.txt'],
    )
  })

  it('tells what failed of an upload whose dialog is closed meanwhile', async () => {
    await page.goto(`${address}/documents`)
    const asked = page.waitForRequest(/\/Document$/)
    let answer = () => {}
    const closed = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route(/\/Document$/, async (route) => {
      await closed
      await route.fulfill({ status: 409, json: { message: 'Not now.' } })
    })
    const text = file('will.txt', 'text/plain', Buffer.from('Will'))
    await page.locator('input[type=file]').setInputFiles(text)
    await press('Upload')
    await asked
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    answer()
    await page.getByText('Not done').waitFor()
    await page.getByText('Not now.').waitFor()
    await page.unrouteAll()
  })

  it('takes the first file of a document once, also when it is sent again', async () => {
    const { productID } = fund
    const named = { productID, documentTypeID: 1, name: 'To be signed' }
    const { documentID } = (await service.admin.post('/Document', named)).data
    await page.goto(`${address}/documents`)
    let sent = 0
    await page.route(/\/Document\/File$/, async (route) => {
      if (sent++ > 0) return route.continue()
      await route.fetch()
      return route.abort('connectionreset')
    })
    await page.getByRole('button', { name: 'To be signed' }).click()
    const choice = page.getByRole('dialog').locator('input[type=file]')
    await choice.setInputFiles(file('signed.png', 'image/png', picture))
    await page.getByText('The file is there.').waitFor()
    assert.equal(sent, 2, 'the page sends it again when the service is there')
    await page.unrouteAll()
    browser.faults()
    const { data } = await service.admin.get(`/Document/File?DocumentID=${documentID}`)
    assert.equal(data.fileName, 'signed.png')
    const trail = `/Audit?Resource=Document&ResourceID=${documentID}`
    assert.deepEqual(
      (await service.admin.get(trail)).data.map((one: { operation: string }) => one.operation),
      ['POST /Document', 'POST /Document/File'],
    )
  })

  it('rings for imports that failed in the last seven times 24 hours, by no clock', async () => {
    const ago = (ms: number) => new Date(Date.now() - 7 * 86_400_000 - ms).toISOString()
    const data = [ago(-60_000), ago(60_000)].map((createdDate) => ({ createdDate }))
    await page.route(/\/Import\?.*Status=Failed/, (route) =>
      route.fulfill({ json: { result: true, message: null, recordCount: 2, data } }),
    )
    await page.goto(`${address}/import`)
    await page.getByRole('button', { name: /^What needs you/ }).click()
    await page.getByText('1 import failed').waitFor()
    await page.unrouteAll()
  })

  it('checks a file with headings of its own, and tells what is wrong beside the row', async () => {
    const [first, second] = fund.accounts
    const rows = [
      'operation,accountID,investmentID,Day,amount',
      `Deposit,${first!.accountID},${fund.investmentID},2026-01-10,10.00`,
      `Deposit,${second!.accountID},${fund.investmentID},2026-01-10,ten`,
    ]
    await page.goto(`${address}/import`)
    await page.getByText('Nothing imported yet').waitFor()
    assert.deepEqual(await findings(page), [])
    await page.getByRole('link', { name: 'Import a file' }).click()
    await page
      .locator('input[type=file]')
      .setInputFiles(file('june.csv', 'text/csv', Buffer.from(rows.join('\n'))))
    await choose('Field for Day', 'transactionDate')
    assert.deepEqual(await findings(page), [])
    await page.getByRole('link', { name: 'Holds' }).click()
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
    await press('Stay')
    await press('Check the file')
    await page.getByRole('heading', { name: 'Refused rows' }).waitFor()
    await page.getByRole('cell', { name: /amount must/ }).waitFor()
    assert.deepEqual(await findings(page), [])
    const { data } = await service.admin.get('/Import')
    assert.deepEqual([data[0].mode, data[0].rowsAccepted, data[0].rowsRefused], ['validate', 1, 1])
  })

  it('imports the good rows, and the others once they are mended', async () => {
    const posted = async () =>
      (await service.admin.get(`/BizTransaction?ProductID=${fund.productID}`)).data.length
    const before = await posted()
    await press('Import the good row')
    await page.getByText('The other rows are imported.').waitFor()
    await page.getByLabel('amount of line 3').fill('20.00')
    await page.getByRole('link', { name: 'Holds' }).click()
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
    await press('Stay')
    assert.equal(await posted(), before + 1)
    await press('Check 1 mended row')
    await press('Import 1 row')
    await page.getByText('All or none').waitFor()
    await page.getByText('Completed', { exact: true }).waitFor()
    assert.equal(await posted(), before + 2)
  })

  it('mends a checked file where its rows stand, and commits it as a whole', async () => {
    const posted = async () =>
      (await service.admin.get(`/BizTransaction?ProductID=${fund.productID}`)).data.length
    const before = await posted()
    const { accountID } = fund.accounts[0]!
    const line = (amount: string) => ['Deposit', accountID, fund.investmentID, '10/01/2026', amount]
    const head = ['operation', 'accountID', 'investmentID', 'transactionDate', 'amount', 'comment']
    const text = [
      '# of the bank',
      head.join(';'),
      [...line('1.00'), '"over two\nlines; quoted"'].join(';'),
      line('nothing').join(';'),
      line('3.00').join(';'),
    ].join('\r\n')
    const path = join(temporaryFolder(), 'mended.xlsx')
    await writeSheet(path, [head, line('4.00').map(String), line('five').map(String)])
    for (const [given, wrong] of [
      [file('mended.csv', 'text/csv', Buffer.from(text)), 5],
      [path, 3],
    ] as const) {
      await page.goto(`${address}/import/new`)
      await page.locator('input[type=file]').setInputFiles(given)
      await choose('Dates are written', '30/06/2026')
      await press('Check the file')
      await page.getByLabel(`amount of line ${wrong}`).fill('2.00')
      await press('Check the mended file')
      await page.getByText('Every row is good.').waitFor()
      await page.getByRole('button', { name: /^Import \d rows$/ }).click()
      await page.getByText('All or none').waitFor()
      await page.getByText('Completed', { exact: true }).waitFor()
    }
    assert.equal(await posted(), before + 5)
    const { data } = await service.admin.get(
      `/BizTransaction?ProductID=${fund.productID}&AccountID=${accountID}&Order=desc`,
    )
    assert.deepEqual(
      data.slice(0, 5).map((one: { amount: number }) => one.amount),
      [2, 4, 3, 2, 1],
    )
    assert.equal(data[4].comment, 'over two\nlines; quoted')
  })

  it('maps the columns of a workbook, and mends its refused rows in the page', async () => {
    const posted = async () =>
      (await service.admin.get(`/BizTransaction?ProductID=${fund.productID}`)).data.length
    const before = await posted()
    const { accountID } = fund.accounts[0]!
    const line = (amount: string) => [
      ...['Deposit', String(accountID), String(fund.investmentID), '10/01/2026'],
      amount,
    ]
    const head = ['operation', 'accountID', 'investmentID', 'When', 'amount']
    const path = join(temporaryFolder(), 'july.xlsx')
    await writeSheet(path, [head, line('11.10'), line('twelve')])
    await page.goto(`${address}/import/new`)
    await page.locator('input[type=file]').setInputFiles(path)
    await choose('Field for When', 'transactionDate')
    await choose('Dates are written', '30/06/2026')
    await press('Check the file')
    await page.getByRole('cell', { name: /amount must/ }).waitFor()
    await press('Import the good row')
    await page.getByText('The other rows are imported.').waitFor()
    await page.getByLabel('amount of line 3').fill('12.20')
    assert.deepEqual(await findings(page), [])
    await press('Check 1 mended row')
    await press('Import 1 row')
    await page.getByText('All or none').waitFor()
    await page.getByText('Completed', { exact: true }).waitFor()
    assert.equal(await posted(), before + 2)
  })

  it('imports a file once more where somebody says that it is meant', async () => {
    const { accountID } = fund.accounts[0]!
    const text = [
      'operation,accountID,investmentID,transactionDate,amount',
      `Deposit,${accountID},${fund.investmentID},2026-01-11,5.00`,
    ].join('\n')
    const check = async () => {
      await page.goto(`${address}/import/new`)
      const given = file('twice.csv', 'text/csv', Buffer.from(text))
      await page.locator('input[type=file]').setInputFiles(given)
      await press('Check the file')
      await press('Import 1 row')
    }
    await check()
    await page.getByText('Completed', { exact: true }).waitFor()
    await check()
    await page.getByText(/This file was imported before \(import \d+\)\.$/).waitFor()
    await page.getByLabel('The rows are meant twice: import the file again').check()
    assert.deepEqual(await findings(page), [])
    await press('Import 1 row')
    await page.getByText('All or none').waitFor()
    await page.getByText('Completed', { exact: true }).waitFor()
  })

  it('tells how far an import got that was cancelled', async () => {
    const [last] = (await service.admin.get('/Import?Order=desc&PageSize=1')).data
    const told = 'The rows up to line 2 are done: send only those after it.'
    await rowsOf(
      service.connection,
      `update import set status = 'Cancelled', mode = 'continue', message = $2
      where import_id = $1`,
      [last.importID, told],
    )
    await page.goto(`${address}/import/${last.importID}`)
    await page.getByText(told).waitFor()
    assert.deepEqual(await findings(page), [])
  })

  it('shows both versions where somebody saved meanwhile, and saves the chosen', async () => {
    const { productID } = fund
    const read = async () => (await service.admin.get(`/Product?ProductID=${productID}`)).data[0]
    const edit = async (externalProductId: string) => {
      await page.goto(`${service.url}/console/settings/products`)
      await page.getByRole('table').getByRole('button').first().click()
      await fill('External id', externalProductId)
      const { currencyID, externalProductId: before } = await read()
      const theirs = { productID, name: `Renamed before ${externalProductId}`, currencyID }
      const saved = await service.admin.put('/Product', { ...theirs, externalProductId: before })
      assert.equal(saved.status, 200, saved.text)
      await press('Save')
      await page.getByRole('dialog', { name: /changed this meanwhile/ }).waitFor()
    }
    await edit('MINE-1')
    await page.getByRole('cell', { name: 'MINE-1', exact: true }).waitFor()
    await page.getByRole('cell', { name: 'Renamed before MINE-1' }).waitFor()
    assert.deepEqual(await findings(page), [])
    await press('Keep the register’s')
    await page.getByText('Nothing is saved').waitFor()
    assert.equal((await read()).name, 'Renamed before MINE-1')
    assert.notEqual((await read()).externalProductId, 'MINE-1')
    await edit('MINE-2')
    await press('Save mine over it')
    await page.getByText('The product is saved.').waitFor()
    assert.equal((await read()).externalProductId, 'MINE-2')
    assert.equal((await read()).name, 'Renamed before MINE-1')
  })

  it('has had no error in the browser', () => {
    assert.deepEqual(browser.faults(), [])
  })
})
