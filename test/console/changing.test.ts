import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Browser, findings, goTo, skip, startConsole } from '../support/browser.ts'
import { fundOf } from '../support/distribution.ts'
import { only } from '../support/ledger.ts'
import { adminPassword, type Service } from '../support/service.ts'

describe('The console, while things change around it', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let fund: Awaited<ReturnType<typeof fundOf>>

  const of = (path: string) => `/${fund.productID}${path}`
  /** The form of a posting, all of it filled. */
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
  })
  after(() => stop())

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
    await clerk.getByText('This page is not yours to see').waitFor()
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
