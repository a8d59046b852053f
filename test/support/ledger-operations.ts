import fc from 'fast-check'
import { dec, shown, times } from './decimals.ts'
import type { Body, Investment } from './ledger-types.ts'

/** The days that random histories use; the investments, prices and steps follow below. */
export const days = ['01', '02', '03', '05', '06', '07', '08', '10'].map((day) => `2026-03-${day}`)
/** Days by the product's calendar, which become dates when a step is taken. */
export const moments = ['today', 'tomorrow', 'too late'] as const
const dates = [...days, ...days, ...days, 'today', 'today', 'tomorrow', 'tomorrow', 'too late']
/** Time zones, of which the first two have different dates at any moment. */
export const zones = ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Australia/Sydney', 'UTC']
export const investments: Investment[] = [
  {
    units: 4,
    cents: 2,
    currency: 1,
    prices: [
      { date: '2026-03-02', price: '1.0425' },
      { date: '2026-03-06', price: '1.1', application: '1.113', redemption: '1.0999' },
    ],
  },
  { units: 0, cents: 2, currency: 1, prices: [{ date: '2000-01-01', price: '2.5' }] },
  { units: 8, cents: 2, currency: 1, prices: [{ date: '2026-03-01', price: '0.333333333333333' }] },
  { units: 3, cents: 0, currency: 8, prices: [{ date: '2026-03-01', price: '101.37' }] },
]

/** What units are worth at a price, if one is given. */
export const worthOf = (units: bigint, investment: number, price: string | undefined) =>
  price && times(units, dec(price), investments[investment]!.cents)

const decimal = (most: number, decimals: number) =>
  fc
    .tuple(fc.integer({ min: 1, max: most }), fc.integer({ min: 0, max: decimals }))
    .map(([digits, scale]) => shown(BigInt(digits) * 10n ** BigInt(18 - scale)))
const sometimes = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: undefined, freq: 1 })
const rarely = <T>(arb: fc.Arbitrary<T>) =>
  fc.integer({ min: 0, max: 7 }).chain((n) => (n === 0 ? arb : fc.constant(undefined)))

const account = fc.integer({ min: 0, max: 1 })
const investment = fc.constantFrom(0, 0, 0, 1, 2, 3)
/** The ends of transfers and conversions; now and then the same, or in different currencies. */
const accounts = fc.constantFrom<[number, number]>([0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [0, 0])
const exchange = fc.constantFrom<[number, number]>(
  ...([
    [0, 1],
    [1, 0],
    [0, 2],
    [2, 0],
    [1, 2],
    [2, 1],
    [0, 2],
    [0, 3],
    [3, 3],
  ] as [number, number][]),
)
const money = decimal(500_000, 3)
const price = decimal(99_999, 5)
const common = {
  date: fc.constantFrom(...dates),
  investmentPrice: rarely(price),
  comment: rarely(fc.constantFrom('a', 'ß')),
}
const place = { account, investment }
const list = <T>(item: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.tuple(item) }, fc.array(item, { minLength: 2, maxLength: 4 }))

const depositBody = fc.record({
  ...common,
  amount: money,
  quantity: rarely(decimal(90_000, 5)),
  entryFeeAmount: rarely(decimal(90_000, 3)),
  entryFeePercentage: rarely(decimal(100, 2)),
  entryFeeDiscountPercentage: rarely(decimal(100, 2)),
  entryFeeOverridePercentage: rarely(decimal(100, 2)),
})
const figure = fc.oneof(
  fc.record({ quantity: decimal(20_000, 5) }),
  fc.record({ amount: decimal(20_000, 3) }),
  fc.record({ quantity: decimal(20_000, 5), amount: decimal(20_000, 3) }),
)
const movingBody = fc
  .tuple(fc.record(common), figure)
  .map(([one, other]) => ({ ...one, ...other }) as Body)
const signed = fc
  .tuple(fc.boolean(), decimal(30_000, 5), rarely(decimal(30_000, 3)), rarely(fc.boolean()))
  .map(([negative, quantity, amount, wrong]) => ({
    quantity: negative ? `-${quantity}` : quantity,
    amount: amount && (negative !== Boolean(wrong) ? `-${amount}` : amount),
  }))
const adjusting = fc
  .tuple(fc.record(common), signed)
  .map(([one, other]) => ({ ...one, ...other }) as Body)
const setting = fc.record({
  ...common,
  quantity: fc.oneof(fc.constant('0'), decimal(20_000, 5)),
})
const updating = fc.record({
  date: sometimes(fc.constantFrom(...dates)),
  quantity: sometimes(decimal(20_000, 5)),
  amount: sometimes(decimal(20_000, 3)),
  investmentPrice: rarely(price),
  comment: rarely(fc.constantFrom('b', '漢')),
  external: rarely(fc.constantFrom('x', 'y', 'z')),
})

const single = (kind: string, typeID: number, body: fc.Arbitrary<Body>) =>
  fc.record({
    kind: fc.constant(kind),
    typeID: fc.constant(typeID),
    items: list(fc.record({ ...place, body })),
  })
export const operation = fc.oneof(
  { weight: 4, arbitrary: single('Deposit', 1, depositBody) },
  { weight: 2, arbitrary: single('Allotment', 2, movingBody) },
  { weight: 4, arbitrary: single('Redemption', 3, movingBody) },
  { weight: 2, arbitrary: single('Adjustment', 6, adjusting) },
  { weight: 2, arbitrary: single('SetQuantity', 7, setting) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('RedeemAll'),
      ...place,
      ...common,
      worthAt: sometimes(price),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('Transfer'),
      ends: accounts,
      investment,
      body: fc.record({
        ...common,
        quantity: decimal(20_000, 5),
        amount: rarely(money),
        costBasis: sometimes(fc.constantFrom('Carry', 'Market')),
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('Conversion'),
      account,
      ends: exchange,
      factor: sometimes(decimal(5_000, 3)),
      toPrice: rarely(price),
      worthAt: rarely(price),
      body: movingBody,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('Update'),
      which: fc.nat(),
      body: updating,
      wrongSign: rarely(fc.constant(true)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('Rollback'),
      which: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }),
    }),
  },
) as fc.Arbitrary<Operation>

type Item = { account: number; investment: number; body: Body }
export type Operation =
  | {
      kind: 'Deposit' | 'Allotment' | 'Redemption' | 'Adjustment' | 'SetQuantity'
      typeID: number
      items: Item[]
    }
  | {
      kind: 'RedeemAll'
      account: number
      investment: number
      date: string
      /** If given, redeems the holding's value at this price as money; otherwise all its units. */
      worthAt?: string
    }
  | { kind: 'Transfer'; ends: [number, number]; investment: number; body: Body }
  | {
      kind: 'Conversion'
      account: number
      ends: [number, number]
      factor?: string
      toPrice?: string
      /** If given, converts the holding's value at this price as money, and not what `body` has. */
      worthAt?: string
      body: Body
    }
  | { kind: 'Update'; which: number; body: Body; wrongSign?: boolean }
  | { kind: 'Rollback'; which: number[] }
