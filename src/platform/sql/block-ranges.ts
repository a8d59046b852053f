import sql from 'sql-template-tag'
import type { Tx } from './handle.ts'
import { lockNumbers } from './lock-numbers.ts'

type Transaction = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

/**
 * Block range (BRIN) indexes tell which ranges of a table a read can skip. A range whose summary
 * was interrupted stays unsummarised, and PostgreSQL 15 to 18 then reads that range and all behind
 * it, for any query. This summarises the ranges of such an index anew (migration 0079), while
 * readers and writers go on. Returns how many indexes were mended.
 */
export async function mendBlockRanges(transaction: Transaction): Promise<number> {
  let mended = 0
  for (const table of await transaction(tablesWithRanges))
    mended += await transaction((tx) => mendTable(tx, table))
  return mended
}

type Table = { name: string; isInParts: boolean }

async function tablesWithRanges(tx: Tx): Promise<Table[]> {
  const isInParts = (await tx.isSpread())
    ? sql`exists (select 1 from pg_dist_partition where logicalrelid = i.indrelid)`
    : sql`false`
  return tx.query<Table>(sql`
    select distinct i.indrelid::regclass::text as name, ${isInParts} as "isInParts"
    from pg_class c
    join pg_index i on i.indexrelid = c.oid
    where c.relam = (select oid from pg_am where amname = 'brin')
      and c.relnamespace = 'public'::regnamespace
    order by name`)
}

/**
 * One node mends at a time. The timeout is 10 minutes because a table in need of mending is read to
 * its end, whatever its size.
 */
async function mendTable(tx: Tx, { name, isInParts }: Table): Promise<number> {
  const [turn] = await tx.query<{ isOurs: boolean }>(sql`
    select pg_try_advisory_xact_lock(${lockNumbers.blockRanges}) as "isOurs",
      set_config('statement_timeout', '10min', true)`)
  if (!turn!.isOurs) return 0
  const done = await tx.query<{ success: boolean; result: string }>(
    isInParts
      ? sql`select success, result from run_command_on_shards(
          ${name}::regclass, $$select mend_block_ranges('%s')$$, false)`
      : sql`select true as success, mend_block_ranges(${name}::regclass)::text as result`,
  )
  const failed = done.find(({ success }) => !success)
  if (failed) throw new Error(`The block ranges of ${name} could not be mended: ${failed.result}`)
  return done.reduce((sum, { result }) => sum + Number(result), 0)
}
