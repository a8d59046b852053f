import sql, { raw } from 'sql-template-tag'
import type { Tx } from './handle.ts'
import { lockNumbers } from './lock-numbers.ts'

type Transaction = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

/** Blocks that a reader may look at in vain: the newest ranges are summed up in their time. */
const mostInVain = 512
/** Ranges summed up anew in one transaction: it holds autovacuum up for that long. */
const rangesAtOnce = 200

/**
 * Indexes of ranges of blocks (BRIN) tell a reader which ranges of a table to leave out. A range at
 * which somebody broke off stays without its summary for good, and PostgreSQL 15 to 18 then reads
 * that range and all behind it, for whatever is asked. Where such an index has come to that, its
 * ranges are summed up anew; readers and writers go on meanwhile. A ledger that is spread has its
 * indexes on other machines, which are not looked at.
 */
export async function mendBlockRanges(transaction: Transaction) {
  for (const index of await transaction(blockIndexes)) {
    if (!(await transaction((tx) => isReadInVain(tx, index)))) continue
    await transaction((tx) => sumUpNew(tx, index))
    if (!(await transaction((tx) => isReadInVain(tx, index)))) continue
    let block: string | null = '0'
    while (block !== null) block = await transaction((tx) => sumUpAnew(tx, index, block!))
  }
}

type BlockIndex = { name: string; probe: string }

/** Each with a statement that no row answers, and that other indexes serve worse if at all. */
const blockIndexes = async (tx: Tx): Promise<BlockIndex[]> => {
  if (await tx.isSpread()) return []
  return tx.query<BlockIndex>(sql`
    select c.oid::regclass::text as name, format('select 1 from %s where %s', i.indrelid::regclass,
      pg_get_indexdef(c.oid, i.indnatts, true)
        || case when a.atttypid = 'timestamptz'::regtype then ' > ''infinity''' else ' < 0' end)
      as probe
    from pg_class c
    join pg_index i on i.indexrelid = c.oid and i.indisvalid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indnatts
    where c.relam = (select oid from pg_am where amname = 'brin')
      and c.relnamespace = 'public'::regnamespace
    order by name`)
}

/** A ledger of any size is read to its end here where its index has come to that. */
const patiently = sql`
  select set_config('statement_timeout', '10min', true), set_config('enable_seqscan', 'off', true),
    set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true),
    set_config('max_parallel_workers_per_gather', '0', true),
    set_config('lock_timeout', '100ms', true)`

async function isReadInVain(tx: Tx, { probe }: BlockIndex) {
  await tx.query(patiently)
  const [row] = await tx.query<{ 'QUERY PLAN': string }>(
    sql`explain (analyze, format json) ${raw(probe)}`,
  )
  const [{ Plan }] = JSON.parse(row!['QUERY PLAN'])
  return Plan['Lossy Heap Blocks'] > mostInVain
}

/**
 * One node at a time; and it waits less for autovacuum than it takes to cancel it: that would leave
 * the next such range. Who does not get the table has it another time.
 */
async function isOurTurn(tx: Tx) {
  await tx.query(patiently)
  const [row] = await tx.query<{ isOurs: boolean }>(
    sql`select pg_try_advisory_xact_lock(${lockNumbers.blockRanges}) as "isOurs"`,
  )
  return row!.isOurs
}

async function sumUpNew(tx: Tx, { name }: BlockIndex) {
  if (await isOurTurn(tx)) await tx.query(sql`select sum_up_new_ranges(${name}::regclass)`)
}

/** Gives the block to go on with, if there is one. */
async function sumUpAnew(tx: Tx, { name }: BlockIndex, first: string) {
  if (!(await isOurTurn(tx))) return null
  const [row] = await tx.query<{ next: string | null }>(
    sql`select sum_up_anew(${name}::regclass, ${first}::bigint, ${rangesAtOnce})::text as next`,
  )
  return row!.next
}
