import sql from 'sql-template-tag'
import type { Sql } from './handle.ts'

/**
 * Whether the ledger is spread over several machines (Citus): a statement must then name one
 * product, and may not write to the ledger and to local tables at once. Asked once.
 */
export function spreadOver(handle: Sql): () => Promise<boolean> {
  let known: Promise<boolean> | undefined
  const ask = async () => {
    const rows = await handle.query(sql`select 1 from pg_extension where extname = 'citus'`)
    return rows.length > 0
  }
  return () => {
    known ??= ask().catch(() => {
      known = undefined // it is asked again; until then we do what works on both
      return true
    })
    return known
  }
}
