import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { dec, shown } from '../support/decimals.ts'
import {
  assertFigures,
  choose,
  configure,
  entitled,
  keyOf,
  stage,
  takeBack,
} from '../support/distribution.ts'
import {
  declare,
  type Holder,
  payLeft,
  plainOf,
  reinvest,
  type Share,
  type Terms,
} from '../support/distribution-model.ts'
import { all, assertVerified, newFund, newPrice, only, poster } from '../support/ledger.ts'
import { type Service, startService } from '../support/service.ts'
import { walks } from '../support/walks.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const dayOf = (offset: number) => new Date(Date.UTC(2025, 0, 1 + offset)).toISOString().slice(0, 10)
const four = (n: number) => (n / 10_000).toFixed(4)

const movement = fc.record({
  offset: fc.integer({ min: 0, max: 220 }),
  units: fc.integer({ min: 1, max: 30_000_000 }),
  cents: fc.integer({ min: 1, max: 5_000_000 }),
  /** The percentage of the held units that goes out; with 0 units come in. */
  out: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 100 })),
})
const holder = fc.record({
  movements: fc.array(movement, { maxLength: 5 }),
  drpType: fc.integer({ min: 1, max: 4 }),
  percentage: fc.integer({ min: 0, max: 10_000 }),
  units: fc.integer({ min: 0, max: 40_000_000 }),
  list: fc.constantFrom('', '', '', '', 'listed', 'included', 'excluded'),
  listed: fc.integer({ min: 0, max: 100_000 }),
})
const round = fc.record({
  method: fc.constantFrom('perUnit', 'total', 'cents', 'percent' as const),
  rate: fc.integer({ min: 1, max: 999_999_999 }),
  record: fc.integer({ min: 60, max: 210 }),
  period: fc.option(fc.tuple(fc.nat({ max: 100 }), fc.nat({ max: 100 })), { nil: undefined }),
  valuation: fc.constantFrom('ClosingPrice', 'VWAP', 'Fixed'),
  weights: fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 4 }),
  offered: fc.boolean(),
  drpPrice: fc.integer({ min: 1, max: 5_000_000 }),
  pay: fc.integer({ min: 100, max: 230 }),
  allotLater: fc.integer({ min: 0, max: 20 }),
  /** How many stages are reversed and done again. */
  back: fc.integer({ min: 0, max: 3 }),
})
const scenario = fc.record({
  holders: fc.array(holder, { minLength: 1, maxLength: 6 }),
  rounds: fc.array(round, { minLength: 1, maxLength: 3 }),
  yen: fc.boolean(),
  targetDecimals: fc.integer({ min: 0, max: 4 }),
  sameTarget: fc.boolean(),
  prices: fc.uniqueArray(fc.integer({ min: 1, max: 220 }), { maxLength: 3 }),
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never
type Round = Scenario['rounds'][number]

describe('Random distributions', () => {
  it('come to what plain arithmetic comes to, through all stages', async () => {
    await fc.assert(fc.asyncProperty(scenario, play), {
      numRuns: 60 * walks,
      interruptAfterTimeLimit: 20_000 * walks,
      endOnFailure: true,
      includeErrorInReport: true,
    })
    await assertVerified(service)
  })
})

async function play(plan: Scenario) {
  const currencyID = plan.yen ? 8 : 1
  const fund = await newFund(service, {
    accounts: plan.holders.length,
    investments: [
      { currencyID, unitDecimals: 4, issuePrice: 1.25 },
      { currencyID, unitDecimals: plan.targetDecimals },
    ],
    price: 1,
  })
  const prices = plan.prices
    .toSorted((a, b) => a - b)
    .map((offset, i) => ({
      day: dayOf(offset),
      price: (1.1 + i / 8).toFixed(3),
    }))
  for (const { day, price } of prices) await newPrice(service, fund.investmentID, day, price)
  const holders: Holder[] = []
  for (const [i, one] of plan.holders.entries()) {
    const { accountID } = fund.accounts[i]!
    const value = one.drpType === 3 ? (one.percentage / 100).toFixed(2) : four(one.units)
    await choose(service, accountID, one.drpType, value)
    holders.push({
      accountID,
      movements: movementsOf(one.movements, plan.yen ? 1n : 100n),
      drpType: one.drpType,
      drpValue: dec(value),
      listed: one.list === 'listed' ? BigInt(one.listed) : undefined,
      included: one.list === 'included',
      excluded: one.list === 'excluded',
      residual: 0n,
      leftOn: '',
    })
  }
  // An amount for an account that is not included would be refused.
  if (holders.some(({ included }) => included))
    for (const one of holders) one.included ||= one.listed !== undefined
  await hold(fund.investmentID, holders)
  const target = plan.sameTarget ? fund.investmentID : fund.investmentIDs[1]!
  const targetUnits = 10n ** BigInt(plan.sameTarget ? 4 : plan.targetDecimals)
  // Nobody is paid before the record date, and reinvestments go by their days.
  const rounds = plan.rounds
    .map((one) => ({ ...one, pay: Math.max(one.pay, one.record) }))
    .toSorted((a, b) => a.pay + a.allotLater - (b.pay + b.allotLater))
  for (const one of rounds) {
    const terms = termsOf(one, plan.yen, targetUnits, prices)
    const distribution = await configure(service, fund, bodyOf(one, terms, target))
    await run(one, terms, holders, distribution, plan.sameTarget)
    for (const day of [terms.recordDate, dayOf(one.pay), dayOf(one.pay + one.allotLater - 1), ''])
      await assertFigures(service, fund.productID, day)
  }
}

function movementsOf(planned: Scenario['holders'][number]['movements'], cents: bigint) {
  let held = 0n
  return planned
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, units, cents: money, out }) => {
      const tenThousandths = out === 0 ? BigInt(units) : -((held * BigInt(out)) / 100n)
      held += tenThousandths
      const amount = (BigInt(money) * 10n ** 18n) / cents
      return { day: dayOf(offset), quantity: tenThousandths * 10n ** 14n, amount }
    })
    .filter(({ quantity }) => quantity !== 0n)
}

