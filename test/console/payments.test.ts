import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Browser, findings, skip, startConsole } from '../support/browser.ts'
import { account, allot, configure, fundOf } from '../support/distribution.ts'
import { all, type Fund, only } from '../support/ledger.ts'
import { mend, newRun, paidFund, paymentsOf, payOut } from '../support/payment-run.ts'
import type { Service } from '../support/service.ts'

const yen = 8

describe('The console’s payments', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let fund: Fund
  let productID: number
  let address: string

  const fill = (label: string, text: string) =>
    page.getByLabel(new RegExp(`^${label}( \\*)?$`)).fill(text)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const confirm = (name: string) =>
    page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  const lastRun = async () =>
    (await service.admin.get(`/PaymentRun?ProductID=${productID}&Order=desc`)).data[0]

  before(async () => {
    ;({ service, browser, stop } = await startConsole())
    ;({ fund } = await paidFund(service, [100, 200, 300]))
    productID = fund.productID
    await mend(service, fund.accounts[2]!.accountID, `bsb = '000-000'`)
    const second = { username: 'second', password: 'a password for tests', role: 'Administrator' }
    assert.equal((await service.admin.post('/User', second)).status, 200)
    address = `${service.url}/console/${productID}/payments`
    page = await browser.open(`/${productID}/payments`)
  })
  after(() => stop())

  it('makes a draft, with what cannot be paid and why', async () => {
    await page.getByText('No payment run yet').waitFor()
    assert.deepEqual(await findings(page), [])
    await page.getByRole('link', { name: 'New payment run' }).click()
    await fill('Processing date', '2025-07-15')
    await fill('Account name', 'Example Fund Dist Account')
    await fill('Remitter', 'Example Fund')
    await fill('BSB', '33-088')
    await fill('Account number', '987654')
    await fill('Bank', 'WBC')
    await fill('User id', '301500')
    assert.deepEqual(await findings(page), [])
    await press('Make the draft')
    await page.waitForFunction(() => document.querySelector('[aria-invalid="true"]') !== null)
    await fill('BSB', '033-088')
    await press('Make the draft')
    await page.getByText('The BSB is not valid').waitFor()
    await page.getByText('You made this draft, so somebody else approves it.').waitFor()
    assert.deepEqual(await findings(page), [])
    const run = await lastRun()
    assert.deepEqual([run.state, run.payments.count, run.exceptions.count], ['Draft', 2, 1])
  })

  it('is approved by somebody else alone, and the bank’s file is taken away', async () => {
    const { paymentRunID } = await lastRun()
    const other = await browser.open(`/${productID}/payments/${paymentRunID}`, 'second')
    await other.getByRole('button', { name: 'Approve', exact: true }).click()
    assert.deepEqual(await findings(other), [])
    await other.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    const waits = other.waitForEvent('download')
    await other.getByRole('button', { name: /^Download / }).click()
    const text = readFileSync(await (await waits).path(), 'latin1')
    assert.match(text, /^0 {17}01WBC/)
    assert.equal(text.split('\r\n').filter((line) => line.startsWith('1')).length, 3)
    assert.deepEqual(await findings(other), [])
  })

  it('records what the bank did, payment by payment', async () => {
    await page.reload()
    await press('The bank has it')
    await confirm('It is sent')
    await page.getByRole('checkbox').first().check()
    await press('All others paid')
    await page.getByRole('heading', { name: '1 payment paid?' }).waitFor()
    await confirm('They are paid')
    await press('Returned (1)')
    await fill('Reason', 'Account closed')
    assert.deepEqual(await findings(page), [])
    await confirm('They came back')
    await page.getByText('Account closed').waitFor()
    await press('All others paid')
    await page.getByText('No other payment waits for its result.').waitFor()
    assert.deepEqual(await findings(page), [])
    const payments = await paymentsOf(service.admin, await lastRun())
    const states = payments.map(({ state }: { state: string }) => state)
    assert.deepEqual(states.sort(), ['Paid', 'Returned'])
  })

  it('pays again what came back, takes that back, and lets it be unclaimed', async () => {
    const first = await lastRun()
    await press('Reissue returned')
    await confirm('Make the draft')
    await page.getByText('Reissue of run').waitFor()
    assert.equal((await lastRun()).reissueOf, first.paymentRunID)
    await press('Delete')
    await confirm('Delete the draft')
    await page.getByRole('link', { name: `Run ${first.paymentRunID}` }).click()
    await press('Unclaimed…')
    await fill('Returned at least so many days ago', '0')
    assert.deepEqual(await findings(page), [])
    await confirm('Mark as unclaimed')
    await page.getByText('Unclaimed', { exact: true }).waitFor()
    assert.equal((await lastRun()).state, 'Closed')
    const results = /^(All others paid|Returned|Paid|Reissue returned|Unclaimed…)$/
    await page.getByRole('button', { name: results }).first().waitFor({ state: 'detached' })
  })

  it('pays a class of another currency by itself, from its distribution or from all', async () => {
    const { corporateActionID } = await paidInYen()
    await page.goto(`${service.url}/console/${productID}/distributions/${corporateActionID}`)
    await page.getByRole('link', { name: 'Pay by bank' }).click()
    await page.getByLabel('Least amount, JPY').waitFor()
    await page.getByText(`Only what Distribution ${corporateActionID} owes.`).waitFor()
    assert.equal(await page.getByLabel('Currency').count(), 0)
    await page.goto(`${address}/new`)
    await page.getByRole('combobox', { name: 'Currency' }).click()
    await page.getByRole('option', { name: 'JPY' }).click()
    await page.getByLabel('Least amount, JPY').waitFor()
    await page.getByRole('combobox', { name: 'Format' }).click()
    await page.getByRole('option', { name: 'ISO 20022, pain.001' }).click()
    await fill('Processing date', '2025-07-15')
    await fill('Account name', 'Example Fund in Yen')
    await fill('Remitter', 'Example Fund')
    await fill('BSB', '033-088')
    await fill('Account number', '987654')
    assert.deepEqual(await findings(page), [])
    await press('Make the draft')
    await page.getByText('You made this draft, so somebody else approves it.').waitFor()
    const { currencyID, payments } = await lastRun()
    assert.deepEqual([currencyID, payments], [yen, { count: 1, amount: 5000 }])
  })

  it('finds a distribution from another product, and changes it', async () => {
    const young = await fundOf(service, [100, 50])
    const given = {
      externalCorporateActionId: 'SPRING-2',
      name: 'Spring',
      distributionAmountPerUnit: 1,
    }
    const { corporateActionID } = await configure(service, young, given)
    await page.goto(address)
    await page.getByRole('heading', { name: 'Payments', exact: true }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Search', { exact: true }).fill('SPRING-2')
    await page.getByRole('button', { name: /^Spring/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Spring', exact: true }).waitFor()
    await press('Change')
    await fill('Name', 'Summer')
    await press('Save the configuration')
    await page.getByRole('heading', { name: 'Summer', exact: true }).waitFor()
    const query = `ProductID=${young.productID}&CorporateActionID=${corporateActionID}`
    assert.equal(only(await service.admin.get(`/Distribution?${query}`)).name, 'Summer')
  })

  it('asks to confirm the figures of now, not of when the page was opened', async () => {
    const young = await fundOf(service, [100, 50])
    const { corporateActionID } = await configure(service, young, { distributionAmountPerUnit: 1 })
    await page.goto(`${service.url}/console/${young.productID}/distributions/${corporateActionID}`)
    await page.getByText('150.00', { exact: true }).first().waitFor()
    await allot(service, young, [{ accountID: account(young, 0), quantity: 7 }], '2025-01-01')
    await press('Declare')
    await page.getByRole('dialog').getByText('are locked: 157.00 AUD').waitFor()
    assert.deepEqual(await findings(page), [])
    await confirm('Declare')
    await page.getByText('Declared 157 for 2 accounts. Pay it.', { exact: true }).waitFor()
    const { fund: paid } = await paidFund(service, [100, 200])
    const { productID: ofPaid, investmentID } = paid
    const out = { accountID: account(paid, 0), investmentID, transactionDate: '2025-07-14' }
    const redemption = { ...out, quantity: 10, investmentPrice: 1 }
    const [{ bizTransactionID }] = all(
      await service.admin.post('/BizTransaction/Redemption', redemption),
    )
    const { paymentRunID } = await newRun(service.admin, paid)
    const other = await browser.open(`/${ofPaid}/payments/${paymentRunID}`, 'second')
    await other.getByText('310.00', { exact: true }).first().waitFor()
    const back = { productID: ofPaid, bizTransactionIDs: [bizTransactionID] }
    assert.equal((await service.admin.put('/BizTransaction/Rollback', back)).status, 200)
    await other.getByRole('button', { name: 'Approve', exact: true }).click()
    await other.getByRole('dialog').getByText('300.00 AUD in all').waitFor()
    await other.close()
  })

  it('asks nothing of figures that could not be read anew', async () => {
    const { fund: paid } = await paidFund(service, [100, 200])
    const { paymentRunID } = await newRun(service.admin, paid)
    await refusedThenRead(
      `/${paid.productID}/payments/${paymentRunID}`,
      ['Approve', '**/PaymentRun?**'],
      '300.00 AUD in all',
    )
    const young = await fundOf(service, [100, 50])
    const { corporateActionID } = await configure(service, young, { distributionAmountPerUnit: 1 })
    await refusedThenRead(
      `/${young.productID}/distributions/${corporateActionID}`,
      ['Declare', '**/Distribution?**'],
      'are locked: 150.00 AUD',
    )
  })

  /** Asserts that a question shows the error while an address fails, and its figures afterwards. */
  async function refusedThenRead(path: string, [name, failing]: [string, string], figures: string) {
    const other = await browser.open(path, 'second')
    const question = other.getByRole('dialog')
    const answer = question.getByRole('button', { name, exact: true })
    const asks = other.getByRole('button', { name, exact: true })
    await asks.and(other.locator(':enabled')).waitFor()
    await other.route(failing, (route) => route.fulfill({ status: 409, body: '{}' }))
    await asks.click()
    await question.getByRole('alert').waitFor()
    assert.equal(await question.getByText(figures).count(), 0)
    assert.equal(await answer.isDisabled(), true)
    assert.deepEqual(await findings(other), [])
    await other.unroute(failing)
    await question.getByRole('button', { name: 'Try again' }).click()
    await question.getByText(figures).waitFor()
    assert.equal(await answer.isDisabled(), false)
    assert.equal(await question.locator(':focus').textContent(), 'Cancel')
    await other.close()
  }

  it('says of totals that could not be read that they could not, and reads them anew', async () => {
    const { fund: paid, distribution } = await paidFund(service, [100, 200])
    await page.route('**/Distribution/Account?**', (route) =>
      route.fulfill({ status: 409, body: '{}' }),
    )
    const { corporateActionID } = distribution
    await page.goto(`${service.url}/console/${paid.productID}/distributions/${corporateActionID}`)
    const failure = page.getByRole('alert')
    await failure.nth(1).waitFor() // of the totals, and of the list below them
    await page.unrouteAll()
    await failure.first().getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Tax + reinvested + cash = gross').waitFor()
  })

  it('adds up a distribution of many accounts when it is asked to', async () => {
    const { fund: paid, distribution } = await paidFund(service, [100, 200])
    const asked: string[] = []
    await page.route('**/Distribution/Account?**', async (route) => {
      const url = route.request().url()
      asked.push(new URL(url).searchParams.get('PageSize') ?? '')
      if (asked.at(-1) !== '1') return route.continue()
      const response = await route.fetch()
      return route.fulfill({ response, json: { ...(await response.json()), totalCount: 10_000 } })
    })
    const { corporateActionID } = distribution
    await page.goto(`${service.url}/console/${paid.productID}/distributions/${corporateActionID}`)
    await page.getByText('10,000 accounts').waitFor()
    assert.deepEqual(await findings(page), [])
    assert.ok(!asked.includes('1000'), asked.join())
    await press('Add them up')
    await page.getByText('Tax + reinvested + cash = gross').waitFor()
    await page.unrouteAll()
  })

  /** A paid distribution of fifty yen a unit, owed to the first account. */
  async function paidInYen() {
    const given = { productID, name: 'In yen', currencyID: yen }
    const { investmentID } = only(await service.admin.post('/Investment', given))
    const price = { investmentID, priceDate: '2024-01-01', price: 100 }
    assert.equal((await service.admin.post('/Investment/Price', price)).status, 200)
    const inYen = { ...fund, investmentID }
    await allot(service, inYen, [{ accountID: account(fund, 0), quantity: 100 }], '2024-01-01')
    return payOut(service, inYen, 50)
  }

  it('fits a narrow screen, and has had no error in the browser', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(address)
    await page.getByRole('link', { name: /^Run / }).first().waitFor()
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    assert.ok(wide <= 390, `${wide} pixels`)
    assert.deepEqual(browser.faults(), [])
  })
})
