import assert from 'node:assert/strict'
import type { Locator } from 'playwright-core'
import { rowsOf } from './database.ts'
import type { Service } from './service.ts'

const manyInvestors = `
  with made as (
    insert into biz_entity (product_id, biz_entity_type_id, biz_entity_status_id, name,
      communication_preference_copy_parent_biz_entity, is_director_interest, is_executive_interest)
    select $1, 1, 1, 'Holder ' || to_char(n, 'FM000000'), false, false, false
    from generate_series(1, $2) n returning biz_entity_id, product_id)
  insert into account (biz_entity_id, product_id, account_number, currency_id, drp_type_id,
    account_status_id)
  select biz_entity_id, product_id, 'M' || biz_entity_id, 1, 1, 1 from made`

const nameOf = (index: number) => `Holder ${String(index).padStart(6, '0')}`

/** A product with so many investors; the name of each contains its place in the list. */
export async function productOfMany(service: Service, count: number): Promise<number> {
  const { data } = await service.admin.post('/Product', { name: 'Many' })
  const [{ productID }] = data
  await rowsOf(service.connection, manyInvestors, [productID, count])
  return productID
}

/** What a list shows once it is settled: the rows in view, each with its place. */
type Screen = { rows: [index: number, name: string][]; inPage: number; frames: number; top: number }

/**
 * Runs in the page: scrolls a list to a place and waits until every row in view is there. If some
 * are still missing after thirty seconds, `rows` is empty. No function inside has a name, because
 * the compiled code would then call a helper that the page does not have.
 */
async function screenAt(list: Element, to: number): Promise<Screen> {
  list.scrollTop = to
  const until = performance.now() + 30_000
  const headHeight = 38
  for (let frames = 1; ; frames++) {
    await new Promise((resolve) => requestAnimationFrame(resolve))
    const box = list.getBoundingClientRect()
    const [above, below] = [box.top + headHeight, box.top + list.clientHeight]
    const rows = [...list.querySelectorAll('[role=rowgroup] > [role=row]')]
    const inView = rows
      .map((row) => ({
        box: row.getBoundingClientRect(),
        index: Number(row.getAttribute('aria-rowindex')) - 1,
        name: row.querySelector('[role=cell]')?.textContent ?? '',
      }))
      .filter((row) => row.box.bottom > above + 1 && row.box.top < below - 1)
      .sort((one, other) => one.index - other.index)
    const last = inView.at(-1)
    const isWhole =
      inView.length > 0 &&
      inView[0]!.box.top <= above + 1 &&
      (last!.box.bottom >= below - 1 || last!.index + 1 === Number(list.ariaRowCount)) &&
      inView.every((row, i) => row.name !== '' && row.index === inView[0]!.index + i)
    if (isWhole || performance.now() > until)
      return {
        rows: isWhole ? inView.map((row) => [row.index, row.name]) : [],
        inPage: rows.length,
        frames,
        top: list.scrollTop,
      }
  }
}

/** Asserts that a jump shows all rows of a place; `placeOf` maps them if the list is sorted. */
export async function assertWholeAt(
  list: Locator,
  top: number,
  placeOf = (index: number) => index,
): Promise<void> {
  const { rows } = await list.evaluate(screenAt, top)
  assert.ok(rows.length > 5, `no whole screen at ${top}`)
  for (const [index, name] of rows) assert.equal(name, nameOf(placeOf(index)))
}

/**
 * Scrolls from the first row to the last, a screen at a time. It asserts that every row is seen in
 * its order and under its own name, that no screen stays without rows, and that the page never
 * holds more than a few screens.
 */
export async function assertScrollsThrough(list: Locator, count: number) {
  const tall = await list.evaluate((element) => element.clientHeight)
  // One row less than fits under the head, so that the last row of a screen begins the next.
  const step = tall - 38 - 40
  let seen = 0
  let mostFrames = 0
  let screens = 0
  for (let top = 0; seen < count; top += step) {
    const { rows, inPage, frames } = await list.evaluate(screenAt, top)
    assert.ok(rows.length > 0, `a gap after ${seen} rows`)
    for (const [index, name] of rows) {
      assert.equal(name, nameOf(index))
      assert.ok(index <= seen + 1, `row ${seen + 1} was left out`)
      seen = Math.max(seen, index)
    }
    assert.ok(inPage < 100, `${inPage} rows in the page`)
    mostFrames = Math.max(mostFrames, frames)
    screens++
  }
  assert.equal(seen, count)
  return { screens, mostFrames }
}
