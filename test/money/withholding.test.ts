import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { lookups } from '../../src/platform/lookup/lookups.ts'
import { configure, entitled, keyOf, stage, takeBack } from '../support/distribution.ts'
import { all, assertVerified, only } from '../support/ledger.ts'
import { newRun, paymentsOf, step } from '../support/payment-run.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'
import {
  abroad,
  investor,
  quoted,
  type TaxingFund,
  taxingFund,
  unquoted,
} from '../support/withholding.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})

const dividend = [
  { taxComponentName: 'AustralianFrankedDividends', percentage: 60 },
  { taxComponentName: 'AustralianUnfrankedDividends', percentage: 40 },
]
const fully = (name: string) => [{ taxComponentName: name, percentage: 100 }]
const kinds = (...names: string[]) => ({
  taxComponentKinds: names.map((incomeKind) => ({ taxComponentName: incomeKind, incomeKind })),
})

type Row = {
  accountID: number
  taxAmount: number
  cashAmount: number
  drpAmount: number
  withholding: Record<string, unknown>[]
}

/** Runs a distribution from its preview to its payment; returns entitlements and their taxes. */
async function pay(fund: TaxingFund, taxComponents: object[], more: object = {}) {
  const how = { distributionAmountPerUnit: 1, taxComponents, ...more }
  const distribution = await configure(service, fund, how)
  const preview = await service.admin.post('/Distribution/Preview', keyOf(distribution))
  await stage(service.admin, 'Declare', distribution)
  await stage(service.admin, 'Payment', distribution)
  const rows: Row[] = await entitled(service.admin, distribution)
  const shown = ({ accountID, taxAmount, cashAmount, drpAmount, withholding }: Row) => [
    accountID,
    taxAmount,
    cashAmount,
    drpAmount,
    withholding,
  ]
  assert.deepEqual(preview.data.accounts.map(shown), rows.map(shown), 'the preview told it')
  return { distribution, rows, taxes: rows.map(({ taxAmount }) => taxAmount) }
}

describe('The vectors of the tax office', () => {
  it('1000.00 of which 400.00 unfranked: 0, 188, 60.00 by treaty, 120.00 elsewhere', async () => {
    const fund = await taxingFund(service)
    for (const party of [quoted, unquoted, abroad('NZL'), abroad('BRA')])
      await investor(service, fund, [party])
    const { rows, taxes } = await pay(fund, dividend)
    assert.deepEqual(taxes, [0, 188, 60, 120])
    assert.deepEqual(
      rows.map(({ cashAmount }) => cashAmount),
      [1000, 812, 940, 880],
    )
    assert.deepEqual(rows[1]!.withholding, [
      {
        taxComponentName: 'AustralianUnfrankedDividends',
        incomeKind: 'UnfrankedDividend',
        rule: 'NoTfn',
        countryCode: null,
        baseAmount: 400,
        percentage: 47,
        rounding: 'WholeDollar',
        amount: 188,
      },
    ])
    assert.deepEqual(rows[2]!.withholding[0]!.countryCode, 'NZL')
  })

  it('401.21 of interest 40.12, of a fund payment 60.18, whole dollars without TFN', async () => {
    const fund = await taxingFund(service, kinds('Interest', 'FundPayment'))
    for (const party of [abroad('USA'), unquoted])
      await investor(service, fund, [party], { units: 401.21 })
    assert.deepEqual((await pay(fund, fully('Interest'))).taxes, [40.12, 188])
    assert.deepEqual((await pay(fund, fully('FundPayment'))).taxes, [60.18, 188])
    assert.deepEqual((await pay(fund, fully('AustralianFrankedDividends'))).taxes, [0, 0])
  })

  it('49 percent on a payment of 2016, 46.5 before July 2014', async () => {
    const fund = await taxingFund(service)
    await investor(service, fund, [unquoted], { units: 100 })
    const unfranked = fully('AustralianUnfrankedDividends')
    const paid: number[] = []
    for (const year of [2014, 2016]) {
      const dates = { recordDate: `${year}-06-30`, paymentDate: `${year}-06-30` }
      const how = { distributionAmountPerUnit: 1, taxComponents: unfranked, ...dates }
      const distribution = await configure(service, fund, how)
      const { accountID } = only(await service.admin.get(`/BizEntity?ProductID=${fund.productID}`))
        .accounts[0]
      await stage(service.admin, 'Declare', distribution, {
        preCalculatedAccounts: [{ accountID, amount: 100 }],
      })
      await stage(service.admin, 'Payment', distribution)
      paid.push((await entitled(service.admin, distribution))[0].taxAmount)
    }
    assert.deepEqual(paid, [46, 49])
  })
})

