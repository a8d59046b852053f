import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page, Route } from 'playwright-core'
import { type Browser, findings, goTo, pressLast, skip, startConsole } from '../support/browser.ts'
import { rowsOf } from '../support/database.ts'
import { fundOf } from '../support/distribution.ts'
import { importFor, lines, sendFile, transactionHead } from '../support/imports.ts'
import { entityOf } from '../support/investors.ts'
import { only } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import type { Service } from '../support/service.ts'

const password = 'a password for tests'

/** Answers as a proxy does while there is no service behind it. */
const ofProxy = (route: Route) =>
  route.fulfill({ status: 503, contentType: 'text/html', body: '<h1>503</h1>' })

describe('The console, with others at work and slow answers', { skip }, () => {
  const folder = { REGISTRY_DATA_DIR: temporaryFolder() }
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let fund: Awaited<ReturnType<typeof fundOf>>

  const press = (name: string) => pressLast(page, name)
  const at = (path: string, heading: string) => goTo(page, service, path, heading)
  const of = (path: string) => `/${fund.productID}${path}`
  const newUser = async (username: string, rights: object) =>
    only(await service.admin.post('/User', { username, password, ...rights })).userID as number

  before(async () => {
    ;({ service, browser, stop } = await startConsole(folder))
    fund = await fundOf(service, [100, 50])
    page = await browser.open('/')
  })
  after(() => stop())

  it('shows what somebody added meanwhile, which saving over it would take away', async () => {
    // Some have one name only, and are saved with it.
    const investor = entityOf(fund.productID)
    const entity = only(await service.admin.post('/BizEntity', investor))
    const read = async () =>
      only(await service.admin.get(`/BizEntity?BizEntityID=${entity.bizEntityID}`))
    const detail = { bsb: '062-000', accountNumber: '77001122', accountName: 'Added meanwhile' }
    const edit = () => at(of(`/investors/${entity.bizEntityID}/edit`), `Edit ${entity.name}`)
    await edit()
    const added = { paymentDetails: [...entity.paymentDetails, detail] }
    only(await service.admin.put('/BizEntity', { ...entity, ...added }))
    await page.getByLabel('External id').fill('MINE')
    await press('Save')
    const both = page.getByRole('table', { name: 'Both versions' })
    const row = both.getByRole('row').filter({ hasText: 'Added meanwhile' })
    await row.getByText('Changed meanwhile', { exact: true }).waitFor()
    await both.getByRole('row').filter({ hasText: 'MINE' }).getByText('You changed it').waitFor()
    assert.deepEqual(await findings(page), [])
    await press('Keep the register’s')
    await page.getByText('Nothing is saved: the register’s version stays.').waitFor()
    assert.equal((await read()).paymentDetails.at(-1).accountName, 'Added meanwhile')
  })

  it('counts of a change only the approvals of who may still decide', async () => {
    const rule = { operation: 'PUT /Product', requiredApprovals: 2 }
    const { approvalRuleID } = only(await service.admin.post('/ApprovalRule', rule))
    const userID = await newUser('leaver', { role: 'Administrator' })
    await newUser('maker', { role: 'Administrator' })
    const signedIn = (name: string) => service.anyone.signIn(name, password)
    const change = { productID: fund.productID, name: 'By two' }
    const asked = await (await signedIn('maker')).put('/Product', change)
    const { approvalID } = asked.data
    only(await (await signedIn('leaver')).post('/Approval/Approve', { approvalID }))
    only(await service.admin.put('/User', { userID, username: 'leaver', role: 'ReadOnly' }))
    await at('/approvals?ToDecide=true', 'Approvals')
    const cell = (text: string) => page.getByRole('cell', { name: text, exact: true })
    await cell('nobody (0 of 2); leaver may not decide any more').waitFor()
    await press('Product changed')
    await press('Approve')
    await page.getByText('You have approved it. It waits for another approval.').waitFor()
    await at('/approvals', 'Approvals')
    await cell('admin (1 of 2); leaver may not decide any more').waitFor()
    await press('Product changed')
    await page.getByText('You have approved it. Somebody else must approve it too.').waitFor()
    assert.deepEqual(await findings(page), [])
    only(await service.admin.put('/User', { userID, username: 'leaver', role: 'Operator' }))
    await at('/approvals?ToDecide=true', 'Approvals')
    await cell('leaver, admin (2 of 2)').waitFor()
    await press('Product changed')
    await page.getByText('It has enough approvals by now').waitFor()
    await press('Approve')
    await page.getByText('Approved and done.').waitFor()
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
    only(await service.admin.put('/Product', { ...change, name: 'Fund' }))
  })

  it('tells of notices that are due behind many others, and chooses all of them', async () => {
    const { accountID } = fund.accounts[0]!
    const notice = { accountID, investmentID: fund.investmentID, amount: 5 }
    const due = { ...notice, transactionDate: '2024-02-01' }
    const tell = async (body: object) =>
      assert.equal((await service.admin.post('/BizEvent/NoticeOfDeposit', body)).status, 200)
    await tell(due)
    const later = Array.from({ length: 100 }, () => ({ ...due, transactionDate: '2999-01-01' }))
    await Promise.all(later.map(tell))
    await at(of(''), 'Fund')
    await page.getByRole('link', { name: '1 or more notices are due' }).first().click()
    await page.getByLabel('Choose all').click()
    assert.deepEqual(await findings(page), [])
    await press('Cancel 101')
    await press('Cancel the notices')
    await page.getByText('The notices are cancelled.').waitFor()
    const pending = `/BizEvent?ProductID=${fund.productID}&BizEventStatusID=1`
    assert.deepEqual((await service.admin.get(pending)).data, [])
  })

  it('opens the answer to what was typed, and not what an earlier text has found', async () => {
    for (const name of ['Early Bird', 'Late Riser'])
      only(await service.admin.post('/BizEntity', { ...entityOf(fund.productID), name }))
    await at(of('/investors'), 'Investors')
    await page.keyboard.press('Control+k')
    const field = page.getByRole('textbox', { name: 'Search' })
    await field.fill('Early Bird')
    await page.getByRole('dialog').getByText('Early Bird').first().waitFor()
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/Search?*', async (route) => {
      await held
      await route.continue()
    })
    await field.fill('Late Riser')
    await page.keyboard.press('Enter')
    answer()
    await page.getByRole('heading', { name: 'Late Riser', exact: true }).waitFor()
    await page.unrouteAll()
  })

  it('insists on what was doubted alone, and not on what is entered after', async () => {
    const { investmentID } = fund
    const price = { investmentID, priceDate: '2024-01-01', price: 1 }
    only(await service.admin.post('/Investment/Price', [price]))
    const prices = async () =>
      (await service.admin.get(`/Investment/Price?InvestmentID=${investmentID}`)).data
    const before = await prices()
    const [found] = (await service.admin.get(`/Investment?InvestmentID=${investmentID}`)).data
    only(await service.admin.put('/Investment', { ...found, priceTolerancePercent: 10 }))
    await page.goto(`${service.url}/console${of(`/classes/${investmentID}`)}`)
    await press('Enter prices')
    const pasted = page.getByLabel('Day and price, a line each')
    await pasted.fill('2024-01-02 1.5')
    await press('Enter the prices')
    const box = page.getByLabel('The price is right: enter it anyway')
    await box.check()
    await pasted.fill('2024-01-02 15')
    assert.equal(await box.isChecked(), false)
    await press('Enter the prices')
    await page
      .getByRole('alert')
      .getByText(/Price 15 is more/)
      .waitFor()
    assert.deepEqual(await prices(), before)
    only(await service.admin.put('/Investment', { ...found, priceTolerancePercent: null }))
  })

  it('reads what is under way to its end, also where each answer takes long', async () => {
    const row = ['Deposit', fund.accounts[0]!.accountID, fund.investmentID, '2024-03-01', 10]
    const file = lines(transactionHead, row)
    const sent = await sendFile(service.admin, { type: 'Transactions', mode: 'validate' }, file)
    await at(of(`/import/${sent.data.importID}`), 'f.csv')
    await page.getByText('You can leave this page').waitFor()
    // Longer than it takes until the page asks again.
    await page.route('**/Import?*', async (route) => {
      await sleep(2500)
      await route.continue().catch(() => {})
    })
    const stopImports = await importFor(service, folder)
    const ended = page.getByText(/^(Completed|With errors)$/)
    await ended.waitFor().finally(stopImports)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('shows the refused rows of a cancelled import once they are put together', async () => {
    const file = lines(transactionHead, ['Deposit', 999_999, 1, '2024-03-01', 10])
    const sent = await sendFile(service.admin, { type: 'Transactions', mode: 'continue' }, file)
    const { importID } = sent.data
    const problems = [{ field: 'accountID', code: 'not_found', message: 'No such account.' }]
    const refused = `with one as (insert into import_refusal (import_id, line, problems)
      values ($1, 2, $2::json))
      update import set status = 'Running', rows_read = 1, rows_refused = 1, last_line = 2
      where import_id = $1`
    await rowsOf(service.connection, refused, [importID, JSON.stringify(problems)])
    await at(of(`/import/${importID}`), 'f.csv')
    await press('Cancel')
    const told = 'The rows up to line 2 are done: send only those after it.'
    await page.getByText(told).waitFor()
    await page.getByRole('heading', { name: 'Refused rows' }).waitFor()
    assert.deepEqual(await findings(page), [])
    const stopImports = await importFor(service, folder)
    const rows = page.getByRole('table', { name: 'Refused rows' })
    await rows.getByText('No such account.').waitFor().finally(stopImports)
    assert.deepEqual(await findings(page), [])
  })

  it('waits while a proxy has no service behind it, and goes on when it has', async () => {
    await at(of('/classes'), 'Classes and prices')
    await press('New class')
    await page.getByLabel('Security code').fill('AWAY')
    await page.route('**/*', ofProxy)
    await press('Make the class')
    await page.getByText('The service cannot be reached.').first().waitFor()
    await page.unrouteAll()
    await page.getByText('The class is created.').waitFor()
    assert.equal((await service.admin.get('/Investment?SecurityCode=AWAY')).data.length, 1)
    await page.route('**/console/session', ofProxy)
    await page.reload()
    await page.getByText('The service cannot be reached.').first().waitFor()
    await page.unrouteAll()
    await page.getByRole('heading', { name: 'Classes and prices' }).waitFor()
    browser.faults()
  })

  it('leaves one of a browser’s six connections to ask whether the service is there', async () => {
    await at(of('/classes'), 'Classes and prices')
    await page.waitForLoadState('networkidle')
    let [open, most] = [0, 0]
    let full = () => {}
    const five = new Promise<void>((resolve) => {
      full = resolve
    })
    await page.route('**/*', async (route) => {
      const { pathname } = new URL(route.request().url())
      if (route.request().resourceType() !== 'fetch' || pathname.startsWith('/console/'))
        return route.continue()
      most = Math.max(most, ++open)
      if (open === 5) full()
      await five
      const response = await route.fetch()
      open--
      await route.fulfill({ response })
    })
    await page.getByRole('link', { name: 'Notices' }).click() // a count for each kind and state
    await page.getByRole('table', { name: 'Notices' }).first().waitFor()
    await page.waitForLoadState('networkidle')
    await page.unrouteAll({ behavior: 'wait' })
    assert.equal(most, 5)
  })

  it('keeps a form where the help cannot be loaded, and waits for a page that cannot', async () => {
    await at(of('/transactions/new'), 'New transaction')
    const comment = page.getByLabel('Comment')
    await comment.fill('Typed before')
    const told = page.getByText('The service cannot be reached.').first()
    await page.context().setOffline(true)
    await press('Help')
    await told.waitFor()
    assert.equal(await comment.inputValue(), 'Typed before')
    await page.context().setOffline(false)
    await page.getByText('The help could not be loaded.').waitFor()
    assert.equal(await comment.inputValue(), 'Typed before')
    await at(of('/classes'), 'Classes and prices')
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'Reports' }).click()
    await told.waitFor()
    await page.context().setOffline(false)
    await page.getByRole('heading', { name: 'Reports' }).waitFor()
    browser.faults()
  })

  it('says so where the service takes requests and never answers, and goes on after', async () => {
    await page.clock.install()
    await at(of('/classes'), 'Classes and prices')
    await press('New class')
    await page.getByLabel('Security code').fill('HUNG')
    // A machine that hangs: connections are taken, and nothing comes back.
    const hung: Route[] = []
    await page.route('**/*', (route) => void hung.push(route))
    await press('Make the class')
    const told = page.getByText('The service cannot be reached.').first()
    await page.clock.runFor(11_000)
    assert.equal(await told.count(), 0)
    await page.clock.runFor(16_000)
    await told.waitFor()
    assert.equal(await page.getByLabel('Security code').inputValue(), 'HUNG')
    await page.unrouteAll()
    await page.clock.runFor(40_000)
    await page.getByText('The class is created.').waitFor()
    assert.equal((await service.admin.get('/Investment?SecurityCode=HUNG')).data.length, 1)
    await page.clock.resume()
    browser.faults()
  })

  it('says so where somebody could not be signed out', async () => {
    await page.route('**/console/session', ofProxy)
    await page.getByRole('button', { name: 'admin', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByText('Not done', { exact: true }).waitFor()
    await page.unrouteAll()
    browser.faults()
  })

  it('changes a password once, also where the answer was lost', async () => {
    await newUser('forgetful', { role: 'ReadOnly' })
    const other = await browser.visit('/settings/account')
    const fresh = 'another password for tests'
    await other.getByLabel('Username').fill('forgetful')
    await other.locator('input[type=password]').fill(password)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.getByLabel('Present password').fill(password)
    await other.getByLabel('New password').fill(fresh)
    await other.route(
      '**/User/Password',
      async (route) => {
        await route.fetch()
        await route.abort('connectionreset')
      },
      { times: 1 },
    )
    await other.getByRole('button', { name: 'Change the password' }).click()
    const dialog = other.getByRole('dialog')
    await dialog.getByText('Your session has ended').waitFor()
    // Typed right away, a password must not stand in clear in the field of the name.
    await dialog.locator('input[type=password]:focus').waitFor()
    await dialog.locator('input[type=password]').fill(fresh)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await other.getByText('The password is changed; sign in with the new one.').waitFor()
    browser.faults()
  })

  it('has had no error in the browser', () => assert.deepEqual(browser.faults(), []))
})

describe('The console of a registry that gives few rows at once', { skip }, () => {
  it('shows all of them', async () => {
    const { service, browser, stop } = await startConsole({ REGISTRY_MAX_PAGE_SIZE: '3' })
    try {
      const fund = await fundOf(service, [1, 2, 3, 4, 5])
      for (let i = 0; i < 4; i++)
        only(await service.admin.post('/Product', { name: `Other ${i}`, currencyID: 1 }))
      const page = await browser.open(`/${fund.productID}`)
      await page.getByText('15.00').first().waitFor()
      await page.getByTitle('Switch product').click()
      await page.getByRole('menuitem', { name: 'Other 3' }).waitFor()
      await page.keyboard.press('Escape')
      await page.goto(`${service.url}/console/${fund.productID}/investors`)
      const table = page.getByRole('table', { name: 'Investors' })
      await page.getByText('5 rows', { exact: true }).waitFor()
      for (const { accountNumber } of fund.accounts)
        await table.getByText(String(accountNumber), { exact: true }).waitFor()
      assert.deepEqual(browser.faults(), [])
    } finally {
      await stop()
    }
  })
})
