import type { Fragment, Snapshot } from '../../platform/sql/handle.ts'
import type { Letter } from './letter.ts'

/** The subject of an order for investor statements, with every id resolved and every date set. */
export type StatementSubject = {
  productID: number
  investmentID: number | null
  corporateActionID: number | null
  bizEntityID: number | null
  accountID: number | null
  date: string
  fromDate: string | null
  toDate: string
}

/** One account, and the data that this kind of investor statement shows for it. */
export type Holding<Data> = { accountNumber: string; addressee: string[]; data: Data }

/**
 * A kind of investor statement. `shared` reads once what all letters of an order have in common;
 * `accounts` selects a row with account_id and data for each account; `letter` makes a letter of
 * both in another process.
 */
export type StatementKind<Shared, Data> = {
  /** Also returns the day that appears in the file names. */
  shared: (snapshot: Snapshot, subject: StatementSubject) => Promise<Shared & { day: string }>
  accounts: (subject: StatementSubject, shared: Shared) => Fragment
  letter: (shared: Shared, holding: Holding<Data>) => Letter
}
