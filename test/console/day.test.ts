import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Browser, findings, skip, startConsole } from '../support/browser.ts'
import { configure, fundOf, keyOf } from '../support/distribution.ts'
import { temporaryFolder } from '../support/process.ts'
import { workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

describe('The console’s day', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let fund: Awaited<ReturnType<typeof fundOf>>
  let address: string

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const at = async (path: string, heading: string) => {
    await page.goto(`${address}${path}`)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    assert.deepEqual(await findings(page), [], path)
  }

  before(async () => {
    ;({ service, browser, stop } = await startConsole())
    fund = await fundOf(service, [100, 50])
    address = `${service.url}/console/${fund.productID}`
    page = await browser.open(`/${fund.productID}`)
  })
  after(() => stop())

  it('tells what the product comes to, and what needs whoever looks', async () => {
    const account = { accountID: fund.accounts[0]!.accountID, investmentID: fund.investmentID }
    const notice = { ...account, transactionDate: '2024-02-01', amount: 70 }
    const made = await service.admin.post('/BizEvent/NoticeOfDeposit', notice)
    assert.equal(made.status, 200, made.text)
    await at('', 'Fund')
    await page.getByText('150.00').first().waitFor()
    await page.getByRole('link', { name: '1 notice is due' }).click()
    await page.getByRole('heading', { name: 'Notices' }).waitFor()
    assert.match(page.url(), /BizEventStatusID=1/)
    await page.getByRole('button', { name: /^What needs you/ }).click()
    await page.getByRole('dialog').getByRole('link', { name: '1 notice is due' }).waitFor()
    assert.deepEqual(await findings(page), [])
    await page.keyboard.press('Escape')
  })

  it('posts many rows of a spreadsheet, or tells what is wrong with each', async () => {
    const [first, second] = fund.accounts.map(({ accountNumber }) => accountNumber)
    const { data: classes } = await service.admin.get(`/Investment?ProductID=${fund.productID}`)
    const row = (account: unknown, units: string) =>
      [account, classes[0].securityCode, '01/03/2024', units].join('\t')
    const headings = 'Account\tClass\tDay\tUnits'
    await at('/transactions/paste', 'Paste transactions')
    await page.getByRole('combobox', { name: 'What they are' }).click()
    await page.getByRole('option', { name: 'Redemption' }).click()
    const rows = page.getByLabel('Rows, as a spreadsheet copies them')
    await rows.fill([headings, row(first, '10.5'), row('nobody', '1')].join('\n'))
    await page.getByText('No such account').waitFor()
    assert.deepEqual(await findings(page), [])
    assert.ok(await page.getByRole('button', { name: /^Post all/ }).isDisabled())
    await rows.fill([headings, row(first, '10.5'), row(second, '1,000')].join('\n'))
    await page.getByText('2 of 2 rows can be posted').waitFor()
    await press('Post all 2')
    await page.getByRole('row').filter({ hasText: '1,000' }).getByText(/units/i).waitFor()
    const posted = async () =>
      (
        await service.admin.get(
          `/BizTransaction?ProductID=${fund.productID}&BizTransactionTypeID=3`,
        )
      ).data
    assert.deepEqual(await posted(), [])
    await rows.fill([headings, row(first, '10.5'), row(second, '5')].join('\n'))
    await page.getByText('2 of 2 rows can be posted').waitFor()
    await press('Post all 2')
    await page.getByRole('heading', { name: 'Transactions', exact: true }).waitFor()
    assert.deepEqual(
      (await posted()).map(({ quantity }: { quantity: number }) => quantity),
      [-10.5, -5],
    )
  })

  it('rolls a transaction back, after showing what depends on it', async () => {
    await at('/transactions?BizTransactionTypeID=2', 'Transactions')
    await page.getByRole('table', { name: 'Transactions' }).getByRole('button').first().click()
    await press('Roll back')
    const later = page.getByRole('table', { name: 'Posted later' })
    await later.getByText('Redemption').waitFor()
    assert.deepEqual(await findings(page), [])
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).last().click()
    await page.getByRole('alert').getByText(/short/).waitFor()
    await press('Cancel')
    await page.keyboard.press('Escape')
  })

  it('shows what an investor held as it was known before', async () => {
    const { bizEntityID } = fund.accounts[0]!
    const holdings = page.getByRole('table', { name: 'Holdings' })
    await at(`/investors/${bizEntityID}`, await nameOf(bizEntityID))
    await holdings.getByText('89.5000').first().waitFor()
    await press('Look back')
    await page.getByLabel('As at the end of').fill('2024-02-01')
    assert.deepEqual(await findings(page), [])
    await press('Show')
    await holdings.getByText('100.0000').first().waitFor()
    await press('Back to now')
    await holdings.getByText('89.5000').first().waitFor()
  })

  it('shows how far a stage of many accounts is, and goes on when it is done', async () => {
    const node = await startService({ REGISTRY_STAGE_INLINE: '1' }, service.connection)
    try {
      const amount = { distributionAmountPerUnit: '0.05' }
      const distribution = await configure(service, fund, amount)
      const declared = await node.admin.post('/Distribution/Declare', keyOf(distribution))
      assert.equal(declared.status, 202, declared.text)
      await page.goto(`${address}/distributions/${distribution.corporateActionID}`)
      await page.getByRole('heading', { name: 'Declaring' }).waitFor()
      await page.getByText('2 accounts, since').waitFor()
      await page.getByRole('button', { name: 'Take back what is under way' }).waitFor()
      assert.equal(await page.getByRole('button', { name: 'Declare', exact: true }).count(), 0)
      assert.deepEqual(await findings(page), [])
      const stopWorker = await workFor(service, { REGISTRY_DATA_DIR: temporaryFolder() })
      await page.getByRole('heading', { name: 'Next: pay' }).waitFor().finally(stopWorker)
      await press('Pay')
      await page.getByRole('dialog').getByRole('button', { name: 'Pay' }).click()
      await page.getByRole('button', { name: 'Take back “Paid”' }).waitFor()
      assert.equal(await page.getByText('Units allotted').count(), 0)
      await at('', 'Fund')
      await page.getByText('Next distribution').waitFor()
      await page.getByText('None', { exact: true }).waitFor()
    } finally {
      await node.stop()
    }
  })

  const nameOf = async (bizEntityID: number) =>
    (await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`)).data[0].name

  it('goes on by itself when the connection was lost in the middle of a form', async () => {
    await at('/classes', 'Classes and prices')
    await press('New class')
    await page.getByLabel('Security code').fill('LOST')
    await page.route('**/*', (route) => route.abort('connectionrefused'))
    await press('Make the class')
    await page.getByText('The service cannot be reached.').first().waitFor()
    assert.equal(await page.getByLabel('Security code').inputValue(), 'LOST')
    assert.deepEqual((await service.admin.get('/Investment?SecurityCode=LOST')).data, [])
    await page.unroute('**/*')
    await page.getByText('The class is created.').waitFor()
    assert.equal((await service.admin.get('/Investment?SecurityCode=LOST')).data.length, 1)
    await page.getByText('The service cannot be reached.').first().waitFor({ state: 'hidden' })
    browser.faults()
  })

  it('tells who leaves that what is not answered may be done, and does it once', async () => {
    await at('/classes', 'Classes and prices')
    await press('New class')
    await page.getByLabel('Security code').fill('SENT')
    await page.route('**/Common/HealthCheck', (route) => route.abort())
    await page.route('**/Investment', async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await press('Make the class')
    await page.getByText('The service cannot be reached.').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('What you sent may have been done').waitFor()
    assert.equal((await service.admin.get('/Investment?SecurityCode=SENT')).data.length, 1)
    await press('Leave')
    await page.unrouteAll()
    await page.getByText('The service cannot be reached.').first().waitFor({ state: 'hidden' })
    await page.getByRole('heading', { name: 'SENT' }).waitFor()
    assert.equal((await service.admin.get('/Investment?SecurityCode=SENT')).data.length, 1)
    browser.faults()
  })

  it('goes by the product’s day, wherever the browser is', async () => {
    const own = `/Product?ProductID=${fund.productID}`
    // At any moment it is not the same day in both.
    for (const timeZone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      const [product] = (await service.admin.get(own)).data
      assert.equal((await service.admin.put('/Product', { ...product, timeZone })).status, 200)
      const today = new Date().toLocaleDateString('sv-SE', { timeZone })
      await at('/transactions/new', 'New transaction')
      assert.equal(await page.getByLabel('Day').inputValue(), today)
      await at('/payments/new', 'New payment run')
      assert.equal(await page.getByLabel('Processing date').inputValue(), today)
    }
  })

  it('has had no error in the browser', async () => {
    await at('', 'Fund')
    assert.deepEqual(browser.faults(), [])
  })
})
