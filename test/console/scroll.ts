import assert from 'node:assert/strict'
import { it } from 'node:test'
import { skip, startConsole } from '../support/browser.ts'
import { assertScrollsThrough, productOfMany } from '../support/scrolling.ts'

const count = Number(process.env.SCROLL_ROWS ?? 100_000)

/**
 * `npm run test:scroll` scrolls a list of 100,000 investors in a real browser, a screen at a time,
 * and must see every row in order. It takes some minutes; `npm test` does this with 3,000.
 */
it(`shows each of ${count} investors once, in order and without a gap`, { skip }, async () => {
  const { service, browser, stop } = await startConsole()
  try {
    const productID = await productOfMany(service, count)
    const page = await browser.open(`/${productID}/investors`)
    await page.getByText(/000 rows/).waitFor()
    const began = performance.now()
    const list = page.getByRole('table', { name: 'Investors' })
    const { screens, mostFrames } = await assertScrollsThrough(list, count)
    const seconds = ((performance.now() - began) / 1000).toFixed(0)
    const heap = await page.evaluate(
      () =>
        (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize,
    )
    process.stderr.write(
      `${count} rows, ${screens} screens in ${seconds} s; at most ${mostFrames} frames until a ` +
        `screen was whole; ${(heap / 2 ** 20).toFixed(0)} MiB of heap\n`,
    )
    assert.deepEqual(browser.faults(), [])
  } finally {
    await stop()
  }
})
