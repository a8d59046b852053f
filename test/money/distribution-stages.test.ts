import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  account,
  allot,
  choose,
  close,
  configure,
  entitled,
  fingerprint,
  fundOf,
  keyOf,
  newPaymentDetail,
  stage,
} from '../support/distribution.ts'
import { all, assertVerified, type Fund, only, poster } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})

const post = poster(() => service.admin)
const stages = ['Declare', 'Payment', 'DrpAllotment'] as const
const perUnit = { distributionAmountPerUnit: 0.1 }
const offered = (fund: Fund, more: object = {}) => ({
  ...perUnit,
  drpIndicatorID: 2,
  drpInvestmentID: fund.investmentIDs[1],
  drpPrice: 3,
  ...more,
})
const twoClasses = { investments: [{}, { unitDecimals: 0 }] }
const call = (name: string, distribution: { productID: number; corporateActionID: number }) =>
  service.admin.post(`/Distribution/${name}`, keyOf(distribution))
const holding = async (fund: Fund, i: number, date = '') => {
  const reply = await service.admin.get(
    `/BizEntity/Account/Holdings?AccountID=${account(fund, i)}&InvestmentID=${fund.investmentID}` +
      (date && `&Date=${date}`),
  )
  const { distributionEntitlement, distributionsPaid, drpResidual } = only(reply)
  return [distributionEntitlement, distributionsPaid, drpResidual]
}

describe('The lists of a declaration', () => {
  it('replace, limit and leave out, by native and by external ids', async () => {
    const fund = await fundOf(service, [100, 200, 300, 400, 0])
    const ids = fund.accounts.map(({ accountID }) => accountID)
    const externals = fund.accounts.map(({ externalAccountId }) => externalAccountId)
    const declared = async (lists: object) => {
      const distribution = await configure(service, fund, perUnit)
      await stage(service.admin, 'Declare', distribution, lists)
      const rows = await entitled(service.admin, distribution)
      return rows.map((row: Record<string, number>) => [
        ids.indexOf(row.accountID!),
        row.units,
        row.grossAmount,
      ])
    }
    const everyone = [
      [0, 100, 10],
      [1, 200, 20],
      [2, 300, 30],
      [3, 400, 40],
    ]
    assert.deepEqual(await declared({}), everyone)
    assert.deepEqual(
      await declared({ preCalculatedAccounts: null, includeAccounts: [], excludeAccounts: [] }),
      everyone,
    )
    assert.deepEqual(
      await declared({
        includeAccounts: [{ accountID: ids[1] }, { externalAccountId: externals[2] }],
      }),
      everyone.slice(1, 3),
    )
    assert.deepEqual(
      await declared({
        excludeAccounts: [{ externalAccountId: externals[0] }, { accountID: ids[3] }],
      }),
      everyone.slice(1, 3),
    )
    const amounts = {
      preCalculatedAccounts: [
        { accountID: ids[1], amount: '7.77' },
        { externalAccountId: externals[4], amount: 1.5 },
        { accountID: ids[2], amount: 0 },
      ],
      excludeAccounts: [{ accountID: ids[0] }],
    }
    assert.deepEqual(await declared(amounts), [
      [1, 200, 7.77],
      [2, 300, 0],
      [3, 400, 40],
      [4, 0, 1.5],
    ])
  })

  it('are refused whole, each entry with its place, when they clash or name nobody', async () => {
    const fund = await fundOf(service, [100, 200, 300])
    const foreign = await fundOf(service, [1])
    const distribution = await configure(service, fund, perUnit)
    const [a, b, c] = fund.accounts.map(({ accountID }) => ({ accountID }))
    const before = await fingerprint(service)
    const tried = async (lists: object, codes: string[], fields: string[]) => {
      for (const path of ['Declare', 'Preview']) {
        const body = { ...keyOf(distribution), ...lists }
        const reply = await service.admin.post(`/Distribution/${path}`, body)
        refused(reply, 400, ...codes)
        assert.deepEqual(fieldsOf(reply), fields)
      }
    }
    await tried(
      { includeAccounts: [b, a], excludeAccounts: [c, a] },
      ['lists_clash'],
      ['includeAccounts[1]'],
    )
    const amount = 5
    await tried(
      {
        preCalculatedAccounts: [
          { ...a, amount },
          { ...b, amount },
        ],
        excludeAccounts: [b],
      },
      ['lists_clash'],
      ['preCalculatedAccounts[1]'],
    )
    await tried(
      { preCalculatedAccounts: [{ ...a, amount }], includeAccounts: [b] },
      ['lists_clash'],
      ['preCalculatedAccounts[0]'],
    )
    await tried(
      {
        includeAccounts: [{ accountID: 999_999 }, { externalAccountId: 'nobody' }, {}],
        excludeAccounts: [a, a, { accountID: account(foreign, 0) }],
      },
      ['given_twice', 'not_found', 'required'],
      [
        'includeAccounts[0].accountID',
        'includeAccounts[1].externalAccountId',
        'includeAccounts[2].accountID',
        'excludeAccounts[1]',
        'excludeAccounts[2].accountID',
      ],
    )
    await tried(
      { preCalculatedAccounts: [{ ...a, amount: -1 }] },
      ['invalid_decimal'],
      ['preCalculatedAccounts[0].amount'],
    )
    await tried({ preCalculatedAccounts: [a] }, ['required'], ['preCalculatedAccounts[0].amount'])
    assert.equal(await fingerprint(service), before)
  })

  it('cannot give away more than a total, nor leave some of it to nobody', async () => {
    const fund = await fundOf(service, [100, 0])
    const distribution = await configure(service, fund, { distributionAmountTotal: 10 })
    const [a, b] = fund.accounts.map(({ accountID }) => ({ accountID }))
    for (const path of ['Declare', 'Preview']) {
      const tried = (lists: object) =>
        service.admin.post(`/Distribution/${path}`, { ...keyOf(distribution), ...lists })
      refused(await tried({ preCalculatedAccounts: [{ ...a, amount: 10.01 }] }), 400, 'too_much')
      refused(await tried({ preCalculatedAccounts: [{ ...a, amount: 9 }] }), 409, 'nobody_to_share')
      refused(await tried({ includeAccounts: [b] }), 409, 'nobody_entitled')
    }
    const whole = { preCalculatedAccounts: [{ ...a, amount: 10 }] }
    await stage(service.admin, 'Declare', distribution, whole)
  })
})

