import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Dialog, Page } from 'playwright-core'
import { type Browser, findings, goTo, skip, startConsole } from '../support/browser.ts'
import { fundOf } from '../support/distribution.ts'
import type { Service } from '../support/service.ts'

describe('The console’s drawers', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let fund: Awaited<ReturnType<typeof fundOf>>

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const drawer = (name: string) => page.getByRole('dialog', { name, exact: true })
  const asked = () => drawer('Leave without saving?')
  const at = (path: string, heading: string) => goTo(page, service, path, heading)
  const back = () => page.evaluate(() => history.back())
  /** Opens a drawer, enters something, and moves the focus to another field of it. */
  const begin = async () => {
    await at('/settings/account', 'Your account')
    await page.getByRole('link', { name: 'Products' }).click()
    await press('New product')
    await page.getByLabel('Name').fill('Half a fund')
    await page.getByLabel('External id').focus()
  }
  /** Asserts that a drawer closes without a question if nothing would be lost. */
  const closesAtOnce = async (name: string) => {
    await page.keyboard.press('Escape')
    await drawer(name).waitFor({ state: 'hidden' })
    assert.equal(await asked().count(), 0)
  }

  before(async () => {
    ;({ service, browser, stop } = await startConsole())
    fund = await fundOf(service, [100, 50])
    page = await browser.open('/settings/products')
  })
  after(() => stop())

  it('give the focus back to who stays, however they were about to leave', async () => {
    const ways = [
      () => page.keyboard.press('Escape'),
      () => drawer('New product').getByRole('button', { name: 'Close' }).click(),
      () => page.mouse.click(20, 700),
      back,
    ]
    for (const leave of ways) {
      await begin()
      await leave()
      await asked().getByRole('button', { name: 'Stay' }).waitFor()
      assert.deepEqual(await findings(page), [])
      await asked().getByRole('button', { name: 'Stay' }).click()
      await asked().waitFor({ state: 'hidden' })
      await page.locator(':focus').and(page.getByLabel('External id')).waitFor()
      assert.equal(await page.getByLabel('Name').inputValue(), 'Half a fund')
    }
  })

  it('ask before the browser goes back or loads the page anew, and obey', async () => {
    await begin()
    const answers: string[] = []
    const answer = (dialog: Dialog) => {
      answers.push(dialog.type())
      return answers.length === 1 ? dialog.dismiss() : dialog.accept()
    }
    page.on('dialog', (dialog) => void answer(dialog))
    await page.evaluate(() => location.reload())
    assert.equal(await page.getByLabel('Name').inputValue(), 'Half a fund')
    await back()
    await asked().getByRole('button', { name: 'Leave', exact: true }).click()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    await begin()
    await page.reload()
    await page.getByRole('heading', { name: 'Products' }).waitFor()
    assert.equal(await drawer('New product').count(), 0)
    assert.deepEqual(answers, ['beforeunload', 'beforeunload'])
    await page.reload()
    assert.equal(answers.length, 2, 'nothing was entered since')
  })

  it('ask about what is only chosen, and about what was refused', async () => {
    await at('/settings/products', 'Products')
    await press('New product')
    await closesAtOnce('New product')
    await press('New product')
    await page.getByRole('combobox', { name: 'Currency' }).click()
    await page.getByRole('option', { name: 'Japanese yen' }).click()
    await page.keyboard.press('Escape')
    await asked().getByRole('button', { name: 'Leave', exact: true }).click()
    await press('New product')
    await page.getByLabel('Name').fill('Fund')
    await page.getByLabel('External id').fill('x'.repeat(51))
    await press('Make the product')
    await page.getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    await asked().getByRole('button', { name: 'Leave', exact: true }).click()
    await drawer('New product').waitFor({ state: 'hidden' })
  })

  it('make a key for some products and networks, which nobody loses unasked', async () => {
    await at('/settings/account', 'Your account')
    await press('New key')
    await page.getByLabel('Name').fill('Nightly prices')
    const networks = page.getByRole('combobox', { name: 'Allowed networks' })
    await page.getByRole('combobox', { name: 'Products' }).click()
    await page.getByRole('option', { name: 'Fund' }).click()
    await networks.fill('203.0.113.0/33')
    await press('Make the key')
    await page
      .getByRole('alert')
      .getByText(/must be an address or a network/)
      .waitFor()
    await networks.press('Backspace')
    await networks.fill('203.0.113.0/24')
    await networks.press('Enter')
    await networks.fill('2001:db8::1')
    assert.deepEqual(await findings(page), [])
    await press('Make the key')
    const shown = page.getByText('Keep the key now')
    await shown.waitFor()
    await page.setViewportSize({ width: 320, height: 640 })
    const isCut = await page.locator('pre').evaluate((e) => e.scrollWidth > e.clientWidth)
    assert.equal(isCut, false, 'the key is shown as a whole on a narrow screen')
    await page.setViewportSize({ width: 1280, height: 800 })
    const lost = drawer('Leave without keeping it?')
    const ways = [() => page.keyboard.press('Escape'), () => page.mouse.click(20, 700)]
    for (const leave of ways) {
      await leave()
      await lost.getByText('shown only once').waitFor()
      assert.deepEqual(await findings(page), [])
      await lost.getByRole('button', { name: 'Stay' }).click()
      await lost.waitFor({ state: 'hidden' })
      assert.match((await page.locator('pre').textContent()) ?? '', /^rk_/)
    }
    await press('I have kept it')
    await shown.waitFor({ state: 'hidden' })
    assert.equal(await lost.count(), 0)
    await page.getByRole('cell', { name: '203.0.113.0/24, 2001:db8::1' }).waitFor()
    const [{ productIDs, allowedNetworks }] = (await service.admin.get('/ApiKey')).data
    assert.deepEqual(productIDs, [fund.productID])
    assert.deepEqual(allowedNetworks, ['203.0.113.0/24', '2001:db8::1'])
  })

  it('find an account by its number or by whose it is, in their product alone', async () => {
    const named = async (productID: number, name: string) => {
      const made = await service.admin.post('/BizEntity', {
        ...{ name, bizEntityTypeID: 1, bizEntityStatusID: 1, accounts: [{ productID }] },
        bizEntityParties: [{ person: { firstName: 'Wilhelmina', lastName: 'Quince' } }],
      })
      assert.equal(made.status, 200, made.text)
      return made.data[0].accounts[0]
    }
    const other = await fundOf(service, [1])
    await named(other.productID, 'Wilhelmina Quince')
    const account = await named(fund.productID, 'The Quince Family Trust')
    await at(`/${fund.productID}/holds`, 'Holds')
    await press('New hold')
    const field = page.getByRole('combobox', { name: 'Account' })
    const option = page.getByRole('option')
    for (const text of ['quince fam', 'Quince', account.accountNumber]) {
      await field.fill('')
      await option.nth(1).waitFor()
      await field.fill(text)
      await option.nth(1).waitFor({ state: 'detached' })
      assert.match((await option.textContent()) ?? '', /The Quince Family Trust$/, text)
    }
    await page.route('**/BizEntity?*beginsWith=Unanswered*', () => {})
    await field.fill('Unanswered')
    await page.getByText('Looking…').waitFor()
    assert.equal(await option.count(), 0, 'what another text found is not offered for this one')
    await field.fill(account.accountNumber)
    await option.click()
    assert.equal(await field.inputValue(), `${account.accountNumber} · The Quince Family Trust`)
    await field.fill('nobody of this name')
    await page.getByText('No such number or name').waitFor()
    assert.deepEqual(browser.faults(), [])
  })
})
