import type { Problem } from '../../platform/refusal.ts'
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
  /** A flaw is there because of another request of the list: alone, it may pass. */
  contested?: boolean
}

/** A leg with what was found for it. */
export type Row = Leg & {
  item: Item
  leg: number
  /** The first leg of the same item; itself, where it is that. */
  first: Row | undefined
  accountID: number
  investmentID: number
  productID: number
  figures: Figures | undefined
  /** The units a set quantity asks for; its figures are those of the difference. */
  target: string | null | undefined
  /** Given when it is written. */
  id: number | undefined
}

/**
 * Every field from the start and one by one: rows that grow, or are spread, are slow in all that
 * reads them, which for an array of a thousand was a third of our time.
 */
export const rowOf = (asked: Leg, item: Item, leg: number) =>
  ({
    typeID: asked.typeID,
    account: asked.account,
    investment: asked.investment,
    quantity: asked.quantity,
    amount: asked.amount,
    price: asked.price,
    externalID: asked.externalID,
    externalIDField: asked.externalIDField,
    fee: asked.fee,
    conversion: asked.conversion,
    item,
    leg,
    first: undefined,
    accountID: undefined,
    investmentID: undefined,
    productID: undefined,
    figures: undefined,
    target: undefined,
    id: undefined,
  }) as unknown as Row

/** Two legs may have the same thing wrong with them; it is told once. */
export function addFlaws({ flaws }: Item, status: 400 | 404 | 409, problems: Problem[]) {
  for (const problem of problems)
    if (!flaws.some((known) => known.problem.message === problem.message))
      flaws.push({ status, problem })
}