describe('A preview', () => {
  it('shows what Declare then does, and writes nothing', async () => {
    const fund = await fundOf(service, [100, 250, 333, 4], twoClasses)
    await choose(service, account(fund, 1), 3, 40)
    await newPaymentDetail(service, account(fund, 0))
    await newPaymentDetail(service, account(fund, 2), { isForDistribution: false })
    await close(service, fund, 2, 333)
    const taxComponents = [
      { taxComponentName: 'CapitalGains', percentage: 12.5 },
      { taxComponentName: 'AustralianFrankedDividends', percentage: 87.5 },
    ]
    const distribution = await configure(service, fund, offered(fund, { taxComponents }))
    const body = { ...keyOf(distribution), excludeAccounts: [{ accountID: account(fund, 3) }] }
    const before = await fingerprint(service)
    const reader = await service.userWith({ role: 'ReadOnly' })
    const usersAdded = await fingerprint(service)
    const { data, status } = await reader.post('/Distribution/Preview', body)
    assert.equal(status, 200)
    assert.equal(await fingerprint(service), usersAdded)
    assert.notEqual(before, usersAdded) // the fingerprint sees a row
    const { accounts, exceptions, taxComponents: shares, ...totals } = data
    assert.deepEqual(totals, {
      accountCount: 3,
      units: 683,
      grossAmount: 68.3,
      taxAmount: 0,
      drpAmount: 10,
      cashAmount: 58.3,
      exceptionCount: 3,
      sinceLast: null,
    })
    assert.deepEqual(shares, [
      { taxComponentName: 'CapitalGains', amount: 8.54 },
      { taxComponentName: 'AustralianFrankedDividends', amount: 59.76 },
    ])
    assert.deepEqual(
      exceptions.map(({ accountID, code }: { accountID: number; code: string }) => [
        fund.accounts.findIndex((one) => one.accountID === accountID),
        code,
      ]),
      [
        [1, 'no_payment_detail'],
        [2, 'closed_account'],
        [2, 'no_payment_detail'],
      ],
    )
    const reply = await service.admin.post('/Distribution/Declare', body)
    assert.match(reply.message ?? '', /^Declared 68\.3 for 3 accounts\./)
    const shown = await entitled(service.admin, distribution)
    assert.deepEqual(
      shown,
      accounts.map((row: object) => ({ ...row, statusID: 2 })),
    )
    refused(await service.admin.post('/Distribution/Preview', body), 409, 'wrong_stage')
  })
})

