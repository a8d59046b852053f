import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { type Browser, findings, skip, startConsole } from '../support/browser.ts'
import { rowsOf } from '../support/database.ts'
import { allot, configure, stage } from '../support/distribution.ts'
import {
  all,
  newAccounts,
  newFund,
  newInvestment,
  newPrice,
  newProduct,
  only,
} from '../support/ledger.ts'
import { adminPassword, type Service } from '../support/service.ts'

const yen = 8
const transactionDate = '2024-01-01'

describe('The console’s figures', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page

  const at = async (path: string, heading: string) => {
    await page.goto(`${service.url}/console/${path}`)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    assert.deepEqual(await findings(page), [], path)
  }
  const figure = (label: string) => page.locator('main').getByText(label).locator('xpath=..')

  /** A product with one investor, who buys an amount of each class, with or without a price. */
  async function fundWith(
    classes: { amount: string; price?: string; currencyID?: number }[],
    more = {},
  ) {
    const { productID } = await newProduct(service, more)
    const [account] = await newAccounts(service, productID, 1)
    const { accountID, bizEntityID } = account!
    const codes: string[] = []
    const investmentIDs: number[] = []
    for (const { amount, price, currencyID } of classes) {
      const made = await newInvestment(service, productID, { currencyID })
      const { investmentID } = made
      codes.push(made.securityCode)
      investmentIDs.push(investmentID)
      if (price) await newPrice(service, investmentID, '2000-01-01', price)
      const deposit = { accountID, investmentID, transactionDate, amount, quantity: amount }
      all(await service.admin.post('/BizTransaction/Deposit', deposit))
    }
    return { productID, bizEntityID, codes, investmentIDs }
  }

  before(async () => {
    ;({ service, browser, stop } = await startConsole())
    await newProduct(service)
    page = await browser.open('/')
  })
  after(() => stop())

  it('have the decimals of their currency, of the product or of a class of its own', async () => {
    const { productID, bizEntityID } = await fundWith([{ amount: '1234567', price: '1' }], {
      currencyID: yen,
    })
    await at(`${productID}`, 'Fund')
    await figure('Value, JPY').first().getByText('1,234,567', { exact: true }).waitFor()
    await at(`${productID}/investors/${bizEntityID}`, 'Investor 1')
    const holdings = page.getByRole('table', { name: 'Holdings' })
    await holdings.getByRole('cell', { name: '1,234,567', exact: true }).first().waitFor()
    await at(`${productID}/transactions/new`, 'New transaction')
    for (const label of ['Account', 'Class']) {
      await page.getByRole('combobox', { name: label }).click()
      await page.getByRole('option').first().click()
    }
    await page.getByLabel('Day').fill('2000-02-01')
    await page.getByLabel('Amount, JPY').fill('1000')
    await page.getByText('1,000 JPY', { exact: true }).waitFor()
    const mixed = await fundWith([
      { amount: '5000', price: '1' },
      { amount: '6000', price: '1', currencyID: yen },
    ])
    await at(`${mixed.productID}`, 'Fund')
    await figure('Value, AUD').first().getByText('and 6,000 JPY').waitFor()
    await page.getByText('1.0000 JPY').waitFor()
    for (const heading of ['Value in JPY', 'Money in and out, JPY'])
      await page.getByRole('heading', { name: heading }).waitFor()
    await at(`${mixed.productID}/investors/${mixed.bizEntityID}`, 'Investor 1')
    await figure('Value, AUD').first().getByText('5,000.00', { exact: true }).waitFor()
    await figure('Value, AUD').first().getByText('and 6,000 JPY').waitFor()
    for (const [currency, total] of [
      ['AUD', '5,000.00'],
      ['JPY', '6,000'],
    ] as const) {
      const table = page.getByRole('table', { name: `Holdings in ${currency}` })
      await table.getByRole('cell', { name: total, exact: true }).last().waitFor()
    }
    await at(`${mixed.productID}/investors`, 'Investors')
    await page.getByText('5,000.00 + 6,000 JPY', { exact: true }).waitFor()
    await at(`${mixed.productID}/transactions`, 'Transactions')
    const cell = (name: string) => page.getByRole('cell', { name, exact: true })
    await cell('5,000.00').waitFor()
    await cell('6,000').waitFor()
  })

  it('of an investor’s distributions are in the currency of each class, with the tax', async () => {
    const fund = await fundWith([{ amount: '1234', currencyID: yen }, { amount: '50' }])
    const { productID, bizEntityID } = fund
    for (const investmentID of fund.investmentIDs) {
      const own = { productID, investmentID }
      const distribution = await configure(service, own, { distributionAmountPerUnit: 2 })
      for (const name of ['Declare', 'Payment'] as const)
        await stage(service.admin, name, distribution)
    }
    await at(`${productID}/investors/${bizEntityID}`, 'Investor 1')
    await page.getByRole('tab', { name: 'Distributions' }).click()
    const row = (currency: string) => page.getByRole('row').filter({ hasText: currency })
    const cells = async (currency: string) =>
      (await row(currency).getByRole('cell').allInnerTexts()).slice(2)
    await row('JPY').waitFor()
    assert.deepEqual(await cells('JPY'), ['2,468', '0', '0', '', '2,468', 'JPY', 'Paid'])
    assert.match((await page.getByRole('row').allInnerTexts())[1] ?? '', /AUD/) // the newest first
    assert.deepEqual(await cells('AUD'), ['100.00', '0.00', '0.00', '', '100.00', 'AUD', 'Paid'])
  })

  it('of the last changes are those of 24 hours, by no clock', async () => {
    const { productID } = await fundWith([])
    const { productID: busy } = await newProduct(service)
    const asked = page.waitForRequest((request) => request.url().includes('/Audit?'))
    const before = Date.now()
    await at(`${productID}`, 'Fund')
    const { searchParams } = new URL((await asked).url())
    const since = Date.parse(searchParams.get('OccurredDate.greaterThanOrEqual') ?? '')
    const aDay = 86_400_000
    assert.ok(since >= before - aDay && since <= Date.now() - aDay, new Date(since).toISOString())
    // Many have signed in since, which is no change.
    const many = (operation: string, count: number, of: number | null) =>
      rowsOf(
        service.connection,
        `insert into audit (operation, resource, resource_ids, product_id, request_id)
        select $1, 'User', '{1}', $3, 'many' from generate_series(1, $2::int)`,
        [operation, count, of],
      )
    only(await service.admin.put('/Product', { productID, name: 'Fund of now' }))
    await many('POST /User/RefreshToken', 150, null)
    await page.reload()
    await page.getByRole('cell', { name: 'Product changed' }).waitFor()
    // Behind so many of another product it is not known that there is none.
    await many('PUT /Product', 1000, busy)
    await page.reload()
    await page.getByText('None among the last 1,000 entries of the audit trail').waitFor()
    assert.equal(await page.getByText('Nothing in the last 24 hours').count(), 0)
  })

  /** The figures of a table that are cut off, and the headings that are not above their figures. */
  const wrongIn = (table: Locator) =>
    table.evaluate((list) => {
      const [head, ...rows] = [...list.querySelectorAll('[role=row]')]
      const headings = [...head!.children].map((one) => one.getBoundingClientRect().right)
      return rows.flatMap((row) =>
        [...row.children].flatMap((cell, i) => {
          const isFigure = cell.classList.contains('num')
          const isCut = isFigure && cell.scrollWidth > cell.clientWidth
          const isAside = Math.abs(cell.getBoundingClientRect().right - headings[i]!) > 1
          return isCut || isAside ? [cell.textContent] : []
        }),
      )
    })

  it('stand whole in every list, however long they are and narrow the page is', async () => {
    const long = '987654321012345.67'
    const { productID, bizEntityID } = await fundWith([{ amount: long, price: '1' }])
    for (const width of [1280, 1024, 390]) {
      await page.setViewportSize({ width, height: 800 })
      for (const [path, heading, label] of [
        ['transactions', 'Transactions', 'Transactions'],
        ['investors', 'Investors', 'Investors'],
        [`investors/${bizEntityID}?section=transactions`, 'Investor 1', 'Transactions'],
      ] as const) {
        await at(`${productID}/${path}`, heading)
        const table = page.getByRole('table', { name: label })
        await table.getByText('987,654,321,012,345.67').first().waitFor()
        assert.deepEqual(await wrongIn(table), [], `${path} at ${width}`)
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('stand each on one line, in the head of a page as well', async () => {
    const fund = await newFund(service)
    const { productID, accountID } = fund
    await allot(service, fund, [{ accountID, quantity: '140776890.8448' }], transactionDate)
    const paid = { distributionAmountPerUnit: '1.5' }
    const { corporateActionID } = await configure(service, fund, paid)
    for (const width of [1280, 1024]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(`${service.url}/console/${productID}/distributions/${corporateActionID}`)
      const shown = page.getByText('140,776,890.8448', { exact: true }).first()
      await shown.waitFor()
      const lines = await shown.evaluate((element) => {
        const range = document.createRange()
        range.selectNodeContents(element)
        return range.getClientRects().length
      })
      assert.equal(lines, 1, `at ${width}`)
    }
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('of units have the decimals of their class', async () => {
    const { productID } = await newProduct(service)
    const [account] = await newAccounts(service, productID, 1)
    const { accountID, bizEntityID } = account!
    for (const [unitDecimals, quantity] of [
      [0, '1234'],
      [6, '7.5'],
    ] as const) {
      const { investmentID } = await newInvestment(service, productID, { unitDecimals })
      await newPrice(service, investmentID, '2000-01-01', '1')
      const allotment = { accountID, investmentID, transactionDate, quantity }
      all(await service.admin.post('/BizTransaction/Allotment', allotment))
      const own = { productID, investmentID }
      const distribution = await configure(service, own, { distributionAmountPerUnit: 2 })
      await stage(service.admin, 'Declare', distribution)
    }
    for (const [path, heading, label] of [
      [`investors/${bizEntityID}`, 'Investor 1', 'Holdings'],
      [`investors/${bizEntityID}?section=transactions`, 'Investor 1', 'Transactions'],
      [`investors/${bizEntityID}?section=distributions`, 'Investor 1', 'Distributions'],
      ['transactions', 'Transactions', 'Transactions'],
    ] as const) {
      await at(`${productID}/${path}`, heading)
      const table = page.getByRole('table', { name: label })
      for (const units of ['1,234', '7.500000'])
        await table.getByRole('cell', { name: units, exact: true }).first().waitFor()
    }
  })

  it('of units are those of one class each: nothing adds up two', async () => {
    const { productID, bizEntityID, codes } = await fundWith([
      { amount: '700', price: '2' },
      { amount: '900', price: '1' },
    ])
    await at(`${productID}/investors/${bizEntityID}`, 'Investor 1')
    const held = figure(`Units, ${codes[0]}`).first()
    await held.getByText('700', { exact: true }).waitFor()
    await held.getByText(`and 900 ${codes[1]}`).waitFor()
    const foot = page.getByRole('table', { name: 'Holdings' }).getByRole('row').last()
    assert.deepEqual(
      (await foot.getByRole('cell').allInnerTexts()).filter(Boolean),
      ['Total', '2,300.00', '1,600.00', '700.00'],
      'value, cost and gain',
    )
  })

  it('of an investor are those of all holdings, however many', async () => {
    const number = 101
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID)
    const { bizEntityID, accounts } = only(
      await service.admin.post('/BizEntity', {
        ...{ bizEntityTypeID: 2, bizEntityStatusID: 1, name: 'Nominees' },
        accounts: Array.from({ length: number }, () => ({ productID })),
        bizEntityParties: [{ organisation: { name: 'Nominees' } }],
      }),
    )
    const own = accounts.map(({ accountID }: { accountID: number }) => ({ accountID }))
    const deposit = { investmentID, transactionDate, amount: 10, quantity: 10 }
    const posted = own.map((one: object) => ({ ...one, ...deposit }))
    all(await service.admin.post('/BizTransaction/Deposit', posted))
    await at(`${productID}/investors/${bizEntityID}`, 'Nominees')
    await figure('Units').first().getByText('1,010', { exact: true }).waitFor()
  })

  it('say of a class without a price that it has none, and of a total what it omits', async () => {
    const { productID, bizEntityID, codes } = await fundWith([
      { amount: '700', price: '2' },
      { amount: '900' },
    ])
    await at(`${productID}`, 'Fund')
    await figure('Value, AUD').first().getByText('1,400.00', { exact: true }).waitFor()
    await page.getByText(`Without ${codes[1]}: it has no price.`).waitFor()
    await page.getByText('— without a price').waitFor()
    await at(`${productID}/investors/${bizEntityID}`, 'Investor 1')
    await figure('Value, AUD').first().getByText('2,300.00', { exact: true }).waitFor()
    const counted = page.getByText(`${codes[1]} counts by what was invested: it has no price.`)
    await counted.nth(1).waitFor() // in the head and under the holdings
    await page.getByText(`Without ${codes[1]}: it has no price.`).waitFor()
    const bare = await fundWith([{ amount: '900' }])
    await at(`${bare.productID}`, 'Fund')
    await figure('Value, AUD').first().getByRole('link', { name: '—' }).waitFor()
    assert.equal(await page.getByText('0.00', { exact: true }).count(), 0)
    assert.deepEqual(browser.faults(), [])
  })

  it('of a posting tell what is held once it is known, and count it as nothing never', async () => {
    const { productID } = await fundWith([{ amount: '900', price: '1' }])
    const holdings = /\/BizEntity\/Account\/Holdings\?/
    let answer = () => {}
    const answers = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route(holdings, async (route) => {
      await answers
      await route.continue()
    })
    await at(`${productID}/transactions/new`, 'New transaction')
    await page.getByText('Redemption', { exact: true }).click()
    for (const label of ['Account', 'Class']) {
      await page.getByRole('combobox', { name: label }).click()
      await page.getByRole('option').first().click()
    }
    await page.getByLabel('Units').fill('400')
    const before = page.getByText('Held before').locator('xpath=..')
    await before.getByText('…').waitFor()
    assert.equal(await page.getByText('more than are held').count(), 0)
    answer()
    await before.getByText('900').waitFor()
    // At the last price there is, however old: a class may have had one price ever.
    await page.getByText('1.0000 of 1 Jan 2000').waitFor()
    await page.getByText('Held after').locator('xpath=..').getByText('500.0000').waitFor()
    await page.unroute(holdings)
    await page.route(holdings, (route) => route.fulfill({ status: 403, json: { result: false } }))
    await page.getByLabel('Day').fill('2024-02-01')
    await before.getByText('could not be read').waitFor()
    assert.equal(await page.getByText('more than are held').count(), 0)
    await page.unroute(holdings)
    browser.faults() // the refusal is in the browser's log
  })

  it('are not 0 where they could not be read, or are not for who looks', async () => {
    const { productID, bizEntityID } = await fundWith([{ amount: '900', price: '1' }])
    const refused = /\/(Holdings|BizEvent|Distribution|Audit|BizTransaction)\b.*\?/
    await page.route(refused, (route) => route.fulfill({ status: 403, json: { result: false } }))
    const unread = async (...labels: string[]) => {
      for (const label of labels)
        await figure(label).first().getByText('could not be read', { exact: true }).waitFor()
    }
    await page.goto(`${service.url}/console/${productID}`)
    await unread('Value, AUD', 'Holdings', 'Notices pending', 'Next distribution')
    for (const words of ['None yet', 'Nothing waits', 'Nothing in the last 24 hours'])
      assert.equal(await page.getByText(words).count(), 0, words)
    await page.getByRole('button', { name: 'What needs you could not be read' }).click()
    await page.getByText('Could not be read: notices.').nth(1).waitFor() // in the bell and below it
    assert.equal(await page.getByText('Nothing needs you now.').count(), 0)
    assert.deepEqual(await findings(page), [])
    await page.goto(`${service.url}/console/${productID}/investors/${bizEntityID}`)
    await unread('Units', 'Unrealised gain', 'Distributions paid')
    await page.unroute(refused)
    const later = /\/BizTransaction\?.*greaterThanOrEqual/
    await page.route(later, (route) => route.fulfill({ status: 403, json: { result: false } }))
    await at(`${productID}/transactions`, 'Transactions')
    await page.locator('[data-row]').first().click()
    await page.getByRole('button', { name: 'Roll back' }).click()
    const asked = page.getByRole('dialog', { name: 'Roll back this transaction?' })
    await asked.getByRole('button', { name: 'Try again' }).waitFor()
    assert.equal(await asked.getByText('Nothing was posted to this holding later.').count(), 0)
    await page.unroute(later)
    await asked.getByRole('button', { name: 'Try again' }).click()
    await asked.getByText('Nothing was posted to this holding later.').waitFor()
    browser.faults() // the refusals are in the browser's log
    const permissions = ['Product.Read', 'Investment.Read', 'BizEntity.Read']
    const who = { username: 'without-ledger', password: adminPassword, permissions }
    only(await service.admin.post('/User', who))
    const theirs = await browser.open(`/${productID}`, who.username)
    await theirs.getByText('1.0000 AUD').waitFor()
    assert.equal(await theirs.getByText(/^(Holdings|Value, AUD)$/).count(), 0)
  })

  it('of a class have the price of its latest day, whatever was entered after it', async () => {
    const { productID, investmentIDs } = await fundWith([{ amount: '900', price: '1' }])
    const investmentID = investmentIDs[0]!
    await newPrice(service, investmentID, '2024-06-30', '7.5')
    const past = Array.from({ length: 1010 }, (_, i) => ({
      ...{ investmentID, price: '2' },
      priceDate: new Date(Date.UTC(2001, 0, 1 + i)).toISOString().slice(0, 10),
    }))
    all(await service.admin.post('/Investment/Price', past.slice(0, 505)))
    all(await service.admin.post('/Investment/Price', past.slice(505)))
    await at(`${productID}`, 'Fund')
    await page.getByText('7.5000 AUD', { exact: true }).waitFor()
    await at(`${productID}/classes`, 'Classes and prices')
    await page.getByText('on 30 Jun 2024', { exact: true }).waitFor()
  })
})
