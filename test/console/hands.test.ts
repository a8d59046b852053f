import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Browser, findings, goTo, pressLast, skip, startConsole } from '../support/browser.ts'
import { configure, fundOf } from '../support/distribution.ts'
import { entityOf } from '../support/investors.ts'
import { only } from '../support/ledger.ts'
import { adminPassword, type Service } from '../support/service.ts'

describe('The console under many hands', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let fund: Awaited<ReturnType<typeof fundOf>>

  const press = (name: string) => pressLast(page, name)
  const at = (path: string, heading: string) => goTo(page, service, path, heading)
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

  it('shows what somebody else decided while a change is looked at', async () => {
    const rule = only(await service.admin.post('/ApprovalRule', { operation: 'PUT /Product' }))
    const maker = await service.userWith({ role: 'Administrator' })
    const other = await service.userWith({ role: 'Administrator' })
    const ask = async () => {
      const { data } = await maker.put('/Product', { productID: fund.productID, name: 'Asked' })
      return data.approvalID as number
    }
    const open = async () => {
      await at('/approvals?ToDecide=true', 'Approvals')
      await press('Product changed')
      await page.getByLabel('Reason, if you reject it').waitFor()
    }
    const first = await ask()
    await open()
    only(await other.post('/Approval/Reject', { approvalID: first, reason: 'Not that name.' }))
    const drawer = page.getByRole('dialog')
    await drawer.getByText('Meanwhile it has been rejected').waitFor()
    await drawer.getByText('Not that name.').waitFor()
    assert.equal(await drawer.getByRole('button', { name: 'Approve' }).count(), 0)
    assert.deepEqual(await findings(page), [])
    // Also what is pressed before that is known.
    const second = await ask()
    await open()
    await page.route('**/Approval?ApprovalID*', (route) => route.abort())
    only(await maker.post('/Approval/Cancel', { approvalID: second }))
    await press('Approve')
    await drawer.getByRole('alert').waitFor()
    await page.unrouteAll()
    await drawer.getByText('Meanwhile it has been cancelled').waitFor()
    browser.faults()
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
  })

  it('forgets what was chosen in one product when another is looked at', async () => {
    const { accountID } = fund.accounts[0]!
    const notice = { accountID, investmentID: fund.investmentID, amount: 5 }
    const told = { ...notice, transactionDate: '2999-01-01' }
    assert.equal((await service.admin.post('/BizEvent/NoticeOfDeposit', told)).status, 200)
    only(await service.admin.post('/Product', { name: 'Another fund', currencyID: 1 }))
    await at(of('/notices'), 'Notices')
    await page.getByRole('checkbox', { name: /^Choose (?!all)/ }).check()
    await page.getByRole('button', { name: 'Settle 1' }).waitFor()
    await page.getByTitle('Switch product').click()
    await page.getByRole('menuitem', { name: 'Another fund' }).click()
    await page.getByText('No notice yet').waitFor()
    assert.equal(await page.getByRole('button', { name: /^(Settle|Cancel) 1$/ }).count(), 0)
  })

  it('keeps what was typed about an investor whom somebody deletes meanwhile', async () => {
    const entity = only(await service.admin.post('/BizEntity', entityOf(fund.productID)))
    const { bizEntityID, name } = entity
    await at(of(`/investors/${bizEntityID}/edit`), `Edit ${name}`)
    await page.getByLabel('External id').fill('TYPED')
    const gone = await service.admin.delete(`/BizEntity?BizEntityID=${bizEntityID}`)
    assert.equal(gone.status, 200)
    // What is on the page is read again, as when one comes back to it from another window.
    const read = page.waitForResponse(/BizEntity\?BizEntityID/)
    await page.clock.install()
    await page.clock.fastForward(60_000)
    const seen = () => dispatchEvent(new Event('visibilitychange'))
    await page.evaluate(seen)
    await read
    await press('Save')
    await page
      .getByRole('alert')
      .getByText(/No record was found|any more/)
      .waitFor()
    assert.equal(await page.getByLabel('External id').inputValue(), 'TYPED')
    assert.deepEqual(await findings(page), [])
    await page.clock.resume()
  })

  it('says beside a field what is wrong, without the name that it has in the API', async () => {
    await at(of('/investors/new'), 'New investor')
    await page.getByLabel('First name').fill('x'.repeat(101))
    await page.getByLabel('Last name').fill('Example')
    await page.getByLabel('E-mail').fill('boss<ann@example.com>')
    await press('Add to the register')
    await page.getByRole('alert').waitFor()
    for (const [field, words] of [
      ['First name', 'It is longer than 100 characters.'],
      ['E-mail', 'It must be one e-mail address of at most 254 characters, and nothing else.'],
    ] as const) {
      const told = await page.getByLabel(field).getAttribute('aria-describedby')
      assert.equal(await page.locator(`[id="${told}"]`).textContent(), words)
    }
    assert.deepEqual(await findings(page), [])
    await page.emulateMedia({ colorScheme: 'dark' })
    assert.deepEqual(await findings(page, ['color-contrast']), [])
    await page.emulateMedia({ colorScheme: 'light' })
  })

  it('names fields above a form by their labels, and numbers labels that are alike', async () => {
    await at(of('/investors/new'), 'New investor')
    await page.getByText('Joint holders', { exact: true }).click()
    await page.getByLabel('First name').nth(0).fill('Ann')
    await page.getByLabel('First name').nth(1).fill('x'.repeat(101))
    for (const i of [0, 1]) await page.getByLabel('Last name').nth(i).fill('Example')
    await page.getByLabel('E-mail').nth(1).fill('boss<ann@example.com>')
    await page.getByLabel('Suburb').fill('z'.repeat(256))
    await press('Add to the register')
    const alert = page.getByRole('alert')
    for (const words of [
      'First name (2) is longer than 100 characters.',
      'E-mail (2) must be one e-mail address of at most 254 characters, and nothing else.',
      'Suburb is longer than 255 characters.',
    ])
      await alert.getByText(words, { exact: true }).waitFor()
    assert.deepEqual(await findings(page), [])
  })

  it('names a field of a part that is not in view by words, too', async () => {
    await at('/settings/products', 'Products')
    await page.getByRole('table').getByRole('button').first().click()
    await page.getByRole('tab', { name: 'Issuer' }).click()
    await page.getByLabel('Name', { exact: true }).fill('')
    await page.getByLabel('Phone').fill('02 5550 1234')
    await page.getByRole('tab', { name: 'Product' }).click()
    await press('Save')
    await page.getByRole('alert').getByText('Issuer name is required.', { exact: true }).waitFor()
  })

  it('says of an investor as of any record that the product is not yours any more', async () => {
    const who = { username: 'temp', password: adminPassword, role: 'Operator' }
    const { userID, username } = only(await service.admin.post('/User', who))
    const temp = await browser.open(of('/investors/new'), username)
    await temp.getByLabel('First name').fill('Ann')
    await temp.getByLabel('Last name').fill('Example')
    only(await service.admin.put('/User', { userID, username, productIDs: [] }))
    await temp.getByRole('button', { name: 'Add to the register' }).click()
    const told = 'The product does not exist, or you may not see it any more: nothing was saved.'
    await temp.getByRole('alert').getByText(told).waitFor()
    assert.equal(await temp.getByLabel('First name').inputValue(), 'Ann')
    await temp.context().close()
  })

  it('names the line of pasted prices that the service doubts', async () => {
    const { investmentID } = fund
    const [found] = (await service.admin.get(`/Investment?InvestmentID=${investmentID}`)).data
    const { price } = (await service.admin.get(`/Investment/Price?InvestmentID=${investmentID}`))
      .data[0]
    only(await service.admin.put('/Investment', { ...found, priceTolerancePercent: 10 }))
    await page.goto(`${service.url}/console${of(`/classes/${investmentID}`)}`)
    await press('Enter prices')
    const pasted = page.getByLabel('Day and price, a line each')
    await pasted.fill(`2023-01-01 ${price}\n2023-01-02 99`)
    await press('Enter the prices')
    await page.getByRole('alert').getByText('Line 2: price 99 is more than').waitFor()
    assert.deepEqual(await findings(page), [])
    only(await service.admin.put('/Investment', { ...found, priceTolerancePercent: null }))
  })

  it('names the line of pasted transactions alike above them and among them', async () => {
    const { accountNumber } = fund.accounts[0]!
    await at(of('/transactions/paste'), 'Paste transactions')
    const { securityCode } = (await service.admin.get(`/Investment?ProductID=${fund.productID}`))
      .data[0]
    const row = `${accountNumber}\t${securityCode}\t2023-01-01`
    await page
      .getByLabel('Rows, as a spreadsheet copies them')
      .fill(`Account\tClass\tDay\tAmount\n${row}\t10\n\n${row}\t0`)
    await press('Post all 2')
    await page.getByRole('alert').getByText('Line 4: amount').waitFor()
    const wrong = page.getByRole('table', { name: 'Pasted rows' }).getByRole('row').nth(1)
    assert.equal(await wrong.getByRole('cell').first().textContent(), '4')
    await wrong.getByText('Line 4: amount').waitFor()
    assert.deepEqual(await findings(page), [])
  })

  it('prints every row of a list, by Ctrl P and by its button, dark on white', async () => {
    const { investmentID } = fund
    const day = (i: number) => new Date(Date.UTC(2024, 0, 1 + i)).toISOString().slice(0, 10)
    const prices = Array.from({ length: 150 }, (_, i) => ({
      ...{ investmentID, priceDate: day(i), price: 1 + i / 1000 },
    }))
    assert.equal((await service.admin.post('/Investment/Price', prices)).status, 200)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.goto(`${service.url}/console${of(`/classes/${investmentID}`)}`)
    const table = page.getByRole('table', { name: 'Prices' })
    await table.getByText('1.1490').first().waitFor()
    type Printed = { rows: number; scheme: string | null }
    const printedBy = async (deed: () => Promise<void>): Promise<Printed> => {
      const printed = page.evaluate(
        () =>
          new Promise<Printed>((resolve) => {
            window.print = () => {
              dispatchEvent(new Event('beforeprint'))
              const scheme = document.documentElement.getAttribute('data-mantine-color-scheme')
              resolve({ rows: document.querySelectorAll('main tbody tr').length, scheme })
              dispatchEvent(new Event('afterprint'))
            }
          }),
      )
      await deed()
      return printed
    }
    const listed = `/Investment/Price?InvestmentID=${investmentID}&PageSize=1000`
    const all = (await service.admin.get(listed)).data
    const whole = { rows: all.length, scheme: 'light' }
    assert.deepEqual(await printedBy(() => page.keyboard.press('Control+p')), whole)
    assert.deepEqual(await printedBy(() => press('Print this list')), whole)
    assert.equal(await page.locator('main tbody tr').count(), 0)
    assert.equal(await page.locator('[data-mantine-color-scheme=dark]').count(), 1)
    await page.emulateMedia({ colorScheme: null })
  })

  it('lets who has no mouse scroll a table that is wider than a phone', async () => {
    const { bizEntityID } = fund.accounts[0]!
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${service.url}/console${of(`/investors/${bizEntityID}`)}`)
    const holdings = page.getByRole('group', { name: 'Holdings' })
    await holdings.focus()
    assert.deepEqual(await findings(page), [])
    await page.setViewportSize({ width: 1920, height: 1080 })
    // What does not scroll is no stop on the way.
    await holdings.waitFor({ state: 'detached' })
    assert.deepEqual(await findings(page), [])
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('has the steps of a distribution beside each other, or each below the other', async () => {
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.investmentID, drpPrice: 1 }
    const how = { distributionAmountPerUnit: 1, ...drp }
    const { corporateActionID } = await configure(service, fund, how)
    await page.goto(`${service.url}/console${of(`/distributions/${corporateActionID}`)}`)
    const areInLine = (isColumn: boolean) =>
      page.waitForFunction((isColumn) => {
        const steps = [...document.querySelectorAll('.mantine-Stepper-step')]
        const places = steps.map((step) => step.getBoundingClientRect())
        const lines = new Set(places.map(({ left, top }) => (isColumn ? left : top)))
        return steps.length === 4 && lines.size === 1
      }, isColumn)
    await areInLine(false)
    await page.setViewportSize({ width: 900, height: 800 })
    await areInLine(true)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('goes by keyboard: one Escape closes one thing, and no focus is lost', async () => {
    const focus = () => page.locator(':focus')
    const isAt = (name: string) => page.getByRole('button', { name, exact: true }).and(focus())
    await at(of('/notices'), 'Notices')
    await page.keyboard.press('Tab')
    await isAt('Skip to the page').waitFor()
    await page.keyboard.press('Enter')
    await page.locator('main:focus').waitFor()
    const row = page.getByRole('table', { name: 'Notices', exact: true }).locator('[data-row]')
    const name = await row.first().innerText()
    await row.first().press('Enter')
    await page.getByRole('button', { name: 'Cancel the notice' }).press('Enter')
    await page.getByLabel('Reason').pressSequentially('By mistake')
    await page.keyboard.press('Escape')
    await isAt('Cancel the notice').waitFor()
    await page.keyboard.press('Escape')
    await isAt(name).waitFor()
    await page.getByRole('button', { name: 'Filter' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Account number' }).press('Enter')
    await page.getByRole('textbox', { name: 'Account number' }).fill('none')
    await page.keyboard.press('Enter')
    await page.getByText('The filters leave nothing.').waitFor()
    await isAt('Filter').waitFor()
    // A row that leads to a page is gone with the list: the page has the focus.
    await at(of('/investors'), 'Investors')
    await page.locator('[data-row]').first().press('Enter')
    await page.locator('main:focus').waitFor()
    await page.getByRole('tab', { name: 'Holdings' }).waitFor()
    assert.deepEqual(await findings(page), [])
  })

  it('has had no error in the browser', () => assert.deepEqual(browser.faults(), []))
})