describe('The stages', () => {
  it('follow each other, each once, with transactions and holdings that show them', async () => {
    const fund = await fundOf(service, [1000, 1000, 2], twoClasses)
    await choose(service, account(fund, 1), 3, 50)
    await choose(service, account(fund, 2), 2)
    const first = await newPaymentDetail(service, account(fund, 0))
    const standing = await newPaymentDetail(service, account(fund, 1), { isDefault: true })
    assert.ok(first < standing)
    const distribution = await configure(service, fund, {
      ...offered(fund, { drpAllotmentDate: '2025-07-20' }),
      externalCorporateActionId: 'STAGES',
      name: 'June 2025',
    })
    for (const name of ['Payment', 'DrpAllotment'])
      refused(await call(name, distribution), 409, 'wrong_stage')

    const declared = await stage(service.admin, 'Declare', distribution)
    assert.deepEqual(declared, { ...distribution, distributionStatusID: 2 })
    assert.deepEqual(await holding(fund, 1), [100, 0, 0])
    assert.deepEqual(await holding(fund, 1, '2025-06-29'), [0, 0, 0])
    // Locked in: neither back-dated units nor another choice change what is declared.
    await allot(service, fund, [{ accountID: account(fund, 0), quantity: 500 }], '2025-01-01')
    await choose(service, account(fund, 0), 2)
    refused(await call('Declare', distribution), 409, 'wrong_stage')
    refused(await call('DrpAllotment', distribution), 409, 'wrong_stage')

    const paid = await service.admin.post('/Distribution/Payment', {
      externalProductId: fund.externalProductId,
      externalCorporateActionId: 'STAGES',
    })
    assert.match(paid.message ?? '', /^Paid 150 to 2 accounts/)
    assert.equal(only(paid).distributionStatusID, 3)
    const payments = all(
      await service.admin.get(
        `/BizTransaction?ProductID=${fund.productID}&BizTransactionTypeID=10&ShowClosing=true`,
      ),
    )
    assert.deepEqual(
      payments.map((one: Record<string, unknown>) => [
        one.accountID,
        one.amount,
        one.quantity,
        one.transactionDate,
        one.movementReasonCode,
        one.corporateActionID,
        one.externalCorporateActionId,
        one.corporateActionName,
        one.transactionClosingQuantity,
      ]),
      [0, 1].map((i) => [
        account(fund, i),
        i === 0 ? 100 : 50,
        0,
        '2025-07-15T00:00:00Z',
        'DST',
        distribution.corporateActionID,
        'STAGES',
        'June 2025',
        i === 0 ? 1500 : 1000,
      ]),
    )
    assert.deepEqual(await holding(fund, 1), [0, 100, 0])
    assert.deepEqual(await holding(fund, 1, '2025-07-14'), [100, 0, 0])
    refused(await call('Payment', distribution), 409, 'wrong_stage')

    const allotted = await call('DrpAllotment', distribution)
    assert.match(allotted.message ?? '', /^Allotted 16 units for 48 to 1 account\./)
    assert.equal(only(allotted).distributionStatusID, 4)
    for (const name of stages) refused(await call(name, distribution), 409, 'wrong_stage')
    const [units] = all(
      await service.admin.get(
        `/BizTransaction?ProductID=${fund.productID}&BizTransactionTypeID=11`,
      ),
    )
    assert.deepEqual(
      [units.accountID, units.investmentID, units.quantity, units.amount, units.investmentPrice],
      [account(fund, 1), fund.investmentIDs[1], 16, 48, 3],
    )
    assert.equal(units.transactionDate, '2025-07-20T00:00:00Z')
    assert.deepEqual(await holding(fund, 1), [0, 100, 2])
    assert.deepEqual(await holding(fund, 1, '2025-07-19'), [0, 100, 0])
    assert.deepEqual(await holding(fund, 2), [0, 0.2, 0.2])
    const rows = await entitled(service.admin, distribution)
    assert.deepEqual(
      rows.map((row: Record<string, unknown>) => [
        row.units,
        row.grossAmount,
        row.cashAmount,
        row.drpAmount,
        row.drpUnits,
        row.drpResidual,
        row.paymentDetailID,
        row.statusID,
      ]),
      [
        [1000, 100, 100, 0, null, null, first, 4],
        [1000, 100, 50, 50, 16, 2, standing, 4],
        [2, 0.2, 0, 0.2, 0, 0.2, null, 4],
      ],
    )
    const [payment] = payments
    const change = { bizTransactionID: payment.bizTransactionID, amount: 1 }
    refused(await service.admin.put('/BizTransaction', change), 409, 'from_distribution')
    for (const { bizTransactionID } of [payment, units]) {
      const reply = await service.admin.put('/BizTransaction/Rollback', { bizTransactionID })
      refused(reply, 409, 'from_distribution')
    }
    // What the allotment made cannot be taken from under it.
    const sale = { accountID: account(fund, 1), investmentID: fund.investmentIDs[1], quantity: 16 }
    refused(
      await post('Redemption', { ...sale, amount: 1, transactionDate: '2025-07-19' }),
      409,
      'insufficient_holding',
    )
    await assertVerified(service)
  })

  it('carry what is left to the next distribution of the investment, and to no other', async () => {
    const fund = await fundOf(service, [100], { investments: [{}, { unitDecimals: 0 }, {}] })
    const third = fund.investmentIDs[2]!
    await choose(service, account(fund, 0), 2)
    const hold = { accountID: account(fund, 0), investmentID: third, quantity: 100 }
    await allot(service, fund, [hold], '2025-01-01')
    const run = async (more: object) => {
      const distribution = await configure(service, fund, offered(fund, more))
      for (const name of stages) await stage(service.admin, name, distribution)
      const [row] = await entitled(service.admin, distribution)
      return [row.drpUnits, row.drpResidual]
    }
    assert.deepEqual(await run({}), [3, 1])
    assert.deepEqual(await run({ investmentID: third }), [3, 1])
    assert.deepEqual(await run({}), [3, 2])
    assert.deepEqual(await run({ drpPrice: 100 }), [0, 12])
    assert.deepEqual(await run({ drpPrice: 11, recordDate: '2025-06-29' }), [2, 0])
    assert.deepEqual(await holding(fund, 0), [0, 40, 0])
  })
})
