import assert from 'node:assert/strict'
import { readConfig } from '../../src/config.ts'
import { workOnSpan } from '../../src/money/distribution/worker.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import { rowsOf } from './database.ts'
import type { Distribution } from './distribution.ts'
import type { Service } from './service.ts'

/** Works on a given number of spans of a stage, two accounts each, and then stops. */
export async function stopAfterSpans(
  { connection }: Service,
  { productID, corporateActionID }: Distribution,
  spans: number,
) {
  const database = connect(readConfig({}), connection, createLog('silent'))
  for (let i = 0; i < spans; i++)
    await database.transaction((tx) => workOnSpan(tx, { productID, id: corporateActionID }, 2))
  await database.close()
  const [{ after }] = await rowsOf(
    connection,
    `select after_account_id as after from distribution_stage where product_id = $1`,
    [productID],
  )
  assert.ok(after > 0)
}
