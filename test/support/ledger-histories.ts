import type pg from 'pg'
import { rowsOf } from './database.ts'

/**
 * Makes the database treat histories with more than `rows` rows as long, so that short tests cover
 * long histories. Call it before the service connects.
 */
export const shortAsLong = (connection: pg.ClientConfig, rows = 0, sales = 2) =>
  rowsOf(
    connection,
    `do $$ begin
      execute format('alter database %1$I set registry.rows_at_once = ${rows};
        alter database %1$I set registry.sales_per_mark = ${sales}', current_database());
    end $$`,
  )
