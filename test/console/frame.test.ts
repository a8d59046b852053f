import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { roles } from '../../src/platform/permission.ts'
import { type Browser, findings, signIn, skip, startConsole } from '../support/browser.ts'
import { adminPassword, type Service } from '../support/service.ts'

describe('The console’s frame', { skip }, () => {
  let service: Service
  let browser: Browser
  let page: Page
  let stop: () => Promise<void>

  before(async () => {
    ;({ service, browser, stop } = await startConsole())
    page = await browser.open('/')
  })
  after(() => stop())

  it('leads an empty registry to its first product, and makes it', async () => {
    await page.getByText('No product yet').waitFor()
    assert.deepEqual(await findings(page), [])
    await page.getByRole('button', { name: 'New product' }).click()
    await page.getByLabel('Name').fill('Harbour Fund')
    await page.getByLabel('External id').fill('HBR')
    assert.deepEqual(await findings(page), [])
    await page.getByRole('button', { name: 'Make the product' }).click()
    await page.getByRole('heading', { name: 'Harbour Fund' }).waitFor()
    const { data } = await service.admin.get('/Product?ExternalProductId=HBR')
    assert.equal(data[0].name, 'Harbour Fund')
  })

  it('shows an error at its field, and keeps what was typed', async () => {
    await page.goto(`${service.url}/console/settings/products`)
    await page.getByRole('button', { name: 'New product' }).click()
    await page.getByLabel('Name').fill('Second Fund')
    await page.getByLabel('External id').fill('x'.repeat(51))
    await page.getByRole('button', { name: 'Make the product' }).click()
    const field = page.getByLabel('External id')
    await page.waitForFunction(() => document.querySelector('[aria-invalid="true"]') !== null)
    assert.equal(await field.getAttribute('aria-invalid'), 'true')
    assert.equal(await page.getByLabel('Name').inputValue(), 'Second Fund')
    await page.getByLabel('Name').fill('Third Fund')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Stay' }).click()
    assert.equal(await page.getByLabel('Name').inputValue(), 'Third Fund')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Leave', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'New product' }).click()
    assert.equal(await page.getByLabel('Name').inputValue(), '')
  })

  it('asks for nothing on the bell’s behalf that who looks may not read', async () => {
    const unread = ['Approval.Read', 'BizEvent.Read', 'PaymentRun.Read']
    const permissions = roles.Administrator.filter((one) => !unread.includes(one))
    const user = { username: 'unread', password: adminPassword, permissions }
    assert.equal((await service.admin.post('/User', user)).status, 200)
    const other = await browser.visit('/')
    const refusals: string[] = []
    other.on('response', (answer) => {
      if (answer.status() === 403) refusals.push(answer.url())
    })
    await signIn(other, 'unread')
    await other.getByRole('heading', { name: 'Harbour Fund' }).waitFor()
    await other.waitForLoadState('networkidle')
    assert.deepEqual(refusals, [])
    await other.close()
  })

  it('goes on in the middle of a form when the session has ended', async () => {
    const password = 'a password for tests'
    const made = await service.admin.post('/User', { username: 'ann', password, role: 'Operator' })
    const [{ userID }] = made.data
    const other = await browser.open('/settings/products', 'ann')
    await other.getByRole('button', { name: 'New product' }).click()
    await other.getByLabel('Name').fill('Typed before the end')
    // Made inactive and active again, a user has no session left.
    for (const isActive of [false, true])
      await service.admin.put('/User', { userID, role: 'Operator', isActive })
    await other.getByRole('button', { name: 'Make the product' }).click()
    await other.getByText('Your session has ended').waitFor()
    assert.deepEqual(await findings(other), [])
    await other.locator('input[type=password]').fill(password)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.getByRole('heading', { name: 'Typed before the end' }).waitFor()
    const { data } = await service.admin.get('/Product')
    assert.ok(data.some(({ name }: { name: string }) => name === 'Typed before the end'))
  })

  it('never does in one user’s name what another has begun', async () => {
    const begun = await browser.open('/settings/products', 'ann')
    await begun.getByRole('button', { name: 'New product' }).click()
    await begun.getByLabel('Name').fill('Begun by Ann')
    const tab = await begun.context().newPage()
    await tab.goto(`${service.url}/console/settings/account`)
    await tab.getByRole('button', { name: 'ann', exact: true }).click()
    await tab.getByRole('menuitem', { name: 'Sign out' }).click()
    await signIn(tab, 'admin')
    const asked = begun.getByRole('dialog', { name: 'Your session has ended' })
    await asked.locator('input[type=password]').fill(adminPassword)
    await asked.getByLabel('Username').fill('admin')
    await asked.getByRole('button', { name: 'Sign in' }).click()
    await begun.getByRole('button', { name: 'admin', exact: true }).waitFor()
    await begun.waitForLoadState('networkidle')
    const { data } = await service.admin.get('/Product')
    assert.ok(!data.some(({ name }: { name: string }) => name === 'Begun by Ann'))
  })

  it('finds its way by keyboard alone', async () => {
    await page.goto(`${service.url}/console/settings/products`)
    await page.getByRole('heading', { name: 'Products' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    assert.deepEqual(await findings(page), [])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor({ state: 'hidden' })
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.getByRole('heading', { name: 'Audit trail' }).waitFor()
    assert.deepEqual(await findings(page), [])
    await page.keyboard.press('Control+k')
    await page.getByLabel('Search', { exact: true }).fill('Users')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Users' }).waitFor()
  })

  it('finds an investor by name, and a person by e-mail, from any page', async () => {
    const { data: products } = await service.admin.get('/Product?ExternalProductId=HBR')
    const communications = [{ communicationTypeID: 1, name: 'grace@example.com' }]
    const person = { externalPersonId: 'PER-7-1', firstName: 'Grace', lastName: 'Hopper' }
    const made = await service.admin.post('/BizEntity', {
      name: 'Grace Hopper Family Trust',
      bizEntityTypeID: 1,
      bizEntityStatusID: 1,
      accounts: [{ productID: products[0].productID, accountNumber: 'GH-77' }],
      bizEntityParties: [{ person: { ...person, communications } }],
    })
    assert.equal(made.status, 200, made.text)
    const search = async (text: string, hit: RegExp) => {
      await page.goto(`${service.url}/console/settings/users`)
      await page.getByRole('heading', { name: 'Users' }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByLabel('Search', { exact: true }).fill(text)
      await page.getByRole('button', { name: hit }).waitFor()
      assert.deepEqual(await findings(page), [])
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Grace Hopper Family Trust' }).waitFor()
    }
    await search('hopper fam', /Grace Hopper Family Trust/)
    await search('grace@exam', /Grace Hopper *PER-7-1/)
    await search('GH-77', /Grace Hopper Family Trust/)
  })

  it('makes a user who then sees only what they may', async () => {
    await page.goto(`${service.url}/console/settings/users`)
    await page.getByRole('button', { name: 'New user' }).click()
    await page.getByLabel('Username').fill('reader')
    await page.locator('input[type=password]').fill('a password for tests')
    await page.getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: 'Read only' }).click()
    assert.deepEqual(await findings(page), [])
    await page.getByRole('button', { name: 'Make the user' }).click()
    await page.getByText('The user is created.').waitFor()
    const { data } = await service.admin.get('/User?Username=reader')
    assert.equal(data[0].role, 'ReadOnly')
    const other = await browser.open('/', 'reader')
    await other.getByRole('link', { name: 'Overview' }).waitFor()
    assert.equal(await other.getByRole('link', { name: 'Users' }).count(), 0)
    assert.equal(await other.getByRole('link', { name: 'Audit trail' }).count(), 0)
  })

  it('keeps filters in the address', async () => {
    await page.goto(`${service.url}/console/settings/audit?Username=nobody`)
    await page.getByText('Nothing like this').waitFor()
    await page.getByRole('button', { name: 'Remove the filter Username' }).click()
    await page.getByRole('button', { name: 'Product added' }).first().waitFor({ state: 'hidden' })
    await page.getByText('Product added').first().waitFor()
    assert.doesNotMatch(page.url(), /Username/)
  })

  it('signs out, and asks for the password again', async () => {
    await page.getByRole('button', { name: 'admin', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to the registry' }).waitFor()
    assert.deepEqual(await findings(page), [])
    await signIn(page, 'admin')
  })

  it('has had no error in the browser', () => {
    assert.deepEqual(browser.faults(), [])
  })
})
