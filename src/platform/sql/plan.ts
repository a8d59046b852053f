import type { Tx } from './handle.ts'
import { deleteRows, insertRows, type Row, sameRow, type Table, updateRows } from './rows.ts'

/**
 * Gathers what one request writes, and writes it at the end: one SQL statement per table and kind
 * of change, in a fixed order of tables, whatever the number of rows. The request's own checks
 * refuse while it gathers, before the first write.
 */
export type Plan = {
  /**
   * Writes a row if it is new or differs from `before`; returns whether it does. `path` is the
   * row's place in the request: a constraint violation of the row is reported at that place.
   */
  put: (table: Table, before: Row | undefined, row: Row, path?: string) => boolean
  /**
   * Makes `after` the complete list of rows under a shared key (these rows have no key of their
   * own); returns whether it differs from `before`. No two rows of a list are equal.
   */
  replace: (table: Table, key: number, before: readonly Row[], after: readonly Row[]) => boolean
  /** Deletes the rows whose key column has this value. */
  remove: (table: Table, key: number) => void
  write: (tx: Tx) => Promise<void>
}

type Writes = { table: Table; inserts: Row[]; updates: Row[]; removals: number[] }

/** `order` lists every referenced table before the tables that refer to it. */
export function planFor(order: readonly Table[]): Plan {
  const writes = order.map((table): Writes => ({ table, inserts: [], updates: [], removals: [] }))
  // A table missing from `order` would never be written: that is a programming error.
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
    // Removals first, then updates: an insert may take a unique value that they free (an email
    // address).
    write: async (tx) => {
      for (const { table, removals } of writes.toReversed()) await deleteRows(tx, table, removals)
      for (const { table, updates } of writes) await updateRows(tx, table, updates, pathOf)
      for (const { table, inserts } of writes) await insertRows(tx, table, inserts, pathOf)
    },
  }
}
