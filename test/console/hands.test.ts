import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Browser, skip, startConsole } from '../support/browser.ts'
import { fundOf } from '../support/distribution.ts'
import type { Service } from '../support/service.ts'

describe('The console under many hands', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let fund: Awaited<ReturnType<typeof fundOf>>

  const at = async (path: string, heading: string) => {
    await page.goto(`${service.url}/console${path}`)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
  }
  const of = (path: string) => `/${fund.productID}${path}`

  before(async () => {
    ;({ service, browser, stop } = await startConsole())
    fund = await fundOf(service, [100, 50])
    page = await browser.open('/')
  })
  after(() => stop())

  it('takes a figure typed key by key as it takes one pasted', async () => {
    await at(of('/transactions/new'), 'New transaction')
    const field = page.getByLabel('Amount, AUD')
    const left = async (text: string) => {
      await field.fill('')
      await field.pressSequentially(text)
      await field.press('Tab')
      return field.inputValue()
    }
    assert.equal(await left('1,250.50'), '1250.50')
    assert.equal(await left('1 250 000'), '1250000')
    for (const none of ['1,2345', '12 50', '1.250,50', '0,125'])
      assert.equal(await left(none), none)
    await field.fill('1,020.00')
    assert.equal(await field.inputValue(), '1,020.00')
    await field.fill('')
  })

  it('has had no error in the browser', () => assert.deepEqual(browser.faults(), []))
})
