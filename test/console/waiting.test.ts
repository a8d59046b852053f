import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type Browser, findings, pressLast, skip, startConsole } from '../support/browser.ts'
import { everyKind } from '../support/console-world.ts'
import { importFor } from '../support/imports.ts'
import { only } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import type { Service } from '../support/service.ts'

const waits = 'It waits until somebody else approves it.'

describe('What waits for approval, in the console', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let page: Page
  let world: Record<string, number>

  const press = (name: string) => pressLast(page, name)
  const fill = (label: string, text: string) => page.getByLabel(label).first().fill(text)
  const choose = async (label: string) => {
    await page.getByRole('combobox', { name: label }).first().click()
    await page.getByRole('option').first().click()
  }
  const first = (table: string) =>
    page.getByRole('table', { name: table }).getByRole('button').first().click()
  const at = async (path: string) => {
    await page.goto(`${service.url}/console${path}`)
    await page.getByRole('main').getByRole('heading').first().waitFor()
  }
  const rule = async (about: object) =>
    only(await service.admin.post('/ApprovalRule', about)).approvalRuleID
  const unrule = (id: number) => service.admin.delete(`/ApprovalRule?ApprovalRuleID=${id}`)
  /** How many changes wait for approval. */
  const pending = async () =>
    (await service.admin.get('/Approval?State=Pending&PageSize=1000')).data.length
  const told = async (words: string) => {
    await page.getByText(words, { exact: true }).waitFor()
    assert.equal(await page.locator('.mantine-Notification-root').count(), 1)
  }

  before(async () => {
    const folder = { REGISTRY_DATA_DIR: temporaryFolder() }
    ;({ service, browser, stop } = await startConsole(folder))
    const stopImports = await importFor(service, folder)
    world = await everyKind(service).finally(stopImports)
    page = await browser.open('/')
  })
  after(() => stop())

  it('is a document without its file, which is uploaded once the document is there', async () => {
    const id = await rule({ resource: 'Document' })
    const listed = `/Document/List?ProductID=${world.product}`
    const before = (await service.admin.get(listed)).data.length
    await at(`/${world.product}/documents`)
    const file = { name: 'deed.txt', mimeType: 'text/plain', buffer: Buffer.from('Deed') }
    await page.locator('input[type=file]').setInputFiles(file)
    await press('Upload')
    await told(`${waits} A file cannot wait: upload it once the document is there.`)
    assert.deepEqual(await findings(page), [])
    assert.equal((await service.admin.get(listed)).data.length, before)
    const [{ approvalID }] = (await service.admin.get('/Approval?State=Pending&Order=desc')).data
    const other = await service.userWith({ role: 'Administrator' })
    only(await other.post('/Approval/Approve', { approvalID }))
    await page.reload()
    await page.getByRole('button', { name: 'deed', exact: true }).click()
    // The page has one of its own, which is there before the drawer is.
    const choice = page.getByRole('dialog').locator('input[type=file]')
    await choice.setInputFiles(file)
    await page
      .getByRole('alert')
      .getByText(/a file cannot wait/)
      .waitFor()
    assert.deepEqual(await findings(page), [])
    await unrule(id)
    await choice.setInputFiles({ ...file, name: 'second.txt' })
    await page.getByText('The file is there.').waitFor()
    const [document] = (await service.admin.get(`${listed}&Order=desc`)).data
    assert.deepEqual([document.name, document.fileName], ['deed', 'second.txt'])
  })

  it('is in the bell of who decides, however many others wait longer', async () => {
    const id = await rule({ operation: 'PUT /Product' })
    const { product: productID } = world
    const ask = async (client = service.admin) =>
      assert.equal((await client.put('/Product', { productID, name: 'Other' })).status, 202)
    for (let i = 0; i < 100; i++) await ask()
    await ask(await service.userWith({ role: 'Administrator' }))
    await at('/')
    await page.reload()
    await page.getByRole('button', { name: /^What needs you/ }).click()
    await page.getByRole('link', { name: '1 change waits for your approval' }).last().click()
    await page.getByRole('radio', { name: 'Waiting for me' }).waitFor({ state: 'attached' })
    const table = page.getByRole('table', { name: 'Approvals' })
    await table.getByText('Product changed').first().waitFor()
    assert.equal(await table.getByText('Product changed').count(), 1)
    assert.deepEqual(await findings(page), [])
    await unrule(id)
  })

  it('may be some of the notices that are settled', async () => {
    const { product: productID, classes: investmentID } = world
    // The units of the first are held.
    const [, { accounts }] = (await service.admin.get(`/BizEntity?ProductID=${productID}`)).data
    const notice = { productID, investmentID, accountID: accounts[0].accountID }
    const of = { ...notice, amount: 5, transactionDate: '2025-07-15' }
    for (const kind of ['Deposit', 'Redemption'])
      assert.equal((await service.admin.post(`/BizEvent/NoticeOf${kind}`, of)).status, 200)
    const id = await rule({ operation: 'POST /BizTransaction/Redemption' })
    await at(`/${productID}/notices`)
    const boxes = page.getByRole('checkbox', { name: /^Choose (?!all)/ })
    for (const box of [0, 1]) await boxes.nth(box).check()
    await press('Settle 2')
    await fill('Price and transaction date', '2025-07-15')
    await press('Settle')
    await told('The deposits are settled; the others wait until somebody else approves them.')
    await page.reload()
    await boxes.first().check()
    await press('Settle 1')
    await fill('Price and transaction date', '2025-07-15')
    await press('Settle')
    await told(waits)
    await unrule(id)
  })

  it('is said to wait by every form and every deletion, and never to be done', async () => {
    const { product, classes, payments } = world
    const investor = only(
      await service.admin.post('/BizEntity', {
        ...{ name: 'Ann', bizEntityTypeID: 1, bizEntityStatusID: 1 },
        accounts: [{ productID: product }],
        bizEntityParties: [{ person: { firstName: 'Ann', lastName: 'Example' } }],
      }),
    )
    const steps = { press, fill, choose, first }
    type Step = [verb: keyof typeof steps, what: string, text?: string]
    const forms: [path: string, ...steps: Step[]][] = [
      [
        '/settings/products',
        ['press', 'New product'],
        ['fill', 'Name', 'X'],
        ['press', 'Make the product'],
      ],
      [
        '/settings/users',
        ['press', 'New user'],
        ['fill', 'Username', 'x'],
        ['fill', 'Password', 'a password for x'],
        ['press', 'Make the user'],
      ],
      [
        '/settings/webhooks',
        ['press', 'New webhook'],
        ['fill', 'Address', 'https://example.com/x'],
        ['press', 'Make the webhook'],
        ['press', 'I have kept it'], // its secret is shown now or never
      ],
      [
        '/settings/tax-rates',
        ['press', 'New rate'],
        ['choose', 'Kind of income'],
        ['choose', 'Country'],
        ['fill', 'Rate, %', '1'],
        ['fill', 'From', '2040-01-01'],
        ['press', 'Enter the rate'],
      ],
      [
        `/${product}/classes`,
        ['press', 'New class'],
        ['fill', 'Security code', 'X'],
        ['press', 'Make the class'],
      ],
      [
        `/${product}/classes/${classes}`,
        ['press', 'Edit'],
        ['fill', 'Name', 'X'],
        ['press', 'Save'],
      ],
      [
        `/${product}/classes/${classes}`,
        ['press', 'Enter prices'],
        ['fill', 'Day and price', '2025-02-03 1'],
        ['press', 'Enter the prices'],
      ],
      [
        `/${product}/classes/${classes}`,
        ['first', 'Prices'],
        ['press', 'Delete'],
        ['press', 'Delete the price'],
      ],
      [
        `/${product}/investors/new`,
        ['fill', 'First name', 'X'],
        ['fill', 'Last name', 'X'],
        ['press', 'Add to the register'],
      ],
      [
        `/${product}/investors/${investor.bizEntityID}/edit`,
        ['fill', 'External id', 'X'],
        ['press', 'Save'],
      ],
      [
        `/${product}/transactions/new`,
        ['choose', 'Account'],
        ['choose', 'Class'],
        ['fill', 'Day', '2025-02-03'],
        ['fill', 'Amount, AUD', '1'],
        ['press', 'Post the deposit'],
      ],
      [
        `/${product}/transactions?BizTransactionTypeID=2`,
        ['first', 'Transactions'],
        ['press', 'Correct'],
        ['fill', 'Comment', 'X'],
        ['press', 'Correct'],
      ],
      [
        `/${product}/transactions?BizTransactionTypeID=1`,
        ['first', 'Transactions'],
        ['press', 'Roll back'],
        ['press', 'Roll back'],
      ],
      [
        `/${product}/notices?BizEventStatusID=1`,
        ['first', 'Notices'],
        ['press', 'Cancel the notice'],
        ['press', 'Cancel the notices'],
      ],
      [`/${product}/holds`, ['first', 'Holds'], ['fill', 'Until', '2099-01-01'], ['press', 'Save']],
      [
        `/${product}/distributions/new`,
        ['choose', 'Class'],
        ['fill', 'Record date', '2026-01-01'],
        ['fill', 'Payment date', '2026-01-02'],
        ['fill', 'Amount a unit', '1'],
        ['press', 'Configure'],
      ],
      [`/${product}/payments/${payments}`, ['press', 'Delete'], ['press', 'Delete the draft']],
      [`/${product}/reports`, ['press', 'Order a report'], ['press', 'Order']],
      [
        `/${product}/documents`,
        ['first', 'Documents'],
        ['press', 'Edit'],
        ['fill', 'Name', 'X'],
        ['press', 'Save'],
      ],
      ['/settings/approval-rules', ['press', 'New rule'], ['press', 'Make the rule']],
    ]
    const resources = [
      'Product',
      'User',
      'Webhook',
      'Tax',
      'Investment',
      'BizEntity',
      'BizTransaction',
    ]
    const others = [
      'BizEvent',
      'Hold',
      'Distribution',
      'PaymentRun',
      'Report',
      'Document',
      'ApprovalRule',
    ]
    for (const resource of [...resources, ...others]) await rule({ resource })
    const before = await pending()
    for (const [path, ...entered] of forms) {
      await at(path)
      for (const [verb, what, text = ''] of entered) await steps[verb](what, text)
      await told(waits).catch((error) => assert.fail(`${path}: ${error}`))
    }
    assert.equal(await pending(), before + forms.length)
    assert.deepEqual(browser.faults(), [])
  })
})
