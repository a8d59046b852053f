import assert from 'node:assert/strict'
import type pg from 'pg'
import { rowsOf } from './database.ts'

/** The distributions of a product: their status, and the income kinds and company tax they keep. */
const kept = `select distribution_status_id as status, paid_income_kinds as kinds,
    paid_company_tax::text as tax from distribution
  where product_id = $1 order by distribution_status_id desc`

/**
 * Inserts a paid and a declared distribution into a register of a version that did not yet keep the
 * income kinds of components. Returns a function that asserts that the upgrade gave them to the
 * paid one only.
 */
export async function payBefore(connection: pg.ClientConfig): Promise<() => Promise<void>> {
  const told = JSON.stringify([{ taxComponentName: ' bonus', incomeKind: 'Interest' }])
  const [{ id }] = await rowsOf(
    connection,
    `insert into product (name, currency_id, is_active, tax_component_kinds,
      company_tax_percentage)
    values ('Old', 1, true, $1, 27.5) returning product_id as id`,
    [told],
  )
  const [{ class: of }] = await rowsOf(
    connection,
    `insert into investment (product_id, name, currency_id, is_active, unit_decimals)
    values ($1, 'A', 1, true, 4) returning investment_id as class`,
    [id],
  )
  for (const status of [3, 2]) {
    const [{ action }] = await rowsOf(
      connection,
      `insert into distribution (product_id, investment_id, distribution_status_id)
      values ($1, $2, $3) returning corporate_action_id as action`,
      [id, of, status],
    )
    await rowsOf(
      connection,
      `insert into distribution_component
        (product_id, corporate_action_id, ordinal, tax_component_name, percentage)
      values ($1, $2, 2, 'Bonus', 10), ($1, $2, 1, 'AustralianFrankedDividends', 50),
        ($1, $2, 3, 'Other', 40)`,
      [id, action],
    )
  }
  return async () => {
    assert.deepEqual(await rowsOf(connection, kept, [id]), [
      { status: 3, kinds: ['FrankedDividend', 'Interest', null], tax: '27.5' },
      { status: 2, kinds: null, tax: null },
    ])
    // The distributions have no entitlements, which `verify` would report, so they are removed.
    for (const table of ['distribution_component', 'distribution', 'investment', 'product'])
      await rowsOf(connection, `delete from ${table} where product_id = $1`, [id])
  }
}
