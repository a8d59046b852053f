import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { SMTPServer } from 'smtp-server'
import { type Browser, findings, skip, startConsole } from '../support/browser.ts'
import { only } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { workFor } from '../support/reports.ts'
import type { Service } from '../support/service.ts'
import { investor, quoted, type TaxingFund, taxingFund } from '../support/withholding.ts'

/** The letters that the mail server has taken; it refuses one address. */
const inbox: string[] = []
const sender = 'registry@example.com'
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onRcptTo: ({ address }, _session, callback) =>
    address === 'bounce@example.com'
      ? callback(Object.assign(new Error('No such mailbox'), { responseCode: 550 }))
      : callback(),
  onData: (stream, session, callback) => {
    stream.resume()
    stream.on('end', () => {
      inbox.push(...session.envelope.rcptTo.map(({ address }) => address))
      callback()
    })
  },
})

describe('The console’s papers', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let stopWorker: () => Promise<void>
  let page: Page
  let fund: TaxingFund
  let address: string

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
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
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.server.address() as AddressInfo
    const env = {
      REGISTRY_DATA_DIR: temporaryFolder(),
      REGISTRY_SMTP_URL: `smtp://127.0.0.1:${port}`,
    }
    ;({ service, browser, stop } = await startConsole(env))
    stopWorker = await workFor(service, env)
    fund = await taxingFund(service)
    for (const email of ['ann@example.com', 'bounce@example.com'])
      await investor(service, fund, [quoted], {
        name: email,
        communicationPreferenceID: 1,
        communications: [{ communicationTypeID: 1, name: email }],
      })
    address = `${service.url}/console`
    page = await browser.open(`/${fund.productID}/reports`)
  })
  after(async () => {
    await stop()
    await stopWorker()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })

  it('says who writes to investors, with the head of a letter as they get it', async () => {
    await at('/settings/products', 'Products')
    await page.getByRole('table').getByRole('button').first().click()
    await page.getByRole('tab', { name: 'Issuer' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Example Funds')
    await page.getByLabel('E-mail').fill(sender)
    await page.getByRole('figure').getByText('Example Funds').waitFor()
    assert.deepEqual(await findings(page), [])
    await page.getByRole('tab', { name: 'Money, tax and lock' }).click()
    await page.getByLabel('Locked up to and including').fill('2023-12-31')
    assert.deepEqual(await findings(page), [])
    await press('Save')
    await page.getByText('The product is saved.').waitFor()
    const { data } = await service.admin.get(`/Product?ProductID=${fund.productID}`)
    const [{ issuer, lockedDate, withholding }] = data
    assert.deepEqual([issuer.name, lockedDate, withholding], ['Example Funds', '2023-12-31', true])
  })

  it('loses nothing of an issuer without a name, but says that it needs one', async () => {
    await at('/settings/products', 'Products')
    await page.getByRole('table').getByRole('button').first().click()
    await page.getByRole('tab', { name: 'Issuer' }).click()
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('')
    await page.getByLabel('Phone').fill('02 5550 1234')
    await press('Save')
    await page.getByRole('alert').getByText('Name is required.', { exact: true }).waitFor()
    assert.equal(await page.getByLabel('Phone').inputValue(), '02 5550 1234')
    await name.and(page.locator('[aria-invalid=true]')).waitFor()
    assert.deepEqual(await findings(page), [])
    await name.fill('Example Funds')
    await press('Save')
    await page.getByText('The product is saved.').waitFor()
    const issuer = async () => {
      const { data } = await service.admin.get(`/Product?ProductID=${fund.productID}`)
      return data[0].issuer
    }
    const { name: named, phone, email } = await issuer()
    assert.deepEqual([named, phone, email], ['Example Funds', '02 5550 1234', sender])
    await page.getByRole('table').getByRole('button').first().click()
    await page.getByRole('tab', { name: 'Issuer' }).click()
    for (const label of ['Name', 'Phone', 'E-mail'])
      await page.getByLabel(label, { exact: true }).fill('')
    await press('Save')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await issuer(), null)
    const before = { name: 'Example Funds', email: sender }
    const { productID, name: product } = (await service.admin.get('/Product')).data[0]
    only(await service.admin.put('/Product', { productID, name: product, issuer: before }))
  })

  it('shows a report in the page, and orders it again as it was known then', async () => {
    await at(`/${fund.productID}/reports`, 'Reports')
    await press('Order a report')
    await page.getByLabel('Name').fill('Members')
    assert.deepEqual(await findings(page), [])
    await press('Order')
    await page.getByText('Complete').waitFor()
    await page.getByRole('button', { name: 'Members', exact: true }).click()
    await page.locator('iframe[title="Members"]').waitFor()
    await press('Order again')
    await page.getByRole('dialog', { name: 'Order again, as known then' }).waitFor()
    assert.notEqual(await page.getByLabel('As known at').inputValue(), '')
    await page.getByLabel('Name').fill('Members again')
    await press('Order')
    await page.getByRole('button', { name: 'Members again' }).waitFor()
    const { data } = await service.admin.get(`/Report?ProductID=${fund.productID}`)
    assert.equal(data.length, 2)
    assert.equal(data[0].knownAt, data[1].knownAt)
  })

  it('sends statements, shows which came back, and sends again', async () => {
    await press('Order a report')
    await choose('What', 'Transaction confirmation')
    await page.getByLabel('Name').fill('Confirmations')
    await page.getByLabel('From').fill('2024-01-01')
    await page.getByLabel('Until').fill('2024-12-31')
    await press('Order')
    const row = page.getByRole('row').filter({ hasText: 'Confirmations' })
    await row.getByText('Complete').waitFor()
    await row.getByRole('button').click()
    await press('Send by e-mail')
    await press('Send them')
    await page.getByText('No such mailbox').waitFor()
    await page.getByRole('cell', { name: 'Sent', exact: true }).waitFor()
    assert.deepEqual(await findings(page), [])
    assert.deepEqual(inbox, ['ann@example.com'])
    await press('Send again')
    await press('Send all again')
    await page.getByText('2 go by e-mail, 0 want paper, 0 have no address.').waitFor()
  })

  it('verifies the audit trail, and tells what roles may do', async () => {
    await at('/settings/audit', 'Audit trail')
    await press('Verify')
    await page.getByText('It is whole').waitFor()
    assert.deepEqual(await findings(page), [])
    await at('/settings/users', 'Users')
    await press('Roles')
    await page.getByRole('table', { name: 'Roles' }).waitFor()
    assert.deepEqual(await findings(page), [])
    assert.deepEqual(browser.faults(), [])
  })
})
