import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { codeAt, stepAt } from '../../src/access/second-factor/totp.ts'
import { type Browser, findings, skip, startConsole } from '../support/browser.ts'
import { fundOf } from '../support/distribution.ts'
import { adminPassword, type Service } from '../support/service.ts'

describe('The console’s settings', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let fund: Awaited<ReturnType<typeof fundOf>>

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const at = async (path: string, heading: string) => {
    await page.goto(`${service.url}/console${path}`)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    assert.deepEqual(await findings(page), [], path)
  }

  before(async () => {
    ;({ service, browser, stop } = await startConsole())
    fund = await fundOf(service, [100])
    const second = { username: 'second', password: 'a password for tests', role: 'Administrator' }
    assert.equal((await service.admin.post('/User', second)).status, 200)
    page = await browser.open('/settings/products')
  })
  after(() => stop())

  it('lets a change wait where a rule says so, and another user approve it', async () => {
    const rule = await service.admin.post('/ApprovalRule', { resource: 'Product' })
    assert.equal(rule.status, 200, rule.text)
    const name = async () =>
      (await service.admin.get(`/Product?ProductID=${fund.productID}`)).data[0].name
    await page.getByRole('table').getByRole('button').first().click()
    await page.getByLabel('Name').fill('Waits for somebody')
    await press('Save')
    await page.getByText('It waits until somebody else approves it.').waitFor()
    assert.equal(await name(), 'Fund')
    await at('/approvals', 'Approvals')
    const other = await browser.open('/approvals', 'second')
    await other.getByRole('button', { name: 'PUT /Product' }).click()
    await other.getByRole('cell', { name: 'Waits for somebody' }).waitFor()
    assert.deepEqual(await findings(other), [])
    await other.getByRole('button', { name: 'Approve', exact: true }).click()
    await other.getByText('It is approved.').waitFor()
    assert.equal(await name(), 'Waits for somebody')
  })

  it('shows tax rates, and what is withheld from an investor and why', async () => {
    await at('/settings/tax-rates', 'Tax rates')
    const made = await service.admin.post('/BizEntity', {
      name: 'Ann Example',
      bizEntityTypeID: 1,
      bizEntityStatusID: 1,
      accounts: [{ productID: fund.productID }],
      bizEntityParties: [{ person: { firstName: 'Ann', lastName: 'Example' } }],
    })
    assert.equal(made.status, 200, made.text)
    const [{ bizEntityID }] = made.data
    await page.goto(`${service.url}/console/${fund.productID}/investors/${bizEntityID}?section=tax`)
    await page.getByRole('heading', { name: /^Withholding, account/ }).waitFor()
    assert.deepEqual(await findings(page), [])
  })

  it('makes a webhook, and shows its secret this once', async () => {
    await at('/settings/webhooks', 'Webhooks')
    await press('New webhook')
    await page.getByLabel('Address').fill('https://example.com/registry')
    assert.deepEqual(await findings(page), [])
    await press('Make the webhook')
    await page.getByText('Keep this secret now').waitFor()
    await press('I have kept it')
    await page.getByRole('button', { name: 'https://example.com/registry' }).click()
    await page.getByText('Nothing was sent yet').waitFor()
    assert.equal((await service.admin.get('/Webhook')).data.length, 1)
  })

  it('sets up a second factor, and asks for its code at the next sign-in', async () => {
    const own = await browser.open('/settings/account', 'second')
    await own.getByRole('button', { name: 'Set it up' }).click()
    const secret = (await own.locator('pre').first().textContent()) ?? ''
    const step = stepAt(Date.now())
    await own.getByLabel('Code').fill(codeAt(secret, step))
    assert.deepEqual(await findings(own), [])
    await own.getByRole('button', { name: 'Confirm' }).click()
    await own.getByText('Keep these codes').waitFor()
    const [recovery] = ((await own.locator('pre').first().textContent()) ?? '').split('\n')
    const context = await browser.open('/', 'admin')
    await context.getByRole('button', { name: 'admin', exact: true }).click()
    await context.getByRole('menuitem', { name: 'Sign out' }).click()
    await context.getByLabel('Username').fill('second')
    await context.locator('input[type=password]').fill(adminPassword)
    await context.getByRole('button', { name: 'Sign in' }).click()
    await context.getByLabel('Code of your second factor').fill(recovery ?? '')
    assert.deepEqual(await findings(context), [])
    await context.getByRole('button', { name: 'Sign in' }).click()
    await context.getByRole('button', { name: 'second', exact: true }).waitFor()
  })

  it('makes a key for a program, and ends it', async () => {
    await at('/settings/account', 'Your account')
    await press('New key')
    await page.getByLabel('Name').fill('Nightly prices')
    await press('Make the key')
    const key = (await page.locator('pre').last().textContent()) ?? ''
    assert.match(key, /^rk_/)
    await press('I have kept it')
    await press('End the key Nightly prices')
    await page.getByText('No key yet').waitFor()
    assert.deepEqual(browser.faults(), [])
  })
})