describe('The standing of an account', () => {
  const standing = async (accountID: number, date = '') =>
    only(
      await service.admin.get(
        `/BizEntity/Account/TaxStanding?AccountID=${accountID}${date && `&Date=${date}`}`,
      ),
    )

  it('comes from its parties: all residents must quote, then anybody abroad counts', async () => {
    const fund = await taxingFund(service)
    const of = async (parties: object[]) => {
      const { accountID } = await investor(service, fund, parties)
      const { rule, countryCodes } = await standing(accountID)
      return [rule, ...countryCodes]
    }
    const second = (party: { person: object }) => ({ person: { ...party.person, lastName: 'Two' } })
    assert.deepEqual(await of([quoted]), ['None'])
    assert.deepEqual(await of([quoted, second(unquoted)]), ['NoTfn'])
    assert.deepEqual(await of([quoted, abroad('USA')]), ['NonResident', 'USA'])
    assert.deepEqual(await of([unquoted, abroad('USA')]), ['NoTfn', 'USA'])
    assert.deepEqual(await of([{ person: { firstName: 'Bea', abn: '51824753556' } }]), ['None'])
    assert.deepEqual(await of([{ person: { firstName: 'Exe', taxOfficeTypeID: 6 } }]), ['None'])
    assert.deepEqual(
      await of([
        { person: { firstName: 'Dual', taxationCountryCode: 'USA', taxationCountryCode2: 'AU' } },
      ]),
      ['NoTfn'],
    )
  })

  it('goes by the postal address where no tax country is known', async () => {
    const fund = await taxingFund(service)
    const address = { addressTypeID: 8, addressLine: '1 High Street', countryCode: 'GB' }
    const { accountID } = await investor(service, fund, [{ person: { firstName: 'Pat' } }], {
      addresses: [address],
    })
    const told = await standing(accountID)
    assert.deepEqual([told.rule, told.countryCodes], ['NonResident', ['GB']])
    assert.match(told.reasons[0], /^Pat is not a resident \(postal address in GB\)/)
    assert.equal(told.parties[0].residenceBy, 'PostalAddress')
  })

  it('of a company is by its own numbers, not by those of its people', async () => {
    const fund = await taxingFund(service)
    const company = (organisation: object) => ({ organisation: { name: 'Co', ...organisation } })
    const director = { person: { firstName: 'Dora', taxationCountryCode: 'AUS' } }
    const kind = { bizEntityTypeID: 2 }
    const bare = await investor(service, fund, [company({}), quoted], kind)
    assert.equal((await standing(bare.accountID)).rule, 'NoTfn')
    const named = await investor(service, fund, [company({ abn: '51824753556' }), director], kind)
    const told = await standing(named.accountID)
    assert.equal(told.rule, 'None')
    assert.deepEqual(
      told.parties.map(({ counts }: { counts: boolean }) => counts),
      [true, false],
    )
  })

  it('of a company of several organisations is by the numbers of those who live here', async () => {
    const fund = await taxingFund(service)
    const abn = { abn: '51824753556' }
    const part = (name: string, taxationCountryCode: string, more: object = {}) => ({
      organisation: { name, taxationCountryCode, ...more },
    })
    const of = async (...parties: object[]) => {
      const { accountID } = await investor(service, fund, parties, { bizEntityTypeID: 5 })
      const { rule, countryCodes } = await standing(accountID)
      return [rule, ...countryCodes]
    }
    assert.deepEqual(await of(part('Here', 'AUS'), part('There', 'NZL', abn)), ['NoTfn', 'NZL'])
    const abroadToo = await of(part('Here', 'AUS', abn), part('There', 'NZL'))
    assert.deepEqual(abroadToo, ['NonResident', 'NZL'])
    assert.deepEqual(await of(part('Trust', 'AUS', abn), part('Trustee', 'AUS')), ['None'])
  })

  it('does not ask attorneys and nominees for their numbers', async () => {
    const fund = await taxingFund(service)
    const attorney = { ...unquoted, isPowerOfAttorney: true }
    const { accountID } = await investor(service, fund, [quoted, attorney])
    assert.equal((await standing(accountID)).rule, 'None')
    const alone = await investor(service, fund, [attorney])
    assert.equal((await standing(alone.accountID)).rule, 'NoTfn')
  })

  it('is overruled while an override holds, which a PUT that does not know it leaves', async () => {
    const fund = await taxingFund(service)
    const withholdingOverride = {
      percentage: 12.5,
      reason: 'Ruling 7',
      validFrom: '2025-07-01',
      validTo: '2025-12-31',
    }
    const { accountID, bizEntityID } = await investor(service, fund, [unquoted], {
      account: { withholdingOverride },
    })
    const rules = await Promise.all(
      ['2025-06-30', '2025-07-01', '2025-12-31', '2026-01-01'].map(
        async (date) => (await standing(accountID, date)).rule,
      ),
    )
    assert.deepEqual(rules, ['NoTfn', 'Override', 'Override', 'NoTfn'])
    const { taxes, rows } = await pay(fund, dividend)
    assert.deepEqual(taxes, [50])
    assert.equal(rows[0]!.withholding[0]!.rule, 'Override')
    const entity = only(await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`))
    assert.deepEqual(entity.accounts[0].withholdingOverride, withholdingOverride)
    const [{ withholdingOverride: _known, ...account }] = entity.accounts
    const put = only(await service.admin.put('/BizEntity', { ...entity, accounts: [account] }))
    assert.deepEqual(put.accounts[0].withholdingOverride, withholdingOverride)
    const cleared = { ...entity, accounts: [{ ...account, withholdingOverride: null }] }
    assert.equal(
      only(await service.admin.put('/BizEntity', cleared)).accounts[0].withholdingOverride,
      null,
    )
    const audits = all(
      await service.admin.get(`/Audit?Resource=BizEntity&ResourceID=${bizEntityID}`),
    )
    assert.match(JSON.stringify(audits), /Ruling 7/)
  })

  it('refuses an override without a reason, and one that ends before it begins', async () => {
    const fund = await taxingFund(service)
    const make = (withholdingOverride: object) =>
      service.admin.post('/BizEntity', {
        name: 'X',
        bizEntityTypeID: 1,
        bizEntityStatusID: 1,
        accounts: [{ productID: fund.productID, withholdingOverride }],
        bizEntityParties: [quoted],
      })
    refused(await make({ percentage: 10 }), 400, 'required')
    refused(await make({ percentage: 101, reason: 'x' }), 400, 'invalid_decimal')
    const backwards = { percentage: 1, reason: 'x', validFrom: '2025-02-01', validTo: '2025-01-01' }
    refused(await make(backwards), 400, 'invalid_value')
  })
})

describe('Withholding', () => {
  it('takes the DRP share of what is left, posts the tax, and is taken back whole', async () => {
    const fund = await taxingFund(service)
    const half = { drpTypeID: 3, drpValue: 50 }
    const { accountID } = await investor(service, fund, [unquoted], { account: half })
    const full = await investor(service, fund, [abroad('BR')], { account: { drpTypeID: 2 } })
    const drp = { drpIndicatorID: 2, drpInvestmentID: fund.targetID, drpPrice: 3 }
    const { distribution, rows } = await pay(fund, dividend, drp)
    assert.deepEqual(
      rows.map(({ taxAmount, drpAmount, cashAmount }) => [taxAmount, drpAmount, cashAmount]),
      [
        [188, 406, 406],
        [120, 880, 0],
      ],
    )
    const posted = async (account: number) =>
      all(await service.admin.get(`/BizTransaction?AccountID=${account}`))
        .filter((one: { corporateActionID: number }) => one.corporateActionID)
        .map((one: Record<string, unknown>) => [
          one.bizTransactionTypeID,
          one.movementReasonCode,
          one.amount,
          one.quantity,
        ])
    assert.deepEqual(await posted(accountID), [
      [10, 'DST', 406, 0],
      [12, 'WHT', -188, 0],
    ])
    assert.deepEqual(await posted(full.accountID), [[12, 'WHT', -120, 0]])
    await stage(service.admin, 'DrpAllotment', distribution)
    await assertVerified(service)
    await takeBack(service.admin, distribution, 4)
    await takeBack(service.admin, distribution, 3)
    const back: Row[] = await entitled(service.admin, distribution)
    assert.deepEqual(
      back.map(({ taxAmount, drpAmount, cashAmount, withholding }) => [
        taxAmount,
        drpAmount,
        cashAmount,
        withholding,
      ]),
      [
        [0, 500, 500, []],
        [0, 1000, 0, []],
      ],
    )
    await assertVerified(service)
    await stage(service.admin, 'Payment', distribution)
    assert.deepEqual((await entitled(service.admin, distribution))[0].taxAmount, 188)
  })

  it('takes the highest rate where parties live in several countries', async () => {
    const fund = await taxingFund(service)
    await investor(service, fund, [abroad('NZL'), abroad('BR')])
    const { rows } = await pay(fund, dividend)
    const [{ countryCode, amount }] = rows[0]!.withholding as [Record<string, unknown>]
    assert.deepEqual([countryCode, amount], ['BR', 120])
  })

  it('takes the rate of no treaty where one of them lives nobody knows where', async () => {
    const fund = await taxingFund(service)
    const somewhere = { person: { taxOfficeTypeID: lookups.TaxOfficeType['Non-resident'] } }
    const { accountID } = await investor(service, fund, [abroad('NZL'), somewhere])
    const path = `/BizEntity/Account/TaxStanding?AccountID=${accountID}`
    assert.deepEqual(only(await service.admin.get(path)).countryCodes, ['NZL'])
    const { rows } = await pay(fund, dividend)
    const [{ countryCode, amount }] = rows[0]!.withholding as [Record<string, unknown>]
    assert.deepEqual([countryCode, amount], [null, 120])
  })

  it('is off unless the product says so, and names a component that it cannot place', async () => {
    const off = await taxingFund(service, { withholding: false })
    await investor(service, off, [unquoted])
    assert.deepEqual((await pay(off, fully('Sundry'))).taxes, [0])
    const on = await taxingFund(service)
    await investor(service, on, [unquoted])
    const own = (name: string) => ({ distributionAmountPerUnit: 1, taxComponents: fully(name) })
    const distribution = await configure(service, on, own('Sundry'))
    const declare = (one = distribution) => service.admin.post('/Distribution/Declare', keyOf(one))
    for (const name of ['Sundry', 'constructor', '__proto__']) {
      const reply = await declare(await configure(service, on, own(name)))
      refused(reply, 409, 'no_income_kind')
      assert.ok(reply.message!.includes(name), reply.text)
    }
    const { productID } = on
    const product = only(await service.admin.get(`/Product?ProductID=${productID}`))
    const taxComponentKinds = [{ taxComponentName: 'sundry', incomeKind: 'Interest' }]
    const twice = [...taxComponentKinds, { taxComponentName: ' SUNDRY', incomeKind: 'Royalty' }]
    const two = await service.admin.put('/Product', { ...product, taxComponentKinds: twice })
    refused(two, 400, 'given_twice')
    assert.match(two.message!, /taxComponentKinds has " SUNDRY" already/)
    only(await service.admin.put('/Product', { ...product, taxComponentKinds }))
    only(await declare())
    const { name } = product
    const kept = only(await service.admin.put('/Product', { productID, name }))
    assert.deepEqual([kept.withholding, kept.taxComponentKinds], [true, taxComponentKinds])
  })

  it('is not cut twice of one component: a distribution names each once', async () => {
    const fund = await taxingFund(service)
    await investor(service, fund, [unquoted], { units: 3 })
    const parts = ['CapitalGains', 'capitalgains '].map((taxComponentName) => ({
      taxComponentName,
      percentage: 50,
    }))
    await assert.rejects(pay(fund, parts), /tax_components/)
    assert.deepEqual((await pay(fund, fully('CapitalGains'))).taxes, [1])
  })

  it('goes to the bank with the payment: tax and indicator of each record', async () => {
    const fund = await taxingFund(service, kinds('Interest'))
    const bank = (accountName: string) => ({
      paymentDetails: [
        { bsb: '062-000', accountNumber: '12345678', accountName, isForDistribution: true },
      ],
    })
    await investor(service, fund, [abroad('NZ')], bank('TREATY'))
    await investor(service, fund, [abroad('BR')], bank('OTHER'))
    await investor(service, fund, [unquoted], bank('NOTFN'))
    await pay(fund, dividend)
    const approver = await service.userWith({ role: 'Administrator' })
    const lines = async () => {
      const run = await newRun(service.admin, fund)
      await step(approver, 'Approve', run)
      const payments = await paymentsOf(service.admin, run)
      const path = `/PaymentRun/File?PaymentRunID=${run.paymentRunID}&Raw=true`
      const { text } = await service.admin.get(path)
      const records = text.split('\r\n').filter((line: string) => line.startsWith('1'))
      return {
        taxes: payments.map(({ taxAmount }: { taxAmount: number }) => taxAmount),
        records: records.map((line: string) => [line[17], line.slice(112)]),
      }
    }
    const first = await lines()
    assert.deepEqual(first.taxes, [60, 120, 188])
    assert.deepEqual(first.records, [
      ['W', '00006000'],
      ['X', '00012000'],
      [' ', '00018800'],
    ])
    await pay(fund, fully('Interest'))
    assert.deepEqual((await lines()).records[0], ['Y', '00010000'])
  })
})
