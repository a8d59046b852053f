import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { permissionFor } from '../../console/approvals/words.ts'
import { changedFields, fieldName } from '../../console/shared/view/changed.ts'
import { blank, bodyOf, type Kind, kinds, type Values } from '../../console/transactions/kinds.ts'
import { workOut } from '../../console/transactions/worked-out.ts'
import * as schemas from '../../src/ledger/biz-transaction/schema.ts'
import { fundOf } from '../support/distribution.ts'
import { all, type Fund, newPrice } from '../support/ledger.ts'
import { type Service, startService } from '../support/service.ts'

const bodies = {
  Deposit: schemas.Deposit,
  Allotment: schemas.Allotment,
  Redemption: schemas.Redemption,
  Transfer: schemas.Transfer,
  Conversion: schemas.Conversion,
  Adjustment: schemas.Adjustment,
  SetQuantity: schemas.SetQuantity,
}
type Name = keyof typeof bodies
const names = Object.keys(bodies) as Name[]

/** Fields that no form has, because users choose records, settle notices elsewhere, or … */
const elsewhere = new Set([
  // … choose the product, the account and the class from a list,
  ...['externalProductId', 'externalAccountId', 'fromExternalAccountId', 'toExternalAccountId'],
  ...['externalInvestmentId', 'fromExternalInvestmentId', 'toExternalInvestmentId'],
  ...['securityCode', 'fromSecurityCode', 'toSecurityCode'],
  // … settle notices under Notices,
  ...['bizEventID', 'externalTransactionId', 'partial'],
  // … are asked once the service doubts it,
  'confirm',
  // … and say a fee without a discount where they mean that.
  'entryFeeOverridePercentage',
])

const price = { price: '1.02', applicationPrice: '1.037', redemptionPrice: '1.011' }
const date = '2025-03-10'

describe('Postings as the console enters them', () => {
  let service: Service
  let fund: Fund
  let secondID: number

  before(async () => {
    service = await startService()
    fund = await fundOf(service, ['5000.1234', 0], { investments: [{}, { unitDecimals: 2 }] })
    secondID = fund.investmentIDs[1]!
    for (const id of [fund.investmentID, secondID])
      await newPrice(service, id, date, price.price, {
        applicationPrice: price.applicationPrice,
        redemptionPrice: price.redemptionPrice,
      })
  })
  after(() => service.stop())

  it('ask for every field of their operation that a person would give', () => {
    for (const name of names) {
      const kind = kinds[name] as Kind
      const asked = (['Price', 'Factor'] as const).flatMap((conversionMethod) =>
        Object.keys(bodyOf(kind, { ...blank, conversionMethod }, 1)),
      )
      const known = Object.keys(bodies[name].properties)
      const missing = known.filter((field) => !asked.includes(field) && !elsewhere.has(field))
      assert.deepEqual(missing, [], `${name} does not ask for`)
      assert.deepEqual(
        asked.filter((field) => !known.includes(field)),
        [],
        `${name} does not know`,
      )
    }
  })

  const held = async (accountID: number, investmentID: number): Promise<string> => {
    const about = `ProductID=${fund.productID}&AccountID=${accountID}&InvestmentID=${investmentID}`
    const { data } = await service.admin.get(`/BizEntity/Account/Holdings?${about}&Date=${date}`)
    return String(data[0]?.quantity ?? 0)
  }

  /** For each leg, the figures in the preview and those that the ledger then has. */
  async function both(name: Name, given: Partial<Values>) {
    const kind = kinds[name] as Kind
    const [first, second] = fund.accounts
    const values: Values = {
      ...blank,
      ...{ transactionDate: date, accountID: first!.accountID, toAccountID: second!.accountID },
      ...{ investmentID: fund.investmentID, toInvestmentID: secondID },
      ...given,
    }
    const of = { investmentPriceID: 1, priceDate: date, ...price } as never
    const worked = workOut(kind, values, {
      held: await held(first!.accountID, fund.investmentID),
      ...{ of, into: of, unitDecimals: 4, intoDecimals: 2, cents: 2 },
    })
    assert.ok(worked)
    const body = JSON.parse(
      JSON.stringify(bodyOf(kind, values, fund.productID), (_, one) => (one === '' ? null : one)),
    )
    const [out, into] = all(await service.admin.post(kind.path, body))
    const figures = (row: typeof out) => ({ units: row.quantity, amount: row.amount })
    const seen = { units: Number(worked.units), amount: Number(worked.amount) }
    assert.deepEqual(seen, figures(out), `${name} ${JSON.stringify(given)}`)
    assert.equal(Number(worked.fee), out.entryFeeAmount ?? 0)
    assert.equal(Number(worked.price), out.investmentPrice)
    if (into) assert.equal(Number(worked.received?.units), into.quantity)
  }

  const cases: [Name, Partial<Values>][] = [
    ['Deposit', { amount: '1000' }],
    ['Deposit', { amount: '1000', entryFeePercentage: '2.5', entryFeeDiscountPercentage: '33.3' }],
    ['Deposit', { amount: '1000', entryFeeAmount: '12.5', investmentPrice: '1.5' }],
    ['Deposit', { amount: '1000', quantity: '900.5' }],
    ['Allotment', { quantity: '10.00005' }],
    ['Allotment', { amount: '77.77' }],
    ['Redemption', { quantity: '10.3333' }],
    ['Redemption', { amount: '99.99' }],
    ['Transfer', { quantity: '12.5' }],
    ['Transfer', { quantity: '12.5', amount: '40', costBasis: 'Carry' }],
    ['Conversion', { quantity: '100' }],
    ['Conversion', { amount: '50', toInvestmentPrice: '0.333' }],
    ['Conversion', { quantity: '100', conversionMethod: 'Factor', conversionFactor: '1.2345' }],
    ['Adjustment', { quantity: '0.25' }],
    ['Adjustment', { quantity: '-0.75', amount: '-0.5' }],
    ['Adjustment', { quantity: '-1.5' }],
    ['SetQuantity', { quantity: '6000' }],
    ['SetQuantity', { quantity: '5500', amount: '700' }],
    ['SetQuantity', { quantity: '5400', investmentPrice: '2' }],
    // Worth 5459.40506, which is 5459.41: at the price, more units than there are.
    ['SetQuantity', { quantity: '5400.005' }],
    ['Conversion', { amount: '5459.41' }],
    ['SetQuantity', { quantity: '5400.005' }],
    ['Conversion', { amount: '5459.41', conversionMethod: 'Factor', conversionFactor: '2' }],
    ['SetQuantity', { quantity: '5400.005' }],
    ['Redemption', { amount: '5459.41' }],
  ]
  it('are previewed as the ledger then has them', async () => {
    for (const [name, given] of cases) await both(name, given)
  })
})

