import type pg from 'pg'
import { rowsOf } from './database.ts'

/**
 * What is done with long histories is done with those that have more than a few rows: for tests,
 * before the service connects.
 */
export const shortAsLong = (connection: pg.ClientConfig, rows = 0, sales = 2) =>
  rowsOf(
    connection,
    `do $$ begin
      execute format('alter database %1$I set registry.rows_at_once = ${rows};
        alter database %1$I set registry.sales_per_mark = ${sales}', current_database());
    end $$`,
  )
