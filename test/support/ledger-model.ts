import { dec, over, round, shown, times, timesOver } from './decimals.ts'
import { correctionsOf, feeOf, type Given, rateOf } from './ledger-corrections.ts'
import type { Answer, Body, Investment, Leg, State, Tx } from './ledger-types.ts'

/**
 * A model of the ledger: a plain list of transactions that is read from the start for every
 * question. It shares only the rules with the service, and no code.
 */
const zero: State = { quantity: 0n, invested: 0n, cost: 0n, gain: 0n }
const [deposit, allotment, redemption, out, into, adjustment, set, away, arrival] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9,
]

/** The fields that only deposits and conversions use, empty for all other transactions. */
const free = { fee: 0n, feeRate: undefined, factor: undefined }

export function modelOf(investments: Investment[]) {
  let txs: Tx[] = []
  const { corrected, correctedPair, isWrong } = correctionsOf(investments)

  const counting = () =>
    txs
      .filter(({ statusID }) => statusID !== 3)
      .sort((a, b) => (a.date === b.date ? a.n - b.n : a.date < b.date ? -1 : 1))

  /** The state of every holding after each transaction that counts, in their order. */
  function history(): { tx: Tx; own: State; accountQuantity: bigint; accountInvested: bigint }[] {
    const states = new Map<string, State>()
    /** The cost that went along with the units of a first leg, by the number of that leg. */
    const carried = new Map<number, bigint>()
    return counting().map((tx) => {
      const key = `${tx.account} ${tx.investment}`
      const before = states.get(key) ?? zero
      const own = after(before, tx, carried.get(tx.parent ?? -1))
      if (tx.carries) carried.set(tx.n, before.cost - own.cost)
      states.set(key, own)
      const account = [...states].filter(([name]) => name.startsWith(`${tx.account} `))
      const { currency } = investments[tx.investment]!
      const sameCurrency = account.filter(
        ([name]) => investments[Number(name.split(' ')[1])]!.currency === currency,
      )
      return {
        tx,
        own,
        accountQuantity: account.reduce((total, [, { quantity }]) => total + quantity, 0n),
        accountInvested: sameCurrency.reduce((total, [, { invested }]) => total + invested, 0n),
      }
    })
  }

  function after({ quantity, invested, cost, gain }: State, tx: Tx, along = 0n): State {
    const { cents } = investments[tx.investment]!
    const left = quantity + tx.quantity
    const brought = tx.carries ? along : tx.amount
    if (tx.quantity > 0n)
      return { quantity: left, invested: invested + brought, cost: cost + brought, gain }
    const sold = left <= 0n ? cost : timesOver(cost, -tx.quantity, quantity, cents)
    if (tx.carries) return { quantity: left, invested: invested - sold, cost: cost - sold, gain }
    return {
      quantity: left,
      invested: invested + tx.amount,
      cost: cost - sold,
      gain: gain - tx.amount - sold,
    }
  }

  /** The holdings at the end of a day, without those that have no units. */
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

  /** For each holding that goes below zero, the first day on which it does, and by how much. */
  function shortfalls(): string[] {
    const first = new Map<string, string>()
    for (const { tx, own } of history()) {
      const key = `${tx.account} ${tx.investment}`
      if (own.quantity < 0n && !first.has(key))
        first.set(key, `short by ${shown(-own.quantity)} units on ${tx.date}`)
    }
    return [...first.values()].sort()
  }

  /** Makes a change, unless a holding would go below zero; then everything stays as it was. */
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

  type Figures = ReturnType<typeof figures>

  /** The price, units and money of a leg as asked for; undefined if they cannot be worked out. */
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
    const carries =
      (typeID === away && body.costBasis === 'Carry') ||
      (typeID === out && body.conversionFactor !== undefined) ||
      (typeID === adjustment && amount === undefined && (quantity ?? 0n) < 0n)
    const worthNothing = typeID === adjustment || carries
    return {
      price,
      quantity: q,
      amount: a ?? (worthNothing ? 0n : undefined),
      fee,
      carries,
      feeRate: rateOf(body),
      byQuantity: quantity !== undefined && amount === undefined,
    }
  }

  /** Money that is exactly the value of all units takes no more units than there are. */
  function wholeOr({ quantity, amount, price }: Figures, account: number, of: number, body: Body) {
    const all = held(account, of, body.date)
    const isWhole = price !== undefined && times(all, price, investments[of]!.cents) === amount
    return all > 0n && isWhole && (quantity ?? 0n) > all ? all : quantity
  }

  /** Posts one or several Deposits, Allotments, Redemptions or Adjustments. */
  function single(
    typeID: number,
    bodies: { account: number; investment: number; body: Body }[],
  ): Answer {
    const legs: Leg[] = []
    for (const { account, investment, body } of bodies) {
      const worked = figures(body, typeID, investment, 'investmentPrice')
      const { amount, price, fee, carries, feeRate, byQuantity } = worked
      const isByMoney = typeID === redemption && body.quantity === undefined
      const quantity = isByMoney ? wholeOr(worked, account, investment, body) : worked.quantity
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
        carries,
        byQuantity,
        fee,
        feeRate: typeID === deposit ? feeRate : undefined,
        factor: undefined,
      })
    }
    return attempt(() => add(legs, false))
  }

  function transfer(from: number, to: number, investment: number, body: Body): Answer {
    const worked = figures(body, away!, investment, 'investmentPrice')
    const { quantity, amount, price, carries, byQuantity } = worked
    if (!quantity || amount === undefined || from === to) return { status: 400 }
    const leg = {
      investment,
      date: body.date!,
      price,
      comment: body.comment,
      carries,
      byQuantity,
      ...free,
    }
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
    const worked = figures(body, out!, from, 'fromInvestmentPrice')
    const { amount, price, carries, byQuantity } = worked
    const toPrice =
      body.toInvestmentPrice === undefined
        ? priceOn(to, body.date!, 'application')
        : dec(body.toInvestmentPrice)
    if (!worked.quantity || amount === undefined) return { status: 400 }
    const factor = body.conversionFactor
    if (factor === undefined && toPrice === undefined) return { status: 400 }
    const getsFor = (units: bigint) =>
      factor === undefined
        ? over(amount, toPrice!, target.units)
        : times(units, dec(factor), target.units)
    if (getsFor(worked.quantity) === 0n) return { status: 400 }
    const whole = body.quantity === undefined ? wholeOr(worked, account, from, body)! : undefined
    const quantity = whole && getsFor(whole) > 0n ? whole : worked.quantity
    const gets = getsFor(quantity)
    const leg = {
      account,
      date: body.date!,
      external: undefined,
      comment: body.comment,
      carries,
      ...free,
    }
    const first = { typeID: out!, investment: from, quantity: -quantity, amount: -amount, price }
    const second = { typeID: into!, investment: to, quantity: gets, amount, price: toPrice }
    const by = factor === undefined ? undefined : dec(factor)
    return attempt(() =>
      add(
        [
          { ...leg, ...first, byQuantity },
          { ...leg, ...second, byQuantity: false, factor: by },
        ],
        true,
      ),
    )
  }

  /** Each target holds at the end of its day; they are met by day, then in the order given. */
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
        carries: quantity < 0n,
        byQuantity: true,
        ...free,
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
    const given: Given = {
      ...(body.quantity !== undefined && { quantity: dec(body.quantity) }),
      ...(body.amount !== undefined && { amount: dec(body.amount) }),
      ...(body.investmentPrice !== undefined && { price: dec(body.investmentPrice) }),
    }
    if (given.quantity === 0n) return { status: 400 }
    for (const figure of [given.quantity, given.amount])
      if (figure !== undefined && (figure < 0n ? inward : outward && figure !== 0n))
        return { status: 400 }
    const other = legs.find((leg) => leg.n !== n)
    const moves = Object.keys(given).length > 0
    const figures = other ? correctedPair(own, other, given) : new Map([[n, corrected(own, given)]])
    if (moves && [...figures.values()].some(isWrong)) return { status: 400 }
    const together = moves || body.date !== undefined
    return attempt(() => {
      const changed = txs.filter(
        (tx) => tx.n === n || (together && legs.some((leg) => leg.n === tx.n)),
      )
      for (const tx of changed) {
        tx.statusID = 2
        tx.date = body.date ?? tx.date
        if (moves) Object.assign(tx, figures.get(tx.n))
        if (tx.n !== n) continue
        tx.comment = body.comment ?? tx.comment
        tx.external = body.external ?? tx.external
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
