import type { Fragment, Snapshot } from '../../platform/sql/handle.ts'
import type { Letter } from './letter.ts'

/** What statements are about, every id resolved and every date set. */
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

/** One holder's account, with what the kind of statement tells of it. */
export type Holding<Data> = { accountNumber: string; addressee: string[]; data: Data }

/**
 * A kind of statement: what all letters of an order share is read once; a select yields a row with
 * account_id and data for each account; and a letter is made of the two, in another process.
 */
export type StatementKind<Shared, Data> = {
  /** The day that stands in the names of files. */
  shared: (snapshot: Snapshot, subject: StatementSubject) => Promise<Shared & { day: string }>
  accounts: (subject: StatementSubject, shared: Shared) => Fragment
  letter: (shared: Shared, holding: Holding<Data>) => Letter
}
