import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Browser, findings, skip, startConsole } from '../support/browser.ts'
import { only } from '../support/ledger.ts'
import type { Service } from '../support/service.ts'

/** The dates of the test's records, all of them long past, whatever the clock says. */
const recordDate = '2026-06-30'

describe('The console’s areas', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let productID: number
  let address: string

  const at = async (path: string, heading: string) => {
    await page.goto(`${address}${path}`)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    assert.deepEqual(await findings(page), [], path)
  }
  const choose = async (label: string, option: string | RegExp) => {
    await page.getByRole('combobox', { name: label }).first().click()
    await page.getByRole('option', { name: option }).first().click()
  }

  before(async () => {
    ;({ service, browser, stop } = await startConsole())
    const made = await service.admin.post('/Product', { name: 'Harbour Fund', currencyID: 1 })
    productID = made.data[0].productID
    address = `${service.url}/console/${productID}`
    page = await browser.open(`/${productID}`)
  })
  after(() => stop())

  it('makes a class and enters its prices from a spreadsheet', async () => {
    await at('', 'Harbour Fund')
    await at('/classes', 'Classes and prices')
    await page.getByRole('button', { name: 'New class' }).click()
    await page.getByLabel('Security code').fill('HBR')
    await page.getByRole('button', { name: 'Make the class' }).click()
    await page.getByRole('link', { name: 'Prices', exact: true }).click()
    await page.getByRole('button', { name: 'Enter prices' }).click()
    await page
      .getByLabel('Day and price, a line each')
      .fill('31/03/2026\t1.0200\n2026-06-30 1.0425')
    assert.deepEqual(await findings(page), [])
    await page.getByRole('button', { name: 'Enter the prices' }).click()
    await page.getByText('30 Jun 2026').first().waitFor()
    const { data } = await service.admin.get(`/Investment/Price?ProductID=${productID}`)
    assert.deepEqual(
      data.map(({ priceDate }: { priceDate: string }) => priceDate),
      ['2026-03-31', recordDate],
    )
  })

  it('puts joint holders on the register, with errors at their fields', async () => {
    await at('/investors', 'Investors')
    await page.getByRole('link', { name: 'New investor' }).click()
    await page.getByLabel('First name').fill('Ann')
    await page.getByLabel('Bank account name').fill('A and B')
    await page.getByText('Joint holders').click()
    await page.getByLabel('First name').nth(1).fill('Bob')
    await page.getByText('Company').click()
    await page.getByLabel('ABN').waitFor()
    await page.getByText('Joint holders').click()
    assert.equal(await page.getByLabel('First name').nth(0).inputValue(), 'Ann')
    assert.equal(await page.getByLabel('First name').nth(1).inputValue(), 'Bob')
    assert.equal(await page.getByLabel('Bank account name').inputValue(), 'A and B')
    for (const i of [0, 1]) await page.getByLabel('Last name').nth(i).fill('Example')
    await page.getByLabel('Tax file number').first().fill('12')
    await choose('Reinvestment', 'Full')
    assert.deepEqual(await findings(page), [])
    await page.getByRole('button', { name: 'Add to the register' }).click()
    await page.waitForFunction(() => document.querySelector('[aria-invalid="true"]') !== null)
    const told = await page.getByRole('alert').first().boundingBox()
    assert.ok(told && told.y >= 48 && told.y + told.height <= 800, JSON.stringify(told))
    await page.getByLabel('Tax file number').first().fill('123456782')
    await page.getByRole('button', { name: 'Add to the register' }).click()
    await page.getByRole('heading', { name: 'Ann Example & Bob Example' }).waitFor()
    const { data } = await service.admin.get(`/BizEntity?ProductID=${productID}`)
    assert.equal(data[0].bizEntityParties.length, 2)
    assert.equal(data[0].accounts[0].drpTypeID, 2)
    for (const tab of [
      'Transactions',
      'Distributions',
      'People and accounts',
      'Details',
      'History',
    ]) {
      await page.getByRole('tab', { name: tab }).click()
      assert.deepEqual(await findings(page), [], tab)
    }
  })

  it('edits an investor, and asks before unsaved work is left', async () => {
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('External id').fill('INV-1')
    await page.getByLabel('BSB').fill('062-000')
    await page.getByLabel('Bank account number').fill('12345678')
    await page.getByLabel('E-mail').first().fill('ann@example.com')
    await page.getByLabel('Middle name').first().fill('Maria')
    await page.getByRole('button', { name: 'Add an account' }).click()
    await page.getByLabel('Account number', { exact: true }).last().fill('SECOND')
    assert.deepEqual(await findings(page), [])
    await page.getByRole('link', { name: 'Notices' }).click()
    await page.getByRole('button', { name: 'Stay' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Ann Example & Bob Example', exact: true }).waitFor()
    const { data } = await service.admin.get('/BizEntity?ExternalBizEntityId=INV-1')
    const { taxationFileNumber, middleName, communications } = data[0].bizEntityParties[0].person
    assert.deepEqual([taxationFileNumber, middleName], ['******782', 'Maria'])
    assert.equal(communications[0].name, 'ann@example.com')
    assert.deepEqual([data[0].paymentDetails[0].bsb, data[0].addresses.length], ['062-000', 0])
    assert.equal(data[0].accounts[1].accountNumber, 'SECOND')
  })

  it('posts a deposit with its preview, and corrects and rolls it back', async () => {
    await at('/transactions', 'Transactions')
    await page.getByRole('link', { name: 'New transaction' }).click()
    await page.getByRole('combobox', { name: 'Account' }).click()
    await page.getByRole('option').first().click()
    await choose('Class', /HBR/)
    await page.getByLabel('Day').fill('2026-04-15')
    await page.getByLabel('Amount, AUD').fill('1,020.00')
    await page.getByText('1,000.0000').first().waitFor()
    assert.deepEqual(await findings(page), [])
    await page.getByRole('button', { name: 'Post the deposit' }).click()
    await page.getByRole('heading', { name: 'Transactions' }).waitFor()
    const posted = await service.admin.get(`/BizTransaction?ProductID=${productID}`)
    assert.match(posted.text, /"amount":1020(\.0+)?,"quantity":1000(\.0+)?,/)
    await page.getByRole('button', { name: '15 Apr 2026' }).click()
    assert.deepEqual(await findings(page), [])
    await page.getByRole('button', { name: 'Correct' }).click()
    await page.getByLabel('Comment').fill('Checked')
    await page.getByRole('button', { name: 'Correct' }).click()
    await page.getByText('The transaction is corrected').waitFor()
    const corrected = await service.admin.get(`/BizTransaction?ProductID=${productID}`)
    assert.equal(corrected.data[0].comment, 'Checked')
  })

  it('corrects a price, with what was posted at it beside it', async () => {
    await page.goto(`${address}/classes`)
    await page.getByRole('link', { name: 'Prices', exact: true }).click()
    await page.getByRole('button', { name: '31 Mar 2026' }).click()
    await page.getByRole('table', { name: 'Posted at this price' }).getByText('1,020.00').waitFor()
    assert.deepEqual(await findings(page), [])
    await page.getByLabel('Unit price').fill('1.0210')
    await page.getByRole('button', { name: 'Correct the price' }).click()
    await page.getByText('The price is corrected').waitFor()
    const { data } = await service.admin.get(`/Investment/Price?ProductID=${productID}`)
    assert.equal(data[0].price, 1.021)
  })

  it('settles a notice at a price date', async () => {
    const { data: investors } = await service.admin.get(`/BizEntity?ProductID=${productID}`)
    const [{ accountID }] = investors[0].accounts
    const notice = { productID, accountID, securityCode: 'HBR', transactionDate: '2026-05-01' }
    await service.admin.post('/BizEvent/NoticeOfDeposit', { ...notice, amount: 510 })
    await at('/notices', 'Notices')
    await page.getByRole('checkbox', { name: /^Choose (?!all)/ }).check()
    await page.getByRole('button', { name: 'Settle 1' }).click()
    await page.getByLabel('Price and transaction date').fill('2026-05-01')
    assert.deepEqual(await findings(page), [])
    await page.getByRole('button', { name: 'Settle', exact: true }).click()
    await page.getByText('The notices are settled.').waitFor()
    const { data } = await service.admin.get(`/BizEvent?ProductID=${productID}`)
    assert.equal(data[0].bizEventStatusID, 2)
  })

  it('settles what it can of several notices, and tells what is wrong with the rest', async () => {
    const { data: investors } = await service.admin.get(`/BizEntity?ProductID=${productID}`)
    const [{ accountID }] = investors[0].accounts
    const notice = { productID, accountID, securityCode: 'HBR', transactionDate: '2026-05-01' }
    for (const [kind, amount] of Object.entries({ Deposit: 51, Redemption: 102 }))
      await service.admin.post(`/BizEvent/NoticeOf${kind}`, { ...notice, amount })
    // On these days there are only the units of this deposit, half of what is asked for.
    await at('/notices?BizEventStatusID=1', 'Notices')
    const boxes = page.getByRole('checkbox', { name: /^Choose (?!all)/ })
    for (const i of [0, 1]) await boxes.nth(i).check()
    await page.getByRole('button', { name: 'Settle 2' }).click()
    const date = page.getByLabel('Price and transaction date')
    for (const day of ['2026-04-01', '2026-04-02']) {
      await date.fill(day)
      await page.getByRole('button', { name: 'Settle', exact: true }).click()
      await page.getByRole('alert').getByText(/short/).waitFor()
    }
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('1 row', { exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: /^Settle/ }).count(), 0)
  })

  it('walks a distribution from its configuration to its units, and one stage back', async () => {
    await at('/distributions', 'Distributions')
    await page.getByRole('link', { name: 'New distribution' }).click()
    await page.getByLabel('Name', { exact: true }).fill('June quarter 2026')
    await choose('Class', /HBR/)
    await page.getByLabel('Record date').fill(recordDate)
    await page.getByLabel('Payment date').fill('2026-07-15')
    await page.getByLabel('Amount a unit, AUD').fill('0.05')
    await choose('Offered', /^Offered$/)
    await choose('Into class', /HBR/)
    await page.getByLabel('Price', { exact: true }).fill('1.05')
    await page.getByLabel('Allotment date').fill('2026-07-15')
    assert.deepEqual(await findings(page), [])
    await page.getByRole('button', { name: 'Configure' }).click()
    await page.getByRole('button', { name: 'Declare', exact: true }).click()
    await page.getByRole('dialog').waitFor()
    assert.deepEqual(await findings(page), [])
    await page.getByRole('dialog').getByRole('button', { name: 'Declare' }).click()
    await page.getByRole('button', { name: 'Pay', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pay' }).click()
    await page.getByRole('button', { name: 'Allot the units' }).click()
    await page.getByRole('button', { name: 'Take back “Completed”' }).waitFor()
    assert.deepEqual(await findings(page), [])
    const status = async () =>
      (await service.admin.get(`/Distribution?ProductID=${productID}`)).data[0].distributionStatusID
    assert.equal(await status(), 4)
    await page.getByRole('button', { name: 'Take back “Completed”' }).click()
    await page.getByLabel('Reason').fill('The price was wrong')
    await page.getByRole('button', { name: 'Take back', exact: true }).click()
    await page.getByRole('button', { name: 'Take back “Paid”' }).waitFor()
    assert.equal(await status(), 3)
  })

  it('shows what a distribution would change beside the one before', async () => {
    const [{ investmentID, taxComponents }] = (
      await service.admin.get(`/Distribution?ProductID=${productID}`)
    ).data
    const { data } = await service.admin.post('/Distribution', {
      ...{ productID, investmentID, taxComponents, name: 'September quarter 2026' },
      ...{ recordDate: '2026-09-30', paymentDate: '2026-10-15', distributionAmountPerUnit: 0.06 },
    })
    await at(`/distributions/${data.corporateActionID}`, 'September quarter 2026')
    await page.getByText('Compared with June quarter 2026').waitFor()
    await page.getByRole('table', { name: 'Components' }).getByText('Then').waitFor()
    await page.getByRole('tab', { name: 'Changed 1' }).click()
    const changed = page.getByRole('table', { name: 'Accounts that changed' })
    await changed.getByRole('link', { name: 'Ann Example & Bob Example' }).waitFor()
    assert.deepEqual(await findings(page), [])
  })

  it('shows two users at once the same register', async () => {
    const other = await service.admin.post('/User', {
      username: 'second',
      password: 'a password for tests',
      role: 'ReadOnly',
    })
    assert.equal(other.status, 200)
    const second = await browser.open(`/${productID}/investors`, 'second')
    await second.getByText('Ann Example & Bob Example').waitFor()
    assert.equal(await second.getByRole('link', { name: 'New investor' }).count(), 0)
  })

  it('shows no investor under a product that is not theirs', async () => {
    const [{ bizEntityID }] = (await service.admin.get(`/BizEntity?ProductID=${productID}`)).data
    const { productID: other } = only(await service.admin.post('/Product', { name: 'Other Fund' }))
    for (const path of ['', '/edit']) {
      await page.goto(`${service.url}/console/${other}/investors/${bizEntityID}${path}`)
      await page.getByRole('heading', { name: 'No such investor' }).waitFor()
    }
  })

  it('fits a narrow screen', async () => {
    const narrow = await browser.open(`/${productID}/investors`, 'admin', {
      width: 390,
      height: 844,
    })
    await narrow.getByText('Ann Example & Bob Example').waitFor()
    assert.deepEqual(await findings(narrow), [])
    const wide = await narrow.evaluate(() => document.documentElement.scrollWidth)
    assert.ok(wide <= 390, `${wide} pixels`)
    await narrow.goto(`${address}/distributions/new`)
    const cut = await narrow
      .getByLabel('Component 1')
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
    assert.equal(cut, 0)
    const { data } = await service.admin.get(`/BizEntity?ProductID=${productID}`)
    const { bizEntityID } = data[0]
    const named = { ...data[0], name: 'Wolfeschlegelsteinhausenbergerdorff'.repeat(3) }
    only(await service.admin.put('/BizEntity', named))
    await narrow.goto(`${address}/investors/${bizEntityID}/edit`)
    await narrow.getByRole('heading', { name: /^Edit Wolfe/ }).waitFor()
    const main = await narrow.getByRole('main').evaluate(({ scrollWidth }) => scrollWidth)
    assert.ok(main <= 390, `${main} pixels`)
    await narrow.goto(`${service.url}/console/settings/users`)
    await narrow.getByRole('button', { name: 'Roles' }).click()
    const roles = narrow.getByRole('table', { name: 'Roles' })
    const right = await roles.evaluate((table) => table.getBoundingClientRect().right)
    assert.ok(right <= 390, `${right} pixels`)
    await roles.getByText('Audit trail').waitFor()
  })

  it('can be read in the dark', async () => {
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    await at('', 'Harbour Fund')
    await at('/transactions', 'Transactions')
    await at('/distributions/new', 'New distribution')
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  })

  it('has had no error in the browser', () => {
    assert.deepEqual(browser.faults(), [])
  })
})
