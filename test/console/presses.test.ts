import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Browser, goTo, pressLast, skip, startConsole } from '../support/browser.ts'
import { fundOf } from '../support/distribution.ts'
import type { Service } from '../support/service.ts'

describe('The console, pressed again and again', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let fund: Awaited<ReturnType<typeof fundOf>>

  const at = (path: string, heading: string) => goTo(page, service, path, heading)
  const of = (path: string) => `/${fund.productID}${path}`
  const countOf = async (path: string) => (await service.admin.get(path)).data.length as number

  before(async () => {
    ;({ service, browser, stop } = await startConsole())
    fund = await fundOf(service, [100, 50])
    page = await browser.open('/')
  })
  after(() => stop())

  it('posts once while Enter is held, however long the next page takes to come', async () => {
    const { accountNumber } = fund.accounts[0]!
    const posted = () => countOf(`/BizTransaction?ProductID=${fund.productID}`)
    const before = await posted()
    await at(of('/transactions/new'), 'New transaction')
    await page.getByRole('combobox', { name: 'Account' }).fill(String(accountNumber))
    await page.getByRole('option').first().click()
    await page.getByRole('combobox', { name: 'Class' }).click()
    await page.getByRole('option').first().click()
    await page.getByLabel('Day').fill('2024-03-01')
    const amount = page.getByLabel('Amount, AUD')
    await amount.fill('1000')
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/assets/Transactions-*.js', async (route) => {
      await held
      await route.continue()
    })
    await amount.press('Enter')
    await page.getByText('Deposit posted.').waitFor()
    for (let i = 0; i < 20; i++) await page.keyboard.press('Enter')
    release()
    await page.getByRole('heading', { name: 'Transactions', exact: true }).waitFor()
    await page.unrouteAll()
    assert.equal(await posted(), before + 1)
  })

  it('leaves who has gone on where they are, when a late answer comes', async () => {
    await at(of('/transactions/new'), 'New transaction')
    await page.getByRole('combobox', { name: 'Account' }).fill(fund.accounts[0]!.accountNumber)
    await page.getByRole('option').first().click()
    await page.getByRole('combobox', { name: 'Class' }).click()
    await page.getByRole('option').first().click()
    await page.getByLabel('Day').fill('2024-03-02')
    await page.getByLabel('Amount, AUD').fill('2000')
    let answer = () => {}
    const late = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/BizTransaction/Deposit', async (route) => {
      await late
      await route.continue()
    })
    await pressLast(page, 'Post the deposit')
    await page.getByRole('link', { name: 'Holds', exact: true }).click()
    await pressLast(page, 'Leave')
    await page.getByRole('heading', { name: 'Holds', exact: true }).waitFor()
    answer()
    await page.getByText('Deposit posted.').waitFor()
    await page.waitForLoadState('networkidle')
    assert.equal(new URL(page.url()).pathname, `/console${of('/holds')}`)
    await page.unrouteAll()
  })

  it('orders one report by a double click, also a slow one', async () => {
    // What fades out is still there to be pressed; without motion nothing fades.
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    await at(of('/reports'), 'Reports')
    await pressLast(page, 'Order a report')
    const drawer = page.getByRole('dialog', { name: 'Order a report' })
    const button = drawer.getByRole('button', { name: /^Order/ })
    await button.click({ trial: true })
    const box = (await button.boundingBox())!
    // As quick as no hand is: whatever can be pressed there, for as long as the drawer is.
    await page.evaluate(
      ({ x, y }) =>
        new Promise<void>((resolve) => {
          const timer = setInterval(() => {
            const pressed = document.elementFromPoint(x + 20, y + 10)?.closest('button')
            pressed?.click()
            if (document.querySelector('[role=dialog]')) return
            clearInterval(timer)
            resolve()
          }, 5)
        }),
      box,
    )
    assert.equal(await countOf(`/Report?ProductID=${fund.productID}`), 1)
    await page.emulateMedia({ reducedMotion: 'reduce' })
  })

  it('has had no error in the browser', () => assert.deepEqual(browser.faults(), []))
})