describe('Approvals as the console offers them', () => {
  it('show of a change only the fields that differ, record by record', () => {
    const bank = { paymentDetailID: 7, bsb: '062-000', accountNumber: '***' }
    const paymentDetails = {
      from: [{ paymentDetailID: 6, bsb: '033-001' }, bank],
      to: [{ ...bank, accountNumber: '*** (changed)' }, { bsb: '033-002' }],
    }
    const shown = changedFields({ approvedBy: ['ann'], changes: { paymentDetails } })
    assert.deepEqual(
      shown.map(({ field, before, after }) => [fieldName(field), before, after]),
      [
        ['Approved by 1', undefined, 'ann'],
        ['Payment details 1 account number', '***', '*** (changed)'],
        ['Payment details 2 bsb', undefined, '033-002'],
        ['Payment details 1 (removed) payment detail', 6, undefined],
        ['Payment details 1 (removed) bsb', '033-001', undefined],
      ],
    )
  })

  it('show every change of a person who is listed twice', () => {
    const as = (...types: number[]) => types.map((type) => ({ personID: 5, type }))
    const shown = changedFields({ associatedPersons: { from: as(1, 2), to: as(3, 2) } })
    assert.deepEqual(
      shown.map(({ field, before, after }) => [field, before, after]),
      [['associatedPersons 1 type', 1, 3]],
    )
  })

  it('are offered to whoever has the permission that deciding asks for', () => {
    const lines = readFileSync('test/operations.txt', 'utf8').trim().split('\n')
    const writes = lines
      .map((line) => line.split(': ') as [operation: string, access: string])
      .filter(([operation, access]) => !operation.startsWith('GET ') && /\./.test(access))
      .filter(([, access]) => !/\.Read$|^Approval\./.test(access))
    assert.ok(writes.length > 50)
    for (const [operation, access] of writes) {
      const [, root = ''] = /^\w+ \/(\w+)/.exec(operation) ?? []
      const resource = root === 'WithholdingRate' ? 'Tax' : root
      assert.equal(permissionFor(operation, resource), access, operation)
    }
  })
})
