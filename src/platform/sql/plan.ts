import type { Tx } from './handle.ts'
import { deleteRows, insertRows, type Row, sameRow, type Table, updateRows } from './rows.ts'

/**
 * What one request writes, gathered first and written at the end: a statement per table and kind
 * of change, in one order of tables, whatever the number of rows. What the request refuses is
 * refused while it gathers, before the first write.
 */
export type Plan = {
  /**
   * Writes a row that is new, or says something else than before; tells whether it does. `path` is
   * where the request has it: what the database refuses about the row is told of that place.
   */
  put: (table: Table, before: Row | undefined, row: Row, path?: string) => boolean
  /**
   * Makes `after` the list of all rows that share a key and have none of their own; tells whether
   * it differs from `before`. The rows of one list differ from each other.
   */
  replace: (table: Table, key: number, before: readonly Row[], after: readonly Row[]) => boolean
  /** By the table's key column. */
  remove: (table: Table, key: number) => void
  write: (tx: Tx) => Promise<void>
}

type Writes = { table: Table; inserts: Row[]; updates: Row[]; removals: number[] }

/** `order` names the tables so that what is referred to comes before what refers to it. */
export function planFor(order: readonly Table[]): Plan {
  const writes = order.map((table): Writes => ({ table, inserts: [], updates: [], removals: [] }))
  // A table that is not in the order would be written at no time: that is a fault of ours.
  const of = (table: Table) => writes.find((one) => one.table === table)!
  const paths = new Map<Row, string>()
  const pathOf = (row: Row) => paths.get(row) ?? ''
  return {
    put: (table, before, row, path = '') => {
      if (before && sameRow(table, before, row)) return false
      paths.set(row, path)
      const { inserts, updates } = of(table)
      if (before) updates.push(row)
      else inserts.push(row)
      return true
    },
    replace: (table, key, before, after) => {
      const isSame = (row: Row) => before.some((old) => sameRow(table, old, row))
      if (before.length === after.length && after.every(isSame)) return false
      const { removals, inserts } = of(table)
      if (before.length > 0) removals.push(key)
      inserts.push(...after)
      return true
    },
    remove: (table, key) => of(table).removals.push(key),
    // Removals first, then updates: what they free (an email address) may be taken by an insert.
    write: async (tx) => {
      for (const { table, removals } of writes.toReversed()) await deleteRows(tx, table, removals)
      for (const { table, updates } of writes) await updateRows(tx, table, updates, pathOf)
      for (const { table, inserts } of writes) await insertRows(tx, table, inserts, pathOf)
    },
  }
}
