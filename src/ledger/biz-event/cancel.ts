import sql from 'sql-template-tag'
import { type Actor, inLedgerScope } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, invalid } from '../../platform/refusal.ts'
import { sharesOf, soleProduct } from '../../platform/sql/event.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { identifyAll } from '../../platform/sql/identify.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { eventReference, lockEvents } from './hand-off.ts'
import type { Cancel } from './schema.ts'
import { renderEvents } from './sql.ts'

const { BizEventStatus: statuses } = lookups

/** Cancels pending notices, both halves of a conversion together; all of them or none. */
export async function cancelEvents(tx: Tx, actor: Actor, asked: Cancel): Promise<Written> {
  const { bizEventID, bizEventIDs = [], comment } = asked
  const wanted = [...new Set([...(bizEventID ? [bizEventID] : []), ...bizEventIDs])]
  if (wanted.length === 0)
    throw invalid('required', 'Give bizEventID or bizEventIDs.', 'bizEventID')
  await identifyAll(
    tx,
    eventReference,
    wanted.map((id) => ({ bizEventID: id })),
    { visible: inLedgerScope(actor, 'r.product_id') },
  )
  const events = await lockEvents(tx, actor, wanted)
  const settled = events.find(({ statusID }) => statusID !== statuses.Pending)
  if (settled)
    throw conflict('event_not_pending', `The event notice ${settled.bizEventID} is not pending.`)
  const keys = events.map(({ productID, bizEventID: id }) => ({ productID, id }))
  await tx.query(sql`
    update biz_event e set biz_event_status_id = ${statuses.Cancelled}, updated_date = now(),
      comment = coalesce(${comment}, e.comment)
    where (e.product_id, e.biz_event_id) in (
      select * from unnest(${keys.map(({ productID }) => productID)}::int[],
        ${keys.map(({ id }) => id)}::bigint[]))`)
  return {
    ...(await renderEvents(tx, keys)),
    ids: keys.map(({ id }) => id),
    productID: soleProduct(keys),
    shares: sharesOf(keys),
    changes: asked,
  }
}
