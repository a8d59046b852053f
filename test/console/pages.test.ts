import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type PagePath, pages } from '../../console/frame/pages.ts'
import { roles } from '../../src/platform/permission.ts'
import { type Browser, findings, skip, startConsole } from '../support/browser.ts'
import { everyKind } from '../support/console-world.ts'
import { importFor } from '../support/imports.ts'
import { only } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { adminPassword, type Service } from '../support/service.ts'

/** Runs in the page: the lists whose last columns are out of view at a common window width. */
const tooWide = () =>
  [...document.querySelectorAll('[role=table]')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ ariaLabel, scrollWidth }) => `the list ${ariaLabel} is ${scrollWidth} wide`)

describe('Every page of the console', { skip }, () => {
  let service: Service
  let browser: Browser
  let stop: () => Promise<void>
  let ids: Record<string, number>

  before(async () => {
    const folder = { REGISTRY_DATA_DIR: temporaryFolder() }
    ;({ service, browser, stop } = await startConsole(folder))
    const stopImports = await importFor(service, folder)
    ids = await everyKind(service).finally(stopImports)
  })
  after(() => stop())

  /** The address of a page, with the ids of this registry's records. */
  const addressOf = (path: string) =>
    path
      .replace('$product', String(ids.product))
      .replace('$id', String(ids[path.split('/')[2] ?? ''] ?? ''))
  const go = async (page: Page, path: string) => {
    await page.goto(`${service.url}/console${addressOf(path)}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
  }
  const paths = Object.keys(pages) as PagePath[]

  /** The faults of a page as it is drawn, in the light and the dark theme. */
  const faultsOf = async (page: Page, path: string) => {
    const light = [...(await findings(page)), ...(await page.evaluate(tooWide))]
    await page.evaluate(() =>
      document.documentElement.setAttribute('data-mantine-color-scheme', 'dark'),
    )
    const dark = await findings(page, ['color-contrast'])
    return [...light, ...dark.map((one) => `in the dark ${one}`), ...browser.faults()].map(
      (one) => `${path} ${one}`,
    )
  }

  /** Users scoped to one product. An Administrator may open every page, so axe judges them all. */
  const scoped = [
    { username: 'keeper', role: 'Administrator', look: faultsOf, and: ', nor has axe a finding' },
    { username: 'looker', role: 'ReadOnly', look: async () => [], and: '' },
  ] as const

  for (const { username, role, look, and } of scoped)
    it(`asks nothing that a scoped ${role} may not see, and shows none of it${and}`, async () => {
      const hidden = await otherProduct()
      const user = { username, role, password: adminPassword, productIDs: [ids.product] }
      assert.equal((await service.admin.post('/User', user)).status, 200)
      const page = await browser.open('/', username)
      const refusals: string[] = []
      page.on('response', (answer) => {
        if (answer.status() >= 400) refusals.push(`${answer.status()} ${answer.url()}`)
      })
      const may = new Set<string | null>([null, ...roles[role]])
      for (const path of paths) {
        await go(page, path)
        const told = await page.getByText('You may not see this page').count()
        const isShown = [pages[path]].flat().every((one) => may.has(one))
        assert.equal(told, isShown ? 0 : 1, path)
        assert.doesNotMatch(await page.locator('body').innerText(), /Hidden/, path)
        assert.deepEqual(await look(page, path), [])
        assert.deepEqual(refusals, [], path)
      }
      await page.goto(`${service.url}/console/${hidden.product}/investors`)
      await page.getByRole('heading', { name: 'There is no such product' }).waitFor()
      await page.goto(`${service.url}/console/${ids.product}/investors/${hidden.investor}`)
      await page.getByRole('heading', { name: 'No such investor' }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('textbox', { name: 'Search' }).fill('Hidden Holder')
      await page.getByText('Nothing found.').waitFor()
      assert.deepEqual(refusals, [])
      assert.deepEqual(browser.faults(), [])
    })

  it('that writes of investors says what one lacks who may not read them', async () => {
    const permissions = roles.Administrator.filter((one) => one !== 'BizEntity.Read')
    const user = { username: 'writer', password: adminPassword, permissions }
    assert.equal((await service.admin.post('/User', user)).status, 200)
    const page = await browser.open('/', 'writer')
    const refusals: string[] = []
    page.on('response', (answer) => {
      if (answer.status() >= 400) refusals.push(`${answer.status()} ${answer.url()}`)
    })
    for (const path of ['investors/$id/edit', 'transactions/new', 'transactions/paste']) {
      await go(page, `/$product/${path}`)
      await page.getByText('You may not see this page').waitFor()
      await page.getByText('It needs the permission BizEntity.Read.').waitFor()
    }
    await go(page, '/$product/transactions')
    assert.equal(await page.getByRole('link', { name: 'New transaction' }).count(), 0)
    assert.deepEqual(refusals, [])
    assert.deepEqual(browser.faults(), [])
  })

  /** A product and an investor that the scoped users do not see. */
  async function otherProduct() {
    const { productID } = only(await service.admin.post('/Product', { name: 'Hidden Fund' }))
    const { bizEntityID } = only(
      await service.admin.post('/BizEntity', {
        ...{ name: 'Hidden Holder', bizEntityTypeID: 1, bizEntityStatusID: 1 },
        accounts: [{ productID }],
        bizEntityParties: [{ person: { firstName: 'Hidden', lastName: 'Holder' } }],
      }),
    )
    return { product: productID, investor: bizEntityID }
  }
})
