import type { Problem } from '../../platform/refusal.ts'
import type { TakenEvent } from '../biz-event/hand-off.ts'
import type { Figures, Standing } from './figures.ts'
import type { Body, Leg, Operation } from './legs.ts'

/**
 * A posting goes through three stages: accept finds the records that its bodies name, price works
 * out the figures, write locks and writes. A stage returns rows of its own type and the flaws that
 * it found; it does not modify the rows that it was given.
 */

/** One call of a posting operation: its bodies stand or fall together. */
export type PostingRequest = {
  operation: Operation
  bodies: readonly Body[]
  path: (item: number) => string
}

/** A body on its way into the ledger. */
export type Item = {
  /** Its place among the items of all requests of a list. */
  place: number
  /** The place of its request in the list. */
  request: number
  operation: Operation
  path: string
  body: Body
  /** The notices it settles, one for each leg. */
  events: readonly TakenEvent[]
}

/** What a stage found wrong with an item. */
export type Flaw = {
  item: Item
  status: 400 | 404 | 409
  problem: Problem
  /** The flaw is due to another request: tried again, the item may pass. */
  contested?: boolean
}

/** The rows that a stage made, and the flaws that it found. */
export type Staged<Row> = { rows: Row[]; flaws: Flaw[] }

/** A leg whose product, account and investment are found. */
export type Accepted = {
  item: Item
  /** 0 for the first leg of its item, 1 for the second. */
  leg: number
  asked: Leg
  productID: number
  accountID: number
  investmentID: number
}

/** A leg with its price, units and money, and its circumstances. */
export type Priced = Accepted & {
  figures: Figures
  standing: Standing
  /** The rolled-back transaction whose external id this leg takes over. */
  releases?: number
}

/** A leg as it is written. */
export type Posted = Priced & { id: number; parentID: number | null }

/** The rows of items without a flaw. */
export function whole<Row extends { item: Item }>(rows: readonly Row[], flaws: readonly Flaw[]) {
  const flawed = new Set(flaws.map(({ item }) => item.place))
  return rows.filter(({ item }) => !flawed.has(item.place))
}
