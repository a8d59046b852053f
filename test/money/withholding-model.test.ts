import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { choose, configure, entitled, keyOf, stage, takeBack } from '../support/distribution.ts'
import { plainOf, shared } from '../support/distribution-model.ts'
import { assertVerified, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'
import { walks } from '../support/walks.ts'
import {
  abroad,
  investor,
  quoted,
  type TaxingFund,
  taxingFund,
  unquoted,
} from '../support/withholding.ts'

let service: Service
/** The ids of the royalty rates that the test changes, by rule or country. */
const rateIDs = new Map<string, number>()
before(async () => {
  service = await startService()
  const { data } = await service.admin.get('/WithholdingRate?IncomeKind=Royalty&PageSize=100')
  for (const { rateID, rule, validTo } of data) if (validTo === null) rateIDs.set(rule, rateID)
  for (const countryCode of ['FR', 'JP']) {
    const rate = { rule: 'NonResident', incomeKind: 'Royalty', percentage: 1, rounding: 'Cent' }
    const body = { ...rate, countryCode, validFrom: '2020-01-01' }
    rateIDs.set(countryCode, only(await service.admin.post('/WithholdingRate', body)).rateID)
  }
})
after(() => service.stop())

const percentage = fc.integer({ min: 0, max: 10_000 })
const holder = fc.record({
  units: fc.integer({ min: 1, max: 5_000_000 }),
  parties: fc.array(fc.constantFrom('quoted', 'unquoted', 'FR', 'JP', 'BR'), {
    minLength: 1,
    maxLength: 3,
  }),
  override: fc.option(percentage, { nil: undefined, freq: 4 }),
  drpType: fc.integer({ min: 1, max: 3 }),
  drpValue: percentage,
})
const scenario = fc.record({
  holders: fc.array(holder, { minLength: 1, maxLength: 5 }),
  rates: fc.record({ NoTfn: percentage, NonResident: percentage, FR: percentage, JP: percentage }),
  weights: fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 3, maxLength: 3 }),
  rounds: fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 2 }),
  price: fc.integer({ min: 1, max: 3000 }),
  residualOnExit: fc.constantFrom('Pay', 'Carry'),
  leaves: fc.boolean(),
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never
type Holder = Scenario['holders'][number]

describe('Random registers, rates and residual plans', () => {
  it('come to what plain arithmetic comes to, tie to the cent, and are taken back', async () => {
    await fc.assert(fc.asyncProperty(scenario, play), {
      numRuns: 25 * walks,
      interruptAfterTimeLimit: 20_000 * walks,
      endOnFailure: true,
      includeErrorInReport: true,
    })
    await assertVerified(service)
  })
})

const two = (hundredths: number) => (hundredths / 100).toFixed(2)

async function turnRates(rates: Scenario['rates']) {
  for (const [name, value] of Object.entries(rates)) {
    const rateID = rateIDs.get(name)!
    const stored = only(await service.admin.get(`/WithholdingRate?RateID=${rateID}`))
    only(await service.admin.put('/WithholdingRate', { ...stored, percentage: two(value) }))
  }
}

const partyOf = (kind: string, i: number) => {
  const { person } = kind === 'quoted' ? quoted : kind === 'unquoted' ? unquoted : abroad(kind)
  return { person: { ...person, lastName: `${i}` } }
}

async function play(plan: Scenario) {
  await turnRates(plan.rates)
  const taxComponentKinds = [
    { taxComponentName: 'Rights', incomeKind: 'Royalty' },
    { taxComponentName: 'Capital back', incomeKind: 'ReturnOfCapital' },
    { taxComponentName: 'More rights', incomeKind: 'Royalty' },
  ]
  const fund = await taxingFund(service, { taxComponentKinds })
  const { investmentID } = fund
  const residual = { investmentID, drpResidualOnExit: plan.residualOnExit }
  const stored = only(await service.admin.get(`/Investment?InvestmentID=${investmentID}`))
  only(await service.admin.put('/Investment', { ...stored, ...residual }))
  const accounts: number[] = []
  for (const one of plan.holders) {
    const { override, drpType, drpValue } = one
    const account = {
      drpTypeID: drpType,
      ...(drpType === 3 && { drpValue: two(drpValue) }),
      ...(override !== undefined && {
        withholdingOverride: { percentage: two(override), reason: 'told so' },
      }),
    }
    const parties = one.parties.map(partyOf)
    const made = await investor(service, fund, parties, { units: two(one.units), account })
    accounts.push(made.accountID)
  }
  const total = plan.weights.reduce((a, b) => a + b, 0)
  const parts = plan.weights.map((w) => Math.floor((w * 10_000) / Math.max(1, total)))
  parts[0]! += 10_000 - parts.reduce((a, b) => a + b, 0)
  const holders = plan.holders.map((one) => ({ ...one }))
  for (const cents of plan.rounds) {
    await pass({ ...plan, holders }, { fund, accounts, parts, cents })
    if (!plan.leaves) continue
    // What is left for who leaves the plan is paid out with the next payment, or carried.
    holders[0]!.drpType = 1
    await choose(service, accounts[0]!, 1)
  }
}

