import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Browser, findings, skip, startConsole } from '../support/browser.ts'
import { rowsOf } from '../support/database.ts'
import { fundOf } from '../support/distribution.ts'
import type { Service } from '../support/service.ts'

const manyInvestors = `
  with made as (
    insert into biz_entity (product_id, biz_entity_type_id, biz_entity_status_id, name,
      communication_preference_copy_parent_biz_entity, is_director_interest, is_executive_interest)
    select $1, 1, 1, 'Holder ' || to_char(n, 'FM00000'), false, false, false
    from generate_series(1, 5000) n returning biz_entity_id, product_id)
  insert into account (biz_entity_id, product_id, account_number, currency_id, drp_type_id,
    account_status_id)
  select biz_entity_id, product_id, 'M' || biz_entity_id, 1, 1, 1 from made`

/** In the page: every row in view is there, in its place, with what it is to show. */
function isWithoutGap(): boolean {
  const list = document.querySelector('[role=table][aria-label=Investors]')
  if (!list) return false
  const box = list.getBoundingClientRect()
  const rows = [...list.querySelectorAll('[role=rowgroup] [role=row]')].map((row) => ({
    top: row.getBoundingClientRect().top,
    index: Number(row.getAttribute('aria-rowindex')) - 1,
    text: row.textContent ?? '',
  }))
  const inView = rows.filter(({ top }) => top >= box.top && top < box.bottom)
  inView.sort((a, b) => a.index - b.index)
  return (
    inView.length >= Math.floor(box.height / 40) - 2 &&
    inView.every(({ index, text }) => text.includes(`Holder ${String(index).padStart(5, '0')}`)) &&
    inView.every(({ index }, i) => index === inView[0]!.index + i)
  )
}

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
    await page.getByText('The class is made.').waitFor()
    assert.equal((await service.admin.get('/Investment?SecurityCode=LOST')).data.length, 1)
    await page.getByText('The service cannot be reached.').first().waitFor({ state: 'hidden' })
    browser.faults()
  })

  it('scrolls through 5,000 investors without a gap', async () => {
    const made = await service.admin.post('/Product', { name: 'Many' })
    const [{ productID }] = made.data
    await rowsOf(service.connection, manyInvestors, [productID])
    await page.goto(`${service.url}/console/${productID}/investors`)
    await page.getByText('5,000 rows').waitFor()
    const list = page.getByRole('table', { name: 'Investors' })
    const seen = async (top: number) => {
      await list.evaluate((element, to) => element.scrollTo(0, to), top)
      await page.waitForFunction(isWithoutGap)
    }
    for (const top of [0, 800, 1600, 40_000, 41_000, 199_000, 120_000, 119_500]) await seen(top)
    await seen(1e9)
    await list.getByText('Holder 05000').waitFor()
    assert.ok((await list.getByRole('row').count()) < 100)
  })

  it('has had no error in the browser', async () => {
    await at('', 'Fund')
    assert.deepEqual(browser.faults(), [])
  })
})