/** Posts the movements, incoming units first, so that no holding is ever short. */
async function hold(investmentID: number, holders: Holder[]) {
  const post = poster(() => service.admin)
  for (const kind of ['Allotment', 'Redemption']) {
    const sign = kind === 'Allotment' ? 1n : -1n
    const bodies = holders.flatMap(({ accountID, movements }) =>
      movements
        .filter(({ quantity }) => quantity * sign > 0n)
        .map(({ day, quantity, amount }) => ({
          accountID,
          investmentID,
          transactionDate: day,
          quantity: shown(quantity * sign),
          amount: shown(amount),
        })),
    )
    if (bodies.length > 0) all(await post(kind, bodies))
  }
}

function termsOf(
  { method, rate, record, period, valuation, weights, offered, drpPrice }: Round,
  yen: boolean,
  targetUnits: bigint,
  prices: { day: string; price: string }[],
): Terms {
  const text = {
    perUnit: (rate / 1e9).toFixed(9),
    total: (rate / 1000).toFixed(3),
    cents: (rate / 1e9).toFixed(9),
    percent: (rate / 1e8).toFixed(8),
  }[method]
  const [start, length] = period ?? [10, 45]
  const wants = period || method === 'cents' || method === 'percent'
  const total = weights.reduce((a, b) => a + b, 0)
  const parts = weights.map((weight) => Math.floor((weight * 1_000_000) / Math.max(total, 1)))
  const rest = 1_000_000 - parts.reduce((a, b) => a + b, 0)
  return {
    method,
    rate: dec(text),
    cents: yen ? 1n : 100n,
    recordDate: dayOf(record),
    days: wants ? Array.from({ length: length + 1 }, (_, i) => dayOf(start + i)) : [],
    valuation,
    prices: [{ day: '2000-01-01', price: '1' }, ...prices].map(({ day, price }) => ({
      day,
      price: dec(price),
    })),
    issuePrice: dec('1.25'),
    percentages: [...parts, rest].map((part) => dec(four(part))),
    offered,
    drpPrice: dec(four(drpPrice)),
    targetUnits,
  }
}

const fields = {
  perUnit: 'distributionAmountPerUnit',
  total: 'distributionAmountTotal',
  cents: 'centsPerUnitPerDay',
  percent: 'proRataPercentPerAnnum',
} as const

