import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Browser, skip, startConsole } from '../support/browser.ts'
import { newAccounts } from '../support/ledger.ts'
import { cellsOf } from '../support/reports.ts'
import { assertScrollsThrough, assertWholeAt, productOfMany } from '../support/scrolling.ts'
import type { Service } from '../support/service.ts'

describe('A long list of the console', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let productID: number

  before(async () => {
    ;({ service, browser, stop } = await startConsole())
    productID = await productOfMany(service, 3000)
    page = await browser.open(`/${productID}/investors`)
  })
  after(() => stop())

  it('shows each of 3,000 investors in order and without a gap, as one scrolls', async () => {
    await page.setViewportSize({ width: 1280, height: 1600 })
    await page.getByText('3,000 rows').waitFor()
    const list = page.getByRole('table', { name: 'Investors' })
    await assertScrollsThrough(list, 3000)
    for (const top of [0, 40_000, 118_000, 60_000]) await assertWholeAt(list, top)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('finds a list where it was left, with its filters', async () => {
    const list = page.getByRole('table', { name: 'Investors' })
    const topOf = () => list.evaluate((element) => element.scrollTop)
    await page.goto(`${page.url()}?BizEntityTypeID=1&Order=desc`)
    await page.getByText('3,000 rows').waitFor()
    await assertWholeAt(list, 60_000, (index) => 3001 - index)
    await page.getByRole('link', { name: 'Holder 001490' }).click()
    await page.getByRole('heading', { name: 'Holder 001490' }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Holder 001490' }).waitFor()
    assert.equal(await topOf(), 60_000)
    await page.getByRole('link', { name: 'Holder 001490' }).click()
    await page.getByRole('tab', { name: 'Details' }).click()
    await page.reload()
    await page.getByRole('main').getByRole('link', { name: 'Investors' }).click()
    await page.getByRole('link', { name: 'Holder 001490' }).waitFor()
    assert.equal(await topOf(), 60_000)
    assert.match(page.url(), /BizEntityTypeID=1&Order=desc/)
    await page.getByRole('button', { name: 'Remove the filter Kind' }).click()
    await page.getByRole('link', { name: 'Holder 003000' }).waitFor()
    assert.equal(await topOf(), 0)
  })

  it('saves a list with each of its rows once, whatever is added meanwhile', async () => {
    let isFirst = true
    await page.route('**/BizEntity?*PageSize=1000*', async (route) => {
      const response = await route.fetch()
      if (isFirst) await newAccounts(service, productID, 3)
      isFirst = false
      await route.fulfill({ response })
    })
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save this view as CSV', exact: true }).click()
    const names = cellsOf(readFileSync(await (await saved).path())).map(([name]) => name)
    assert.deepEqual([names.length, new Set(names).size], [3001, 3001], 'the head and the rows')
    await page.unrouteAll()
  })

  it('has had no error in the browser', () => {
    assert.deepEqual(browser.faults(), [])
  })
})
