/** What the model of the ledger is made of. */
export type Price = { date: string; price: string; application?: string; redemption?: string }
export type Investment = { units: number; cents: number; currency: number; prices: Price[] }

export type Tx = {
  /** Its place in the order of creation: stands for the id. */
  n: number
  typeID: number
  account: number
  investment: number
  date: string
  quantity: bigint
  amount: bigint
  price: bigint | undefined
  statusID: 1 | 2 | 3
  parent: number | undefined
  external: string | undefined
  comment: string | undefined
  /** Its cost goes along: out of the register, or to the other leg. */
  carries: boolean
  byQuantity: boolean
  fee: bigint
  /** In percent, where the fee is one. */
  feeRate: bigint | undefined
  /** Of the second leg of a conversion. */
  factor: bigint | undefined
}

export type Leg = Omit<Tx, 'n' | 'statusID' | 'parent'>
export type Body = Record<string, string | undefined>
export type State = { quantity: bigint; invested: bigint; cost: bigint; gain: bigint }

/** What the service should say: the rows it writes, or the status and the shortfalls. */
export type Answer = { rows: Tx[] } | { status: 400 | 409; short?: string[] } | typeof closed

/** A day of a closed period: refused, unless something else is wrong with it as well. */
export const closed = { status: 409, orElse: 400 } as const