const bodyOf = ({ pay, allotLater }: Round, terms: Terms, drpInvestmentID: number) => ({
  [fields[terms.method]]: shown(terms.rate),
  recordDate: terms.recordDate,
  paymentDate: dayOf(pay),
  proRataStartDate: terms.days[0],
  proRataEndDate: terms.days.at(-1),
  unitValuationMethod: terms.valuation,
  taxComponents: terms.percentages.map((percentage, i) => ({
    taxComponentName: `Component ${i}`,
    percentage: shown(percentage),
  })),
  drpIndicatorID: terms.offered ? 2 : 1,
  drpPrice: shown(terms.drpPrice),
  drpInvestmentID,
  drpAllotmentDate: dayOf(pay + allotLater),
})

const listsOf = (holders: Holder[], cents: bigint) => {
  const keys = (chosen: Holder[]) => chosen.map(({ accountID }) => ({ accountID }))
  return {
    preCalculatedAccounts: holders
      .filter(({ listed }) => listed !== undefined)
      .map(({ accountID, listed }) => ({ accountID, amount: plainOf(listed!, cents) })),
    includeAccounts: keys(holders.filter(({ included }) => included)),
    excludeAccounts: keys(holders.filter(({ excluded }) => excluded)),
    confirmSecond: true, // two rounds may have one record date
  }
}

async function run(
  { pay, allotLater, back }: Round,
  terms: Terms,
  holders: Holder[],
  distribution: { productID: number; corporateActionID: number },
  sameTarget: boolean,
) {
  const lists = listsOf(holders, terms.cents)
  const body = { ...keyOf(distribution), ...lists }
  const preview = await service.admin.post('/Distribution/Preview', body)
  const shares = declare(terms, holders)
  if (!shares?.some(({ gross }) => gross > 0n)) {
    const reply = await service.admin.post('/Distribution/Declare', body)
    assert.ok([400, 409].includes(reply.status), reply.text)
    if (shares) assert.equal(reply.errors[0]?.code, 'nobody_entitled')
    assert.equal(preview.status, reply.status)
    return
  }
  await stage(service.admin, 'Declare', distribution, lists)
  await compare(terms, shares, distribution, preview.data.accounts)
  await stage(service.admin, 'Payment', distribution)
  payLeft(holders, shares, dayOf(pay))
  if (!terms.offered) return runBack(distribution, { from: 3, back, lists })
  only(await service.admin.post('/Distribution/DrpAllotment', keyOf(distribution)))
  await runBack(distribution, { from: 4, back, lists })
  reinvest(terms, holders, shares, dayOf(pay + allotLater))
  await compare(terms, shares, distribution)
  // Units that were allotted in the investment itself count from their day on.
  if (sameTarget)
    for (const { accountID, drpUnits } of shares)
      if (drpUnits)
        holders
          .find((one) => one.accountID === accountID)!
          .movements.push({
            day: dayOf(pay + allotLater),
            quantity: drpUnits * 10n ** 14n,
            amount: 0n,
          })
}

/** Reverses stages and does them again, which must give the same results. */
async function runBack(
  distribution: { productID: number; corporateActionID: number },
  { from, back, lists }: { from: number; back: number; lists: object },
) {
  const lowest = Math.max(1, from - back)
  for (let status = from; status > lowest; status--)
    await takeBack(service.admin, distribution, status)
  const again = (['Declare', 'Payment', 'DrpAllotment'] as const).slice(lowest - 1, from - 1)
  for (const name of again)
    await stage(service.admin, name, distribution, name === 'Declare' ? lists : {})
}

type Row = Record<string, number> & { taxComponents: { amount: number }[] }

async function compare(
  terms: Terms,
  shares: Share[],
  distribution: { productID: number; corporateActionID: number },
  previewed?: Row[],
) {
  const { cents, targetUnits } = terms
  const money = (value: bigint | undefined) => (value === undefined ? null : plainOf(value, cents))
  const rows: Row[] = await entitled(service.admin, distribution)
  const seen = (row: Row) => [
    row.accountID,
    row.units,
    row.grossAmount,
    row.taxComponents.map(({ amount }) => amount),
    row.drpAmount,
    row.cashAmount,
    row.drpUnits,
    row.drpResidual,
  ]
  const expected = shares.map((share) => [
    share.accountID,
    plainOf(share.units, 10n ** 18n),
    money(share.gross),
    share.components.map(money),
    money(share.drp),
    money(share.cash),
    share.drpUnits === undefined ? null : plainOf(share.drpUnits, targetUnits),
    money(share.residual),
  ])
  assert.deepEqual(rows.map(seen), expected)
  if (previewed) assert.deepEqual(previewed.map(seen), expected)
}
