import sql from 'sql-template-tag'
import { type Actor, inLedgerScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { invalid } from '../../platform/refusal.ts'
import { sharesOf, soleProduct } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identifyAll } from '../../platform/sql/identify.ts'
import { byProduct, inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { completedEvents, reopenEvents } from '../biz-event/settle.ts'
import {
  countAnew,
  type Effects,
  isPaidAlone,
  leaveRuns,
  lockFamilies,
  refuseUnchangeable,
  renderAll,
} from './family.ts'
import { goneLines } from './marks.ts'
import { transactionReference } from './reference.ts'
import type { Rollback } from './schema.ts'
import { among, keepVersions, momentOfChange } from './versions.ts'

const { RolledBack } = lookups.BizTransactionStatus

/**
 * Reverses transactions, with their other legs; the notices they settled are pending again, and
 * residuals that they paid out are left again.
 */
export async function rollBack(
  tx: Tx,
  actor: Actor,
  asked: Rollback,
  effects: Effects,
): Promise<Written> {
  const { bizTransactionID, bizTransactionIDs = [], releaseExternalId = false } = asked
  const ids = [...new Set([...(bizTransactionID ? [bizTransactionID] : []), ...bizTransactionIDs])]
  if (ids.length === 0)
    throw invalid('required', 'Give bizTransactionID or bizTransactionIDs.', 'bizTransactionID')
  await identifyAll(
    tx,
    transactionReference,
    ids.map((id) => ({ bizTransactionID: id })),
    { visible: inLedgerScope(actor, 'r.product_id') },
  )
  const family = await lockFamilies(tx, actor, ids)
  refuseUnchangeable(family, { allowed: isPaidAlone })
  await leaveRuns(tx, family, effects)
  const moment = await momentOfChange(tx)
  await keepVersions(tx, actor.userID, family, moment)
  for (const [productID, own] of byProduct(family))
    await tx.query(sql`
      update biz_transaction t set biz_transaction_status_id = ${RolledBack},
        updated_date = ${moment}, closing_quantity = null, closing_amount = null,
        closing_cost = null, closing_gain = null, external_biz_transaction_id =
          case when ${releaseExternalId} then null else t.external_biz_transaction_id end
      where ${among(productID, own)}`)
  for (const [productID, own] of byProduct(family.filter(isPaidAlone)))
    await effects.restoreResiduals(
      inProduct(tx, productID),
      productID,
      own.map((row) => row.id),
    )
  const completed = await reopenEvents(tx, family)
  const gone = sql`b.biz_transaction_id = any(${family.map(({ id }) => id)}::bigint[])`
  await countAnew(tx, family, (productID) => goneLines(productID, gone))
  return {
    json: await renderAll(tx, family),
    recordCount: family.length,
    ids: family.map(({ id }) => id),
    productID: soleProduct(family),
    shares: sharesOf(family),
    events: completedEvents(completed),
    changes: asked,
  }
}