type Round = {
  fund: TaxingFund
  accounts: number[]
  parts: number[]
  cents: number
}

/** Runs one distribution: declared, paid, reinvested, reversed in part, and done again. */
async function pass(plan: Scenario, { fund, accounts, parts, cents }: Round) {
  const taxComponents = ['Rights', 'Capital back', 'More rights'].map((taxComponentName, i) => ({
    taxComponentName,
    percentage: two(parts[i]!),
  }))
  const drp = { drpIndicatorID: 2, drpInvestmentID: fund.targetID, drpPrice: two(plan.price) }
  const how = { distributionAmountPerUnit: (cents / 1e6).toFixed(6), taxComponents, ...drp }
  const distribution = await configure(service, fund, how)
  const expected = plan.holders
    .map((one, i) => ({ accountID: accounts[i], ...shareOf(plan, one, parts, cents) }))
    .filter(({ gross }) => gross >= 0)
  if (expected.every(({ gross }) => gross === 0)) {
    const body = { ...keyOf(distribution), confirmSecond: true }
    refused(await service.admin.post('/Distribution/Declare', body), 409, 'nobody_entitled')
    return
  }
  await stage(service.admin, 'Declare', distribution)
  const declared = await entitled(service.admin, distribution)
  await stage(service.admin, 'Payment', distribution)
  const shown = async () =>
    (await entitled(service.admin, distribution)).map((row: Record<string, number>) => ({
      accountID: row.accountID,
      gross: row.grossAmount,
      tax: row.taxAmount,
      drp: row.drpAmount,
      cash: row.cashAmount,
    }))
  assert.deepEqual(await shown(), expected)
  await stage(service.admin, 'DrpAllotment', distribution)
  await takeBack(service.admin, distribution, 4)
  await takeBack(service.admin, distribution, 3)
  assert.deepEqual(await entitled(service.admin, distribution), declared)
  await stage(service.admin, 'Payment', distribution)
  assert.deepEqual(await shown(), expected)
  await stage(service.admin, 'DrpAllotment', distribution)
}

const rounded = (n: bigint, d: bigint) => (2n * n + d) / (2n * d)

/** The rate in hundredths of a percent, and whether cents are cut; undefined for no tax. */
function rateOf({ rates }: Scenario, { parties, override }: Holder) {
  if (override !== undefined) return { rate: override, cut: false }
  if (parties.includes('unquoted')) return { rate: rates.NoTfn, cut: true }
  const countries = parties.filter((one) => one !== 'quoted')
  if (countries.length === 0) return undefined
  const of = (country: string) =>
    country === 'FR' || country === 'JP' ? rates[country] : rates.NonResident
  return { rate: Math.max(...countries.map(of)), cut: false }
}

function shareOf(plan: Scenario, one: Holder, parts: number[], cents: number) {
  const gross = rounded(BigInt(one.units) * BigInt(cents), 1_000_000n)
  const components = shared(gross, parts.map(BigInt))
  const by = rateOf(plan, one)
  const taxOf = (base: bigint) => {
    if (!by) return 0n
    const exact = base * BigInt(by.rate)
    return by.cut ? (exact / 1_000_000n) * 100n : rounded(exact, 10_000n)
  }
  const tax = taxOf(components[0]!) + taxOf(components[2]!)
  const net = gross - tax
  const drp =
    one.drpType === 1 ? 0n : one.drpType === 2 ? net : rounded(net * BigInt(one.drpValue), 10_000n)
  const money = (value: bigint) => plainOf(value, 100n)
  return { gross: money(gross), tax: money(tax), drp: money(drp), cash: money(net - drp) }
}
