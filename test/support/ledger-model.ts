import { dec, over, percentOf, round, shown, times, timesOver } from './decimals.ts'

/**
 * The ledger as one would write it down: a list of transactions, gone through from the start for
 * every question. It knows nothing of the service but its rules.
 */
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
}

export type Leg = Omit<Tx, 'n' | 'statusID' | 'parent'>
export type Body = Record<string, string | undefined>
export type State = { quantity: bigint; invested: bigint; cost: bigint; gain: bigint }

/** What the service should say: the rows it writes, or the status and the shortfalls. */
export type Answer = { rows: Tx[] } | { status: 400 | 409; short?: string[] }

const zero: State = { quantity: 0n, invested: 0n, cost: 0n, gain: 0n }
const [deposit, allotment, redemption, out, into, adjustment, set, away, arrival] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9,
]

export type Model = ReturnType<typeof modelOf>

export function modelOf(investments: Investment[]) {
  let txs: Tx[] = []

  const counting = () =>
    txs
      .filter(({ statusID }) => statusID !== 3)
      .sort((a, b) => (a.date === b.date ? a.n - b.n : a.date < b.date ? -1 : 1))

  /** The state of every holding after each transaction that counts, in their order. */
  function history(): { tx: Tx; own: State; accountQuantity: bigint; accountInvested: bigint }[] {
    const states = new Map<string, State>()
    return counting().map((tx) => {
      const key = `${tx.account} ${tx.investment}`
      const own = after(states.get(key) ?? zero, tx)
      states.set(key, own)
      const account = [...states].filter(([name]) => name.startsWith(`${tx.account} `))
      const sum = (of: (state: State) => bigint) =>
        account.reduce((total, [, state]) => total + of(state), 0n)
      return {
        tx,
        own,
        accountQuantity: sum(({ quantity }) => quantity),
        accountInvested: sum(({ invested }) => invested),
      }
    })
  }

  function after({ quantity, invested, cost, gain }: State, tx: Tx): State {
    const { cents } = investments[tx.investment]!
    const left = quantity + tx.quantity
    if (tx.quantity > 0n)
      return { quantity: left, invested: invested + tx.amount, cost: cost + tx.amount, gain }
    const sold = left <= 0n ? cost : timesOver(cost, -tx.quantity, quantity, cents)
    return {
      quantity: left,
      invested: invested + tx.amount,
      cost: cost - sold,
      gain: gain - tx.amount - sold,
    }
  }

  /** The holdings at the end of a day, those of no units left out. */
  function holdings(date: string): Map<string, State> {
    const states = new Map<string, State>()
    for (const { tx, own } of history())
      if (tx.date <= date) states.set(`${tx.account} ${tx.investment}`, own)
    return new Map([...states].filter(([, { quantity }]) => quantity > 0n))
  }

  const held = (account: number, investment: number, date = '9999-12-31') =>
    counting()
      .filter((tx) => tx.account === account && tx.investment === investment && tx.date <= date)
      .reduce((sum, { quantity }) => sum + quantity, 0n)

  /** The first day on which each holding is short, and by how much. */
  function shortfalls(): string[] {
    const first = new Map<string, string>()
    for (const { tx, own } of history()) {
      const key = `${tx.account} ${tx.investment}`
      if (own.quantity < 0n && !first.has(key))
        first.set(key, `short by ${shown(-own.quantity)} units on ${tx.date}`)
    }
    return [...first.values()].sort()
  }

  /** Does it if no holding goes negative; else leaves everything as it was. */
  function attempt(change: () => Tx[]): Answer {
    const before = txs
    txs = before.map((tx) => ({ ...tx }))
    const rows = change()
    const short = shortfalls()
    if (short.length === 0) return { rows }
    txs = before
    return { status: 409, short }
  }

  function add(legs: Leg[], paired: boolean): Tx[] {
    const start = txs.length
    const rows = legs.map((leg, i) => ({
      ...leg,
      n: start + i,
      statusID: 1 as const,
      parent: paired && i === 1 ? start : undefined,
    }))
    txs.push(...rows)
    return rows
  }

  function priceOn(investment: number, date: string, side: 'application' | 'redemption' | 'price') {
    const known = investments[investment]!.prices.filter((one) => one.date <= date)
    const last = known.sort((a, b) => (a.date < b.date ? -1 : 1)).at(-1)
    return last && dec(last[side] ?? last.price)
  }

  /** Price, units and money of a leg, unsigned; undefined where they cannot be worked out. */
  function figures(body: Body, typeID: number, investment: number, priceField: string) {
    const { units, cents } = investments[investment]!
    const given = (field: string) => (body[field] === undefined ? undefined : dec(body[field]))
    const [quantity, amount] = [given('quantity'), given('amount')]
    const side =
      typeID === away
        ? 'price'
        : typeID === redemption || typeID === out || (quantity ?? 0n) < 0n
          ? 'redemption'
          : 'application'
    const price = given(priceField) ?? priceOn(investment, body.date!, side)
    const money = amount === undefined ? undefined : round(amount, cents)
    const fee = feeOf(body, money ?? 0n, cents)
    const q =
      quantity !== undefined
        ? round(quantity, units)
        : money !== undefined && price !== undefined
          ? over(money - fee, price, units)
          : undefined
    const a =
      money ??
      (quantity !== undefined && price ? times(round(quantity, units), price, cents) : undefined)
    return { price, quantity: q, amount: a ?? (typeID === adjustment ? 0n : undefined), fee }
  }

  function feeOf(body: Body, amount: bigint, cents: number): bigint {
    if (body.entryFeeAmount !== undefined) return round(dec(body.entryFeeAmount), cents)
    if (body.entryFeeOverridePercentage !== undefined)
      return percentOf(amount, dec(body.entryFeeOverridePercentage), 0n, cents)
    const discount = dec(body.entryFeeDiscountPercentage ?? '0')
    return percentOf(amount, dec(body.entryFeePercentage ?? '0'), discount, cents)
  }

  /** Deposit, Allotment, Redemption or Adjustment, one or several. */
  function single(
    typeID: number,
    bodies: { account: number; investment: number; body: Body }[],
  ): Answer {
    const legs: Leg[] = []
    for (const { account, investment, body } of bodies) {
      const worked = figures(body, typeID, investment, 'investmentPrice')
      const { quantity, amount, price, fee } = worked
      if (quantity === undefined || amount === undefined || quantity === 0n) return { status: 400 }
      if (typeID === deposit && (fee > amount || body.amount === undefined)) return { status: 400 }
      if (typeID === adjustment && amount !== 0n && amount < 0n !== quantity < 0n)
        return { status: 400 }
      const sign = typeID === redemption ? -1n : 1n
      legs.push({
        typeID,
        account,
        investment,
        date: body.date!,
        quantity: sign * quantity,
        amount: sign * amount,
        price,
        external: body.external,
        comment: body.comment,
      })
    }
    return attempt(() => add(legs, false))
  }

  function transfer(from: number, to: number, investment: number, body: Body): Answer {
    const { quantity, amount, price } = figures(body, away!, investment, 'investmentPrice')
    if (!quantity || amount === undefined || from === to) return { status: 400 }
    const leg = { investment, date: body.date!, price, comment: body.comment }
    return attempt(() =>
      add(
        [
          {
            ...leg,
            typeID: away!,
            account: from,
            quantity: -quantity,
            amount: -amount,
            external: body.external,
          },
          { ...leg, typeID: arrival!, account: to, quantity, amount, external: undefined },
        ],
        true,
      ),
    )
  }

  function convert(account: number, from: number, to: number, body: Body): Answer {
    const [source, target] = [investments[from]!, investments[to]!]
    if (from === to || source.currency !== target.currency) return { status: 400 }
    const { quantity, amount, price } = figures(body, out!, from, 'fromInvestmentPrice')
    const toPrice =
      body.toInvestmentPrice === undefined
        ? priceOn(to, body.date!, 'application')
        : dec(body.toInvestmentPrice)
    if (!quantity || amount === undefined) return { status: 400 }
    const factor = body.conversionFactor
    if (factor === undefined && toPrice === undefined) return { status: 400 }
    const gets =
      factor === undefined
        ? over(amount, toPrice!, target.units)
        : times(quantity, dec(factor), target.units)
    if (gets === 0n) return { status: 400 }
    const leg = { account, date: body.date!, external: undefined, comment: body.comment }
    return attempt(() =>
      add(
        [
          { ...leg, typeID: out!, investment: from, quantity: -quantity, amount: -amount, price },
          { ...leg, typeID: into!, investment: to, quantity: gets, amount, price: toPrice },
        ],
        true,
      ),
    )
  }

  /** Each target holds at the end of its day: by day, then in the order given. */
  function setQuantity(bodies: { account: number; investment: number; body: Body }[]): Answer {
    const places = bodies
      .map((_, i) => i)
      .sort((a, b) => {
        const [x, y] = [bodies[a]!.body.date!, bodies[b]!.body.date!]
        return x === y ? a - b : x < y ? -1 : 1
      })
    const legs: (Leg | undefined)[] = bodies.map(() => undefined)
    for (const place of places) {
      const { account, investment, body } = bodies[place]!
      const { units, cents } = investments[investment]!
      const earlier = legs.reduce(
        (sum, leg) =>
          leg?.account === account && leg.investment === investment ? sum + leg.quantity : sum,
        0n,
      )
      const before = held(account, investment, body.date) + earlier
      const quantity = round(dec(body.quantity), units) - before
      if (quantity === 0n) continue
      const price =
        body.investmentPrice === undefined
          ? priceOn(investment, body.date!, quantity < 0n ? 'redemption' : 'application')
          : dec(body.investmentPrice)
      const amount = price === undefined ? 0n : times(quantity, price, cents)
      legs[place] = {
        typeID: set!,
        account,
        investment,
        date: body.date!,
        quantity,
        amount,
        price,
        external: body.external,
        comment: body.comment,
      }
    }
    return attempt(() =>
      add(
        legs.filter((leg) => leg !== undefined),
        false,
      ),
    )
  }

  const family = (tx: Tx) => {
    const root = tx.parent ?? tx.n
    return txs.filter(({ n, parent }) => n === root || parent === root)
  }

  function update(n: number, body: Body): Answer {
    const legs = family(txs[n]!)
    if (legs.some(({ statusID }) => statusID === 3)) return { status: 409 }
    const own = txs[n]!
    const inward = [deposit, allotment, into, arrival].includes(own.typeID)
    const outward = [redemption, out, away].includes(own.typeID)
    const { cents, units } = investments[own.investment]!
    const [quantity, amount] = [body.quantity, body.amount].map((x) => x && dec(x))
    if (quantity === 0n) return { status: 400 }
    for (const figure of [quantity, amount])
      if (typeof figure === 'bigint' && (figure < 0n ? inward : outward && figure !== 0n))
        return { status: 400 }
    const q = typeof quantity === 'bigint' ? round(quantity, units) : own.quantity
    const a = typeof amount === 'bigint' ? round(amount, cents) : own.amount
    if (q === 0n || (q < 0n ? a > 0n : a < 0n)) return { status: 400 }
    const together = ['date', 'quantity', 'amount', 'investmentPrice'].some(
      (field) => body[field] !== undefined,
    )
    const isTransfer = own.typeID === away || own.typeID === arrival
    return attempt(() => {
      const changed = txs.filter(
        (tx) => tx.n === n || (together && legs.some((leg) => leg.n === tx.n)),
      )
      for (const tx of changed) {
        tx.statusID = 2
        tx.date = body.date ?? tx.date
        if (tx.n !== n && !isTransfer) continue
        if (body.investmentPrice !== undefined) tx.price = dec(body.investmentPrice)
        tx.quantity = tx.n === n ? q : -q
        tx.amount = tx.n === n ? a : -a
        if (tx.n !== n) continue
        tx.comment = body.comment
        tx.external = body.external
      }
      return changed
    })
  }

  function rollBack(numbers: number[]): Answer {
    const families = new Set(numbers.flatMap((n) => family(txs[n]!).map((tx) => tx.n)))
    const all = txs.filter(({ n }) => families.has(n))
    if (all.some(({ statusID }) => statusID === 3)) return { status: 409 }
    return attempt(() => {
      const gone = txs.filter(({ n }) => families.has(n))
      for (const tx of gone) tx.statusID = 3
      return gone
    })
  }

  return {
    transactions: () => txs,
    history,
    holdings,
    held,
    single,
    transfer,
    convert,
    setQuantity,
    update,
    rollBack,
  }
}
