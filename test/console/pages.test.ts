import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { type PagePath, pages } from '../../console/frame/pages.ts'
import { roles } from '../../src/platform/permission.ts'
import { type Browser, findings, skip, startConsole } from '../support/browser.ts'
import { everyKind } from '../support/console-world.ts'
import { importFor } from '../support/imports.ts'
import { temporaryFolder } from '../support/process.ts'
import { adminPassword, type Service } from '../support/service.ts'

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

  /** The address of a page, with the records of this registry in it. */
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

  it('has a heading, no error and nothing that axe finds, light and dark', async () => {
    const page = await browser.open('/')
    const found: string[] = []
    const say = (path: string, what: string[]) => found.push(...what.map((one) => `${path} ${one}`))
    for (const path of paths) {
      await go(page, path)
      say(path, await findings(page))
      await page.evaluate(() =>
        document.documentElement.setAttribute('data-mantine-color-scheme', 'dark'),
      )
      say(`${path} in the dark`, await findings(page, ['color-contrast']))
      say(path, browser.faults())
    }
    assert.deepEqual(found, [])
  })

  it('asks for nothing that one may not see, and says so where that is the page', async () => {
    const looker = { username: 'looker', password: adminPassword, role: 'ReadOnly' }
    assert.equal((await service.admin.post('/User', looker)).status, 200)
    const page = await browser.open('/', 'looker')
    const refusals: string[] = []
    page.on('response', (answer) => {
      if (answer.status() >= 400) refusals.push(`${answer.status()} ${answer.url()}`)
    })
    const may = new Set<string | null>([null, ...roles.ReadOnly])
    for (const path of paths) {
      await go(page, path)
      const told = await page.getByText('This page is not yours to see').count()
      assert.equal(told, may.has(pages[path]) ? 0 : 1, path)
      assert.deepEqual(refusals, [], path)
    }
    assert.deepEqual(browser.faults(), [])
  })
})
