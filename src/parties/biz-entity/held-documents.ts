import sql from 'sql-template-tag'
import { conflict } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'

/** What a hold on units rests on stays; whoever makes a hold locks the document, too. */
export async function refuseHeld(tx: Tx, documentIDs: readonly number[]) {
  if (documentIDs.length === 0) return
  const [held] = await tx.query<{ id: number }>(sql`
    select h.document_id as id from hold h
    where h.product_id = any(array(select product_id from product))
      and h.document_id = any(${documentIDs}::int[]) limit 1`)
  if (held) throw conflict('in_use', `A hold on units rests on the document ${held.id}.`)
}
