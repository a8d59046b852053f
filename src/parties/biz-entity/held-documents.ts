import sql from 'sql-template-tag'
import { conflict } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'

/** Refuses to delete documents that a hold on units refers to. A new hold locks its document. */
export async function refuseHeld(tx: Tx, documentIDs: readonly number[]) {
  if (documentIDs.length === 0) return
  const [held] = await tx.query<{ id: number }>(sql`
    select h.document_id as id from hold h
    where h.product_id = any(array(select product_id from product))
      and h.document_id = any(${documentIDs}::int[]) limit 1`)
  if (held) throw conflict('in_use', `A hold on units rests on the document ${held.id}.`)
}
