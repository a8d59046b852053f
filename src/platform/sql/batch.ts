import type { Tx } from './handle.ts'
import { deleteRows, insertRows, type Row, type Table, updateRows } from './rows.ts'

/**
 * What one request changes, gathered first and written at the end: a statement per table and kind
 * of change, in one order of tables, whatever the number of rows. What the request refuses is
 * refused while it gathers, before the first write.
 */
export type Batch = {
  insert: (table: Table, row: Row) => void
  update: (table: Table, row: Row) => void
  /** By the table's key column. */
  remove: (table: Table, key: number) => void
  write: (tx: Tx) => Promise<void>
}

type Changes = { table: Table; inserts: Row[]; updates: Row[]; removals: number[] }

/** `order` names the tables so that what is referred to comes before what refers to it. */
export function batchOf(order: readonly Table[]): Batch {
  const changes = order.map((table): Changes => ({ table, inserts: [], updates: [], removals: [] }))
  const of = (table: Table) => changes.find((one) => one.table === table)!
  return {
    insert: (table, row) => of(table).inserts.push(row),
    update: (table, row) => of(table).updates.push(row),
    remove: (table, key) => of(table).removals.push(key),
    // Removals first, then updates: what they free (an email address) may be taken by an insert.
    write: async (tx) => {
      for (const { table, removals } of changes.toReversed()) await deleteRows(tx, table, removals)
      for (const { table, updates } of changes) await updateRows(tx, table, updates)
      for (const { table, inserts } of changes) await insertRows(tx, table, inserts)
    },
  }
}
