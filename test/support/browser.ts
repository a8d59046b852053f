import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { buildConsole } from '../../scripts/run.mjs'
import { patient } from './patience.ts'
import { adminPassword, type Service, startService } from './service.ts'

/**
 * A real browser of this machine; the tests bring none. The first is Chromium without windows of
 * its own, which takes an eighth less of the processor for a page.
 */
const browserPath: string | undefined = [
  process.env.CHROME_PATH,
  ...['chromium-headless-shell', 'chromium', 'google-chrome'].map(found),
].find((path) => path && existsSync(path))

function found(name: string): string | undefined {
  try {
    return execFileSync('which', [name], { encoding: 'utf8' }).trim() || undefined
  } catch {
    return undefined
  }
}

/** Without a browser the tests are skipped, and say so; where one is required, they fail. */
export const skip =
  browserPath || process.env.REGISTRY_TEST_BROWSER === 'required'
    ? false
    : 'no browser: set CHROME_PATH, or install chromium or google-chrome'

const flags = `--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
  --disable-background-networking --disable-component-update --disable-sync`.split(/\s+/)

type Size = { width: number; height: number }

export type Browser = {
  /** At an address of the console, on a page of its own, before anybody has signed in. */
  visit: (path: string, size?: Size) => Promise<Page>
  /** Signed in, at an address of the console, on a page of its own. */
  open: (path: string, username?: string, size?: Size) => Promise<Page>
  /** What went wrong in any page since the last look. */
  faults: () => string[]
  close: () => Promise<void>
}

/** Goes to an address of the console, and waits for its page. */
export async function goTo(page: Page, { url }: Service, path: string, heading: string) {
  await page.goto(`${url}/console${path}`)
  await page.getByRole('heading', { name: heading, exact: true }).waitFor()
}

/** Of buttons of one name the last: that of a dialog stands behind the page's. */
export const pressLast = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).last().click()

/** A service with its console, and a browser before it. */
export async function startConsole(env: Record<string, string> = {}) {
  await buildConsole()
  const service = await startService(env)
  const browser = await startBrowser(service).catch(async (error) => {
    await service.stop()
    throw error
  })
  const stop = async () => {
    await browser.close()
    await service.stop()
  }
  return { service, browser, stop }
}

async function startBrowser({ url }: Service): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  let faults: string[] = []
  // It makes an empty folder of its own for its data, and clears it away.
  const browser = await chromium.launch({ executablePath: browserPath ?? 'chromium', args: flags })
  const close = () => browser.close()
  const visit = async (path: string, size: Size = { width: 1280, height: 800 }) => {
    const context = await browser.newContext({
      viewport: size,
      acceptDownloads: true,
      // What is half faded in has the colours of neither state, which axe would judge.
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    page.setDefaultTimeout(patient(30_000))
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !isRefusal(message.text())) faults.push(message.text())
    })
    await page.goto(`${url}/console${path}`)
    return page
  }
  return {
    visit,
    open: async (path, username = 'admin', size) => {
      const page = await visit(path, size)
      await signIn(page, username)
      return page
    },
    faults: () => {
      const found = faults
      faults = []
      return found
    },
    close,
  }
}

/** What the service refuses on purpose, the browser reports in its own words. */
const isRefusal = (text: string) => /the server responded with a status of 4\d\d/.test(text)

export async function signIn(page: Page, username: string, password = adminPassword) {
  await page.getByLabel('Username').fill(username)
  await page.locator('input[type=password]').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Areas' }).waitFor({ state: 'attached' })
}

const axeSource = readFileSync(join('node_modules', 'axe-core', 'axe.min.js'), 'utf8')

type Axe = {
  run: (rules: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>
}

/** What axe finds on a page, by some rules or all: each with the first element that breaks it. */
export async function findings(page: Page, rules?: string[]): Promise<string[]> {
  await page.waitForLoadState('networkidle')
  // What is still fading in has the colours of neither state.
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(
        (one) => one.playState !== 'running' || one.effect?.getTiming().iterations === Infinity,
      ),
  )
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: Axe }
    const { violations } = await axe.run({ resultTypes: ['violations'], ...runOnly })
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`)
  }, rules && { runOnly: rules })
}
