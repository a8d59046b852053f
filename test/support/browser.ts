import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { buildConsole } from '../../scripts/run.mjs'
import { patient } from './patience.ts'
import { adminPassword, type Service, startService } from './service.ts'

/**
 * The browser installed on this machine; the tests do not bring one. chromium-headless-shell comes
 * first because it uses an eighth less processor time for a page.
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

/** Why tests are skipped if there is no browser; where a browser is required, they fail instead. */
export const skip =
  browserPath || process.env.REGISTRY_TEST_BROWSER === 'required'
    ? false
    : 'no browser: set CHROME_PATH, or install chromium or google-chrome'

const flags = `--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
  --disable-background-networking --disable-component-update --disable-sync`.split(/\s+/)

type Size = { width: number; height: number }

export type Browser = {
  /** Opens an address of the console on a new page, without signing in. */
  visit: (path: string, size?: Size) => Promise<Page>
  /** Opens an address of the console on a new page, and signs in. */
  open: (path: string, username?: string, size?: Size) => Promise<Page>
  /** The errors of all pages since the last call. */
  faults: () => string[]
  close: () => Promise<void>
}

/** Goes to an address of the console, and waits for its page. */
export async function goTo(page: Page, { url }: Service, path: string, heading: string) {
  await page.goto(`${url}/console${path}`)
  await page.getByRole('heading', { name: heading, exact: true }).waitFor()
}

/** Presses the last of several buttons with one name: a dialog's button comes after the page's. */
export const pressLast = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).last().click()

/** Starts a service with its console, and a browser that can open it. */
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
  // Playwright makes an empty folder for the browser's data, and removes it at the end.
  const browser = await chromium.launch({ executablePath: browserPath ?? 'chromium', args: flags })
  const close = () => browser.close()
  const visit = async (path: string, size: Size = { width: 1280, height: 800 }) => {
    const context = await browser.newContext({
      viewport: size,
      acceptDownloads: true,
      // A half faded element has the colours of neither state, and axe would judge those.
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

/** Whether a console message only reports a refusal: the browser logs every 4xx answer. */
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

/** The rules that a page breaks according to axe, each with the first element that breaks it. */
export async function findings(page: Page, rules?: string[]): Promise<string[]> {
  await page.waitForLoadState('networkidle')
  // An element that is still fading in has the colours of neither state.
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
