/** The types of the ledger model (ledger-model.ts). */
export type Price = { date: string; price: string; application?: string; redemption?: string }
export type Investment = { units: number; cents: number; currency: number; prices: Price[] }

export type Tx = {
  /** The place of the transaction in the order of creation; it stands for the id. */
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
  /** The cost of the units goes along with them: out of the register, or to the other leg. */
  carries: boolean
  byQuantity: boolean
  fee: bigint
  /** The fee in percent; undefined if the fee is an amount. */
  feeRate: bigint | undefined
  /** The conversion factor, in the second leg of a conversion. */
  factor: bigint | undefined
}

export type Leg = Omit<Tx, 'n' | 'statusID' | 'parent'>
export type Body = Record<string, string | undefined>
export type State = { quantity: bigint; invested: bigint; cost: bigint; gain: bigint }

/** The expected answer of the service: the rows it writes, or a status with the shortfalls. */
export type Answer = { rows: Tx[] } | { status: 400 | 409; short?: string[] } | typeof closed

/** A day in a closed period: 409, or 400 if something else is wrong with the request, too. */
export const closed = { status: 409, orElse: 400 } as const
