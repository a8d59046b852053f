import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { codeAt, stepAt } from '../../src/access/second-factor/totp.ts'
import { type Browser, findings, signIn, skip, startConsole } from '../support/browser.ts'
import { fundOf } from '../support/distribution.ts'
import { entityOf } from '../support/investors.ts'
import { adminPassword, type Service } from '../support/service.ts'

describe('The console’s settings', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let fund: Awaited<ReturnType<typeof fundOf>>

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const choose = async (label: string, option: string | RegExp) => {
    await page.getByRole('combobox', { name: label }).first().click()
    await page.getByRole('option', { name: option }).first().click()
  }
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
    await at('/settings/approval-rules', 'Approval rules')
    await press('New rule')
    await choose('Records', 'Products')
    assert.deepEqual(await findings(page), [])
    await press('Make the rule')
    await page.getByText('From now on such changes wait.').waitFor()
    await at('/settings/products', 'Products')
    const name = async () =>
      (await service.admin.get(`/Product?ProductID=${fund.productID}`)).data[0].name
    await page.getByRole('table').getByRole('button').first().click()
    await page.getByLabel('Name').fill('Waits for somebody')
    await press('Save')
    await page.getByText('It waits until somebody else approves it.').waitFor()
    assert.equal(await name(), 'Fund')
    await at('/approvals', 'Approvals')
    const other = await browser.open('/approvals', 'second')
    await other.getByRole('button', { name: 'Product changed' }).click()
    await other.getByRole('cell', { name: 'Waits for somebody' }).waitFor()
    assert.deepEqual(await findings(other), [])
    await other.getByRole('button', { name: 'Approve', exact: true }).click()
    await other.getByText('Approved and done.').waitFor()
    assert.equal(await name(), 'Waits for somebody')
    await at('/settings/approval-rules', 'Approval rules')
    await page.getByRole('button', { name: 'Products', exact: true }).click()
    await page.getByLabel('Only from an amount of').fill('5000')
    await choose('Products', 'Waits for somebody')
    await press('Save')
    await page.getByText('5,000.00').waitFor()
    const rules = page.getByRole('table', { name: 'Approval rules' })
    await rules.getByText('Waits for somebody', { exact: true }).waitFor()
    const [rule] = (await service.admin.get('/ApprovalRule')).data
    assert.deepEqual([rule.resource, rule.minimumAmount], ['Product', 5000])
    await page.getByRole('button', { name: 'Products', exact: true }).click()
    await press('Delete')
    await press('Delete the rule')
    await page.getByText('No change waits for approval').waitFor()
    assert.deepEqual((await service.admin.get('/ApprovalRule')).data, [])
  })

  it('leads whoever decides to the investor that would change', async () => {
    const [entity] = (await service.admin.post('/BizEntity', entityOf(fund.productID))).data
    const rule = { operation: 'PUT /BizEntity' }
    const [{ approvalRuleID }] = (await service.admin.post('/ApprovalRule', rule)).data
    const second = await service.anyone.signIn('second', 'a password for tests')
    const asked = await second.put('/BizEntity', { ...entity, description: 'Calls on Mondays' })
    assert.equal(asked.status, 202, asked.text)
    await at('/approvals', 'Approvals')
    await press('Investor changed')
    await page.getByRole('cell', { name: 'Calls on Mondays' }).waitFor()
    await page
      .getByRole('dialog')
      .getByRole('link', { name: `${entity.bizEntityID}` })
      .click()
    await page.getByRole('heading', { name: entity.name, exact: true }).waitFor()
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
  })

  it('leads who asks away from the form, and offers deciding only to who may', async () => {
    const user = { password: adminPassword, productIDs: [fund.productID] }
    const checking = ['Product.Read', 'Approval.Read', 'Approval.Write']
    for (const rights of [
      { username: 'operator', role: 'Operator' },
      { username: 'checker', permissions: checking },
    ])
      assert.equal((await service.admin.post('/User', { ...user, ...rights })).status, 200)
    const rule = { operation: 'POST /BizTransaction/SetQuantity' }
    const [{ approvalRuleID }] = (await service.admin.post('/ApprovalRule', rule)).data
    const operator = await browser.open(`/${fund.productID}/transactions/new`, 'operator')
    await operator.getByText('Set quantity').click()
    await operator.getByRole('combobox', { name: 'Account' }).click()
    await operator.getByRole('option').first().click()
    await operator.getByRole('combobox', { name: 'Class' }).click()
    await operator.getByRole('option').first().click()
    await operator.getByLabel('Day').fill('2026-03-01')
    await operator.getByLabel('Units the holding is to have').fill('80')
    await operator.getByLabel('Amount of the change, AUD').fill('33.30')
    await operator.getByText('−33.30 AUD').waitFor()
    assert.deepEqual(await findings(operator), [])
    await operator.getByRole('button', { name: 'Post the set quantity' }).click()
    await operator.getByText('It waits until somebody else approves it.').waitFor()
    await operator.getByRole('heading', { name: 'Transactions', exact: true }).waitFor()
    const opened = async (who: Page) => {
      await who.goto(`${service.url}/console/approvals?State=Pending`)
      await who.getByRole('button', { name: 'Quantity set' }).first().click()
      await who.getByRole('dialog').getByText('Asked by').waitFor()
    }
    await opened(operator)
    await operator.getByRole('button', { name: 'Cancel the request' }).waitFor()
    assert.equal(await operator.getByRole('button', { name: 'Approve' }).count(), 0)
    const checker = await browser.open('/', 'checker')
    assert.equal(await checker.getByText('waits for your approval').count(), 0)
    await opened(checker)
    await checker.getByText('you need the permission BizTransaction.Write').waitFor()
    assert.equal(await checker.getByRole('button', { name: 'Approve' }).count(), 0)
    await opened(page)
    await page.getByLabel('Reason, if you reject it').fill('Not by phone')
    await press('Reject')
    await page.getByText('It is rejected. Nothing changes.').waitFor()
    await operator.goto(`${service.url}/console/approvals`)
    await operator.getByText('Asked by me').click()
    await operator.getByText('1 row', { exact: true }).waitFor()
    await operator.getByRole('button', { name: 'Quantity set' }).click()
    await operator.getByRole('dialog').getByText('Not by phone').waitFor()
    const set = `/BizTransaction?ProductID=${fund.productID}&BizTransactionTypeID=7`
    assert.deepEqual((await service.admin.get(set)).data, [])
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
  })

  it('gives a user permissions of their own, who then changes their password', async () => {
    await at('/settings/users', 'Users')
    await press('New user')
    await page.getByLabel('Username').fill('approver')
    await page.locator('input[type=password]').fill('a first password')
    await choose('Role', 'Permissions of their own')
    for (const permission of ['Product.Read', 'PaymentRun.Approve'])
      await choose('Permissions', permission)
    await page.keyboard.press('Escape')
    assert.deepEqual(await findings(page), [])
    await press('Make the user')
    await page.getByText('The user is created.').waitFor()
    const { data } = await service.admin.get('/User?Username=approver')
    assert.deepEqual(data[0].permissions, ['Product.Read', 'PaymentRun.Approve'])
    const own = await browser.visit('/settings/account')
    await signIn(own, 'approver', 'a first password')
    await own.getByLabel('Present password').fill('a first password')
    await own.getByLabel('New password').fill('a second password')
    await own.getByRole('button', { name: 'Change the password' }).click()
    const again = own.getByRole('dialog', { name: 'Your session has ended' })
    await again.locator('input[type=password]').fill('a second password')
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.waitFor({ state: 'hidden' })
    assert.equal(await own.getByLabel('New password').inputValue(), '')
  })

  it('holds units back, changes for how long, and lets them go', async () => {
    const [account] = fund.accounts
    const held = async () => (await service.admin.get(`/Hold?ProductID=${fund.productID}`)).data
    await at(`/${fund.productID}/holds`, 'Holds')
    await press('New hold')
    await page.getByRole('combobox', { name: 'Account' }).click()
    await page.getByRole('option').first().click()
    await choose('Class', /./)
    await page.getByText('A number of units').click()
    await page.getByRole('textbox', { name: 'Units' }).fill('25.5')
    await page.getByLabel('Reason').fill('Court order')
    assert.deepEqual(await findings(page), [])
    await press('Hold the units')
    await page.getByText('The units are held back.').waitFor()
    assert.equal((await held())[0].quantity, 25.5)
    await page.getByRole('button', { name: account!.accountNumber }).click()
    await page.getByLabel('Until').fill('2099-12-31')
    await press('Save')
    await page.getByText('31 Dec 2099').waitFor()
    const where = `/${fund.productID}/investors/${account!.bizEntityID}?section=holds`
    await page.goto(`${service.url}/console${where}`)
    await press('Change the hold for Court order')
    assert.deepEqual(await findings(page), [])
    const rule = { resource: 'Hold', requiredApprovals: 1 }
    const [{ approvalRuleID }] = (await service.admin.post('/ApprovalRule', rule)).data
    await press('Release')
    await press('Release the units')
    await page.getByText('It waits until somebody else approves it.').waitFor()
    assert.equal((await held()).length, 1)
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
    await press('Release')
    await press('Release the units')
    await page.getByText('Nothing is held back').waitFor()
    assert.deepEqual(await held(), [])
  })

  it('enters and ends a tax rate, and shows what is withheld from an investor', async () => {
    await at('/settings/tax-rates?CountryCode=NZ', 'Tax rates')
    await press('New rate')
    await choose('Kind of income', 'Royalty')
    await choose('Country', 'New Zealand')
    await page.getByLabel('Rate, %').fill('12.5')
    await page.getByLabel('From').fill('2031-07-01')
    assert.deepEqual(await findings(page), [])
    await press('Enter the rate')
    const row = page.getByRole('row').filter({ hasText: '12.50 %' })
    await row.getByRole('button').click()
    await page.getByLabel('Until').fill('2032-06-30')
    await press('Save')
    await page.getByText('30 Jun 2032').waitFor()
    const rates = '/WithholdingRate?CountryCode=NZ&ValidFrom=2031-07-01'
    assert.equal((await service.admin.get(rates)).data[0].validTo, '2032-06-30')
    await row.getByRole('button').click()
    await press('Delete')
    await press('Delete the rate')
    await page.getByText('The rate is deleted.').waitFor()
    assert.deepEqual((await service.admin.get(rates)).data, [])
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

  it('makes a webhook, edits it, renews its secret and deletes it', async () => {
    await at('/settings/webhooks', 'Webhooks')
    await press('New webhook')
    await page.getByLabel('Address').fill('https://example.com/registry')
    assert.deepEqual(await findings(page), [])
    await press('Make the webhook')
    await page.getByText('Keep this secret now').waitFor()
    await press('I have kept it')
    await page.getByRole('button', { name: 'https://example.com/registry' }).click()
    await page.getByText('Nothing was sent yet').waitFor()
    await page.getByRole('tab', { name: 'Edit' }).click()
    await page.getByLabel('Description').fill('The ledger')
    assert.deepEqual(await findings(page), [])
    await press('Save')
    await page.getByText('The webhook is saved.').waitFor()
    assert.equal((await service.admin.get('/Webhook')).data[0].description, 'The ledger')
    await page.getByRole('button', { name: 'https://example.com/registry' }).click()
    await page.getByRole('tab', { name: 'Edit' }).click()
    await press('Make a new secret')
    await press('Make it')
    await page.getByText('Keep this secret now').waitFor()
    assert.match((await page.locator('pre').textContent()) ?? '', /^whsec_/)
    assert.equal(await page.getByRole('tab').count(), 0)
    await press('I have kept it')
    await press('Delete')
    await press('Delete the webhook')
    await page.getByText('No webhook yet').waitFor()
    assert.deepEqual((await service.admin.get('/Webhook')).data, [])
  })

  it('has a webhook sent everything again where no event or product stays chosen', async () => {
    const url = 'https://example.com/some'
    const some = { types: ['person.created'], productIDs: [fund.productID] }
    assert.equal((await service.admin.post('/Webhook', { url, ...some })).status, 200)
    await at('/settings/webhooks', 'Webhooks')
    await page.getByRole('button', { name: url }).click()
    await page.getByRole('tab', { name: 'Edit' }).click()
    for (const [label, words] of [
      ['Events', 'With none chosen, events of every type are sent.'],
      ['Products', 'With none chosen, events of all products that you see are sent.'],
    ] as const) {
      await page.getByText(words).waitFor()
      await page.getByRole('combobox', { name: label }).press('Backspace')
      await page.keyboard.press('Escape')
    }
    assert.deepEqual(await findings(page), [])
    await press('Save')
    await page.getByText('The webhook is saved.').waitFor()
    const { webhookID, types, productIDs } = (await service.admin.get('/Webhook')).data[0]
    assert.deepEqual([types, productIDs], [[], []])
    assert.equal((await service.admin.delete(`/Webhook?WebhookID=${webhookID}`)).status, 200)
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

  it('takes a day of moments as whoever looks has it', async () => {
    const session = await page.context().newCDPSession(page)
    await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Pacific/Kiritimati' })
    const asked = page.waitForRequest((request) => request.url().includes('/Audit?'))
    await at('/settings/audit?OccurredDate.greaterThanOrEqual=2026-03-02', 'Audit trail')
    const { searchParams } = new URL((await asked).url())
    const from = searchParams.get('OccurredDate.greaterThanOrEqual')
    assert.equal(from, '2026-03-01T10:00:00.000Z')
    await page.getByText('From 2 Mar 2026').waitFor()
  })

  it('makes a key for a program, until a day has ended, and ends it', async () => {
    await at('/settings/account', 'Your account')
    await press('New key')
    await page.getByLabel('Name').fill('Nightly prices')
    await page.getByLabel('Until').fill('2099-06-30')
    const networks = page.getByRole('combobox', { name: 'Allowed networks' })
    await networks.fill('203.0.113.0/33')
    await networks.press('Enter')
    await press('Make the key')
    const wrong = page.getByText(/must be an address or a network such as/)
    await wrong.nth(1).waitFor() // above the form and at its field
    assert.deepEqual(await findings(page), [])
    assert.equal(await networks.getAttribute('aria-invalid'), 'true')
    await networks.press('Backspace')
    await press('Make the key')
    const key = (await page.locator('pre').last().textContent()) ?? ''
    assert.match(key, /^rk_/)
    await press('I have kept it')
    const [{ expires }] = (await service.admin.get('/ApiKey')).data
    assert.equal(expires, '2099-06-30T09:59:59Z')
    await press('End the key Nightly prices')
    assert.equal((await service.admin.get('/ApiKey')).data.length, 1)
    await press('End the key')
    await page.getByText('No key yet').waitFor()
    assert.deepEqual(browser.faults(), [])
  })
})

describe('The console where a second factor is asked for', { skip }, () => {
  it('leads whoever has none to set it up, and then lets them in', async () => {
    const { service, browser, stop } = await startConsole({
      REGISTRY_REQUIRE_SECOND_FACTOR: 'true',
    })
    try {
      const page = await browser.visit('/')
      await page.getByLabel('Username').fill('admin')
      await page.locator('input[type=password]').fill(adminPassword)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Set up your second factor' }).waitFor()
      assert.deepEqual(await findings(page), [])
      // Signed out in another tab, they are asked for the password here, too.
      const other = await page.context().newPage()
      await other.goto(`${service.url}/console/`)
      await other.getByRole('button', { name: 'Sign out' }).click()
      await other.getByLabel('Username').waitFor()
      await other.close()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Your session has ended').waitFor()
      await dialog.locator('input[type=password]').fill(adminPassword)
      await dialog.getByRole('button', { name: 'Sign in' }).click()
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Set it up' }).click()
      const secret = (await page.locator('pre').first().textContent()) ?? ''
      await page.getByLabel('Code').fill(codeAt(secret, stepAt(Date.now())))
      await page.getByRole('button', { name: 'Confirm' }).click()
      await page.getByText('Keep these codes').waitFor()
      assert.deepEqual(await findings(page), [])
      await page.getByRole('button', { name: 'I have kept them' }).click()
      await page.getByRole('link', { name: 'Users' }).waitFor()
      assert.deepEqual(browser.faults(), [])
      const me = [(await service.admin.get('/User/Me')).data].flat()[0]
      assert.equal(me.hasSecondFactor, true)
    } finally {
      await stop()
    }
  })
})
