import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Browser, findings, goTo, pressLast, skip, startConsole } from '../support/browser.ts'
import { allot, fundOf } from '../support/distribution.ts'
import { all, only } from '../support/ledger.ts'
import { adminPassword, type Service } from '../support/service.ts'

describe('The console, while things change around it', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let fund: Awaited<ReturnType<typeof fundOf>>

  const press = (name: string) => pressLast(page, name)
  const at = (path: string, heading: string) => goTo(page, service, path, heading)
  const of = (path: string) => `/${fund.productID}${path}`
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const tell = async (kind: string, amount: number) => {
    const { accountID } = fund.accounts[0]!
    const notice = { accountID, investmentID: fund.investmentID, amount }
    const told = { ...notice, transactionDate: '2024-02-01' }
    only(await service.admin.post(`/BizEvent/NoticeOf${kind}`, told))
  }
  /** Fills every field in the form of a posting. */
  const fill = async (where: Page) => {
    await goTo(where, service, of('/transactions/new'), 'New transaction')
    const account = where.getByRole('combobox', { name: 'Account' })
    await account.fill(String(fund.accounts[0]!.accountNumber))
    await where.getByRole('option').first().click()
    await where.getByRole('combobox', { name: 'Class' }).click()
    await where.getByRole('option').first().click()
    await where.getByLabel('Amount, AUD').fill('1000')
  }

  before(async () => {
    ;({ service, browser, stop } = await startConsole())
    fund = await fundOf(service, [100, 50])
    page = await browser.open('/')
  })
  after(() => stop())

  it('chooses of notices what is in view, and forgets it by other filters', async () => {
    await tell('Deposit', 5)
    await tell('Redemption', 6)
    await at(of('/notices?BizEventTypeID=1'), 'Notices')
    await page.getByRole('checkbox', { name: /^Choose (?!all)/ }).check()
    await button('Settle 1').waitFor()
    await page.getByRole('link', { name: '1 Redemptions, pending' }).click()
    await page.getByText('6.00', { exact: true }).waitFor()
    assert.equal(await button(/^(Settle|Cancel) \d+$/).count(), 0)
    assert.deepEqual(await findings(page), [])
  })

  it('settles notices once, also where the answer was lost', async () => {
    await at(of('/notices?BizEventTypeID=1'), 'Notices')
    await page.getByLabel('Choose all').click()
    await press('Settle 1')
    await page.getByLabel('Price and transaction date').fill('2024-02-01')
    const keys: (string | undefined)[] = []
    await page.route('**/BizTransaction/Deposit', async (route) => {
      keys.push(route.request().headers()['idempotency-key'])
      if (keys.length > 1) return route.continue()
      await route.fetch()
      return route.abort('connectionreset')
    })
    await press('Settle')
    await page.getByText('The notices are settled.').waitFor()
    await page.unrouteAll()
    assert.equal(new Set(keys).size, 1)
    const posted = `/BizTransaction?ProductID=${fund.productID}&BizTransactionTypeID=1`
    assert.equal((await service.admin.get(posted)).data.length, 1)
    browser.faults()
  })

  it('opens a drawer at its first field, or at its content', async () => {
    await at('/settings/products', 'Products')
    await press('New product')
    await page.locator(':focus').and(page.getByLabel('Name')).waitFor()
    await page.keyboard.press('Escape')
    await at(of('/notices'), 'Notices')
    await page.locator('[data-row]').first().press('Enter')
    const drawer = page.getByRole('dialog')
    await drawer.locator('[data-autofocus]:focus').waitFor()
    await page.keyboard.press('Tab')
    await drawer.getByRole('link').first().and(page.locator(':focus')).waitFor()
    assert.deepEqual(await findings(page), [])
  })

  it('shows of a transaction what others do with it while it is looked at', async () => {
    const listed = `/BizTransaction?ProductID=${fund.productID}&Order=desc&PageSize=1`
    const [{ bizTransactionID }] = (await service.admin.get(listed)).data
    await at(of(`/transactions?BizTransactionID=${bizTransactionID}`), 'Transactions')
    await page.locator('[data-row]').first().click()
    await button('Roll back').waitFor()
    only(await service.admin.put('/BizTransaction/Rollback', { bizTransactionID }))
    await page
      .getByRole('dialog')
      .getByText(/^rolled ?back$/i)
      .waitFor()
    await button('Roll back').waitFor({ state: 'detached' })
    assert.equal(await button('Correct').count(), 0)
  })

  it('shows no row twice where others add some, and none that is not there', async () => {
    const { accountID } = fund.accounts[1]!
    const units = (from: number, many: number) =>
      Array.from({ length: many }, (_, i) => ({ accountID, quantity: from + i }))
    await allot(service, fund, units(1000, 150), '2024-03-01')
    await at(of('/transactions'), 'Transactions')
    const row = (index: number) => page.locator(`[role=row][aria-rowindex="${index + 2}"]`)
    await row(0).getByText('1,149.0000').waitFor()
    await allot(service, fund, units(3000, 5), '2024-03-02')
    const table = page.getByRole('table', { name: 'Transactions' })
    await table.evaluate((list) => list.scrollTo({ top: 90 * 40 }))
    const listed = `/BizTransaction?ProductID=${fund.productID}&Order=desc&PageSize=200`
    const { data } = await service.admin.get(listed)
    for (const index of [95, 99, 100, 104]) {
      const shown = `${Number(data[index].quantity).toLocaleString('en')}.0000`
      await row(index).getByText(shown, { exact: true }).waitFor()
    }
    await page.getByText(`${data.length} rows`, { exact: true }).waitFor()
  })

  it('leaves no row out where others take some away, and waits for none that is gone', async () => {
    const { investmentID } = fund
    const price = (i: number) => ({
      ...{ investmentID, price: 1 + i / 1000 },
      priceDate: new Date(Date.UTC(2010, 0, 1 + i)).toISOString().slice(0, 10),
    })
    const prices = Array.from({ length: 150 }, (_, i) => price(i))
    all(await service.admin.post('/Investment/Price', prices))
    await page.goto(`${service.url}/console${of(`/classes/${investmentID}`)}`)
    const row = (index: number) => page.locator(`[role=row][aria-rowindex="${index + 2}"]`)
    await row(0).getByText('1.1490').first().waitFor()
    const listed = `/Investment/Price?InvestmentID=${investmentID}&Order=desc&PageSize=200`
    const { data } = await service.admin.get(listed)
    for (const { investmentPriceID } of data.slice(1, 4))
      await service.admin.delete(`/Investment/Price?InvestmentPriceID=${investmentPriceID}`)
    const table = page.getByRole('table', { name: 'Prices' })
    await table.evaluate((list) => list.scrollTo({ top: 95 * 40 }))
    const left = [data[0], ...data.slice(4)]
    for (const index of [96, 97, 99, 100])
      await row(index).getByText(left[index].price.toFixed(4)).first().waitFor()
    await table.evaluate((list) => list.scrollTo({ top: 200 * 40 }))
    await row(left.length - 1)
      .getByText('1 Jan 2000')
      .waitFor()
    await page.getByText(`${left.length} rows`, { exact: true }).waitFor()
    assert.equal(await row(left.length).count(), 0)
  })

  it('prints all rows by the menu of the browser, too, where they are in the page', async () => {
    await at(of('/investors'), 'Investors')
    await page.locator('[data-row]').first().waitFor()
    const printed = await page.evaluate(() => {
      dispatchEvent(new Event('beforeprint'))
      const rows = document.querySelectorAll('main tbody tr').length
      dispatchEvent(new Event('afterprint'))
      return rows
    })
    assert.equal(printed, 2)
  })

  it('keeps what was typed by who loses the permission, and offers it no more', async () => {
    const { userID } = only(
      await service.admin.post('/User', {
        ...{ username: 'clerk', password: adminPassword, role: 'Operator' },
      }),
    )
    const clerk = await browser.open('/', 'clerk')
    await fill(clerk)
    only(await service.admin.put('/User', { userID, username: 'clerk', role: 'ReadOnly' }))
    // What a node knows of a user it knows for half a second.
    await clerk.waitForTimeout(1000)
    await clerk.getByRole('button', { name: 'Post the deposit' }).click()
    const told = 'You may not do this: it needs the permission BizTransaction.Write.'
    await clerk.getByRole('alert').getByText(told).waitFor()
    assert.equal(await clerk.getByLabel('Amount, AUD').inputValue(), '1000')
    await clerk.getByRole('link', { name: 'Transactions' }).first().click()
    await clerk.getByRole('button', { name: 'Leave', exact: true }).click()
    await clerk.getByRole('table', { name: 'Transactions' }).waitFor()
    assert.equal(await clerk.getByRole('link', { name: 'New transaction' }).count(), 0)
    await clerk.goBack()
    await clerk.getByText('You may not see this page').waitFor()
  })

  it('tells who loses the product they look at, and why nothing is saved', async () => {
    const other = only(await service.admin.post('/Product', { name: 'Another' })).productID
    const who = { username: 'temp', password: adminPassword, role: 'Operator' }
    const productIDs = [fund.productID, other]
    const { userID } = only(await service.admin.post('/User', { ...who, productIDs }))
    const temp = await browser.open('/', who.username)
    await fill(temp)
    const { password: _, ...rights } = who
    only(await service.admin.put('/User', { userID, ...rights, productIDs: [other] }))
    await temp.waitForTimeout(1000)
    await temp.getByRole('button', { name: 'Post the deposit' }).click()
    const told = 'The product does not exist, or you may not see it any more: nothing was saved.'
    await temp.getByRole('alert').getByText(told).waitFor()
    assert.equal(await temp.getByLabel('Amount, AUD').inputValue(), '1000')
    // What is read is read again by who comes back to it after a while.
    await temp.waitForTimeout(15_000)
    await temp.evaluate(() => dispatchEvent(new Event('visibilitychange')))
    await temp.getByRole('heading', { name: 'You may not see Fund any more' }).waitFor()
    assert.deepEqual(await findings(temp), [])
  })

  it('tells what is wrong at the field it is about, where others are left empty', async () => {
    await at(of('/investors/new'), 'New investor')
    await page.getByLabel('First name').fill('Ann')
    await page.getByLabel('Last name').fill('Example')
    await page.getByLabel('Mobile').fill('0'.repeat(501))
    await press('Add to the register')
    await page.getByLabel('Mobile').and(page.locator('[aria-invalid=true]')).waitFor()
    assert.equal(await page.locator('[aria-invalid=true]').count(), 1)
  })

  it('keeps of an investor the cheque and the address that it has no fields for', async () => {
    const bank = { bsb: '062-000', accountNumber: '12345678', isForRedemption: true }
    const cheque = { paymentTypeID: 2, accountName: 'Ann Example', isForDistribution: true }
    const careOf = { addressTypeID: 2, aboveAddressLine: 'c/o Bob Example', countryCode: 'NZ' }
    const postal = { addressTypeID: 8, addressLine: '1 Quay St', countryCode: 'NZ' }
    const { bizEntityID } = only(
      await service.admin.post('/BizEntity', {
        ...{ name: 'Ann', bizEntityTypeID: 1, bizEntityStatusID: 1 },
        accounts: [{ productID: fund.productID }],
        bizEntityParties: [{ person: { firstName: 'Ann', lastName: 'Example' } }],
        ...{ paymentDetails: [bank, cheque], addresses: [postal, careOf] },
      }),
    )
    await at(of(`/investors/${bizEntityID}/edit`), 'Edit Ann')
    await page.getByLabel('External id').fill('KEPT-1')
    // What has fields is taken away by emptying them.
    await page.getByLabel('BSB').first().fill('')
    await page.getByLabel('Bank account number').first().fill('')
    await press('Save')
    await page.getByText('The investor is saved.').waitFor()
    const [kept] = (await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`)).data
    assert.equal(kept.externalBizEntityId, 'KEPT-1')
    assert.deepEqual(
      kept.paymentDetails.map((one: { paymentTypeID: number }) => one.paymentTypeID),
      [2],
    )
    assert.deepEqual(
      kept.addresses.map((one: { addressTypeID: number }) => one.addressTypeID),
      [8, 2],
    )
  })

  it('sends no year of two digits with a question either', async () => {
    await tell('Deposit', 7)
    await at(of('/notices?BizEventStatusID=1&BizEventTypeID=1'), 'Notices')
    await page.getByLabel('Choose all').click()
    await button(/^Settle \d+$/).click()
    const day = page.getByLabel('Price and transaction date')
    await day.focus()
    await page.keyboard.type('020124')
    let sent = 0
    await page.route('**/BizTransaction/Deposit', (route) => {
      sent += 1
      return route.continue()
    })
    await press('Settle')
    await page.waitForTimeout(500)
    assert.equal(sent, 0)
    assert.equal(await page.getByRole('dialog').count(), 1)
    await day.fill('2024-02-01')
    await day.press('Enter')
    assert.equal(sent, 0)
    await press('Settle')
    await page.getByText('The notices are settled.').waitFor()
    assert.equal(sent, 1)
    await page.unrouteAll()
  })

  it('takes no year of two digits, nor of five', async () => {
    await at(of('/transactions/new'), 'New transaction')
    const day = page.getByLabel('Day')
    const typed = async (keys: string) => {
      await day.fill('')
      await day.focus()
      await page.keyboard.type(keys)
      return day.evaluate((field) => (field as HTMLInputElement).validity.valid && 'taken')
    }
    assert.equal(await typed('06302026'), 'taken')
    assert.equal(await day.inputValue(), '2026-06-30')
    assert.equal(await typed('063026'), false)
    assert.equal(await typed('063020261'), false)
  })

  it('shows what is chosen to who has colours of their own', async () => {
    await page.emulateMedia({ forcedColors: 'active' })
    const areas = page.getByRole('navigation', { name: 'Areas' })
    const lineOf = (name: string) =>
      areas
        .getByRole('link', { name, exact: true })
        .evaluate((area) => getComputedStyle(area).textDecorationLine)
    assert.equal(await lineOf('Transactions'), 'underline')
    assert.equal(await lineOf('Investors'), 'none')
    await page.emulateMedia({ forcedColors: null })
  })

  it('asks in every tab for the password of who has signed out in one', async () => {
    const first = await browser.open('/')
    await fill(first)
    const second = await first.context().newPage()
    await second.goto(`${service.url}/console/`)
    await second.getByRole('button', { name: 'admin', exact: true }).click()
    await second.getByRole('menuitem', { name: 'Sign out' }).click()
    await second.getByLabel('Username').waitFor()
    const dialog = first.getByRole('dialog')
    await dialog.getByText('Your session has ended').waitFor()
    assert.deepEqual(await findings(first), [])
    await dialog.locator('input[type=password]').fill(adminPassword)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await first.getByLabel('Amount, AUD').inputValue(), '1000')
  })

  it('has had no error in the browser', () => assert.deepEqual(browser.faults(), []))
})
