import type { Problem } from '../refusal.ts'
import type { Figures } from './figures.ts'
import type { Body, Kind, Leg } from './legs.ts'

/** A body on its way into the ledger, with whatever is found wrong with it. */
export type Item = {
  request: number
  kind: Kind
  path: string
  body: Body
  /** The notices it settles, one for each leg. */
  eventIDs: number[]
  flaws: { status: 400 | 404 | 409; problem: Problem }[]
}

/** A leg with what was found for it. */
export type Row = Leg & {
  item: Item
  leg: number
  /** The first leg of the same item; itself, where it is that. */
  first?: Row
  accountID: number
  investmentID: number
  productID: number
  figures?: Figures
  /** Given when it is written. */
  id?: number
}

export function addFlaws({ flaws }: Item, status: 400 | 404 | 409, problems: Problem[]) {
  flaws.push(...problems.map((problem) => ({ status, problem })))
}
