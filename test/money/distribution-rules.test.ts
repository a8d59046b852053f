import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import {
  account,
  choose,
  configure,
  entitled,
  fundOf,
  keyOf,
  stage,
} from '../support/distribution.ts'
import { all, assertVerified, type Fund, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let fund: Fund
before(async () => {
  service = await startService()
  fund = await fundOf(service, [100, 200], { investments: [{}, {}] })
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})

const perUnit = { distributionAmountPerUnit: 0.5 }
const call = (name: string, distribution: object, more: object = {}) =>
  service.admin.post(`/Distribution/${name}`, {
    ...keyOf(distribution as { productID: number; corporateActionID: number }),
    ...(name === 'Declare' && { confirmSecond: true }),
    ...more,
  })

describe('A declaration', () => {
  it('of what is not complete is refused with all that is missing', async () => {
    const missing = async (more: object, ...words: string[]) => {
      const distribution = await configure(service, fund, more)
      for (const path of ['Declare', 'Preview']) {
        const reply = await call(path, distribution)
        refused(reply, 409, 'incomplete')
        assert.equal(
          reply.message,
          `The configuration is not complete: ${words.join(', ')} missing.`,
        )
      }
    }
    const bare = { recordDate: null, paymentDate: null }
    await missing(
      { ...perUnit, ...bare, drpIndicatorID: 2 },
      'recordDate',
      'paymentDate',
      'a DRP target',
    )
    const period = ['proRataStartDate', 'proRataEndDate']
    await missing({ centsPerUnitPerDay: 1 }, ...period)
    await missing({ proRataPercentPerAnnum: 1, proRataStartDate: '2025-01-01' }, period[1]!)
  })

  it('waits for the end of its record date in the product’s zone', async () => {
    const zone = 'Pacific/Kiritimati' // the first to begin a day
    await rowsOf(service.connection, 'update product set time_zone = $2 where product_id = $1', [
      fund.productID,
      zone,
    ])
    const day = (ahead: number) =>
      new Date(Date.now() + ahead * 86_400_000).toLocaleDateString('en-CA', { timeZone: zone })
    const on = (ahead: number) =>
      configure(service, fund, { ...perUnit, recordDate: day(ahead), paymentDate: day(ahead + 1) })
    refused(await call('Declare', await on(2)), 409, 'record_date')
    refused(await call('Declare', await on(0)), 409, 'record_date')
    assert.equal((await call('Declare', await on(-1))).status, 200)
  })

  it('is not followed by a payment or an allotment more than 14 days ahead', async () => {
    const own = await fundOf(service, [100], { investments: [{}, {}] })
    await choose(service, account(own, 0), 3, 50)
    const day = (ahead: number) =>
      new Date(Date.now() + ahead * 86_400_000).toLocaleDateString('en-CA', {
        timeZone: 'Australia/Sydney',
      })
    const drp = { drpIndicatorID: 2, drpInvestmentID: own.investmentIDs[1], drpPrice: 2 }
    const paidOn = (ahead: number) =>
      configure(service, own, { ...perUnit, ...drp, paymentDate: day(ahead) })
    const early = await paidOn(15)
    await stage(service.admin, 'Declare', early)
    refused(await call('Payment', early), 409, 'too_early')
    const right = await paidOn(14)
    await stage(service.admin, 'Declare', right)
    await stage(service.admin, 'Payment', right)
    const allot = (drpAllotmentDate: string) => call('DrpAllotment', right, { drpAllotmentDate })
    refused(await allot(day(15)), 409, 'too_early')
    refused(await allot('2025-06-29'), 400, 'invalid_value')
    assert.equal((await allot(day(14))).status, 200)
  })

  it('ends all changes: PUT and DELETE are refused after it', async () => {
    const distribution = await configure(service, fund, perUnit)
    await stage(service.admin, 'Declare', distribution)
    const change = { ...distribution, name: 'Late' }
    refused(await service.admin.put('/Distribution', change), 409, 'wrong_stage')
    const path = `/Distribution?CorporateActionID=${distribution.corporateActionID}`
    refused(await service.admin.delete(path), 409, 'wrong_stage')
    const rows = await entitled(service.admin, distribution)
    assert.equal(rows.length, 2)
  })

  it('with an Idempotency-Key is answered again, not done again', async () => {
    const distribution = await configure(service, fund, perUnit)
    const key = { 'Idempotency-Key': `declare-${distribution.corporateActionID}` }
    const body = { ...keyOf(distribution), confirmSecond: true }
    const first = await service.admin.post('/Distribution/Declare', body, key)
    const second = await service.admin.post('/Distribution/Declare', body, key)
    assert.equal(second.text, first.text)
    assert.equal(second.headers.get('idempotency-replayed'), 'true')
  })

  it('of an account without units keeps its entity from being deleted', async () => {
    const own = await fundOf(service, [100, 0])
    const distribution = await configure(service, own, perUnit)
    const preCalculatedAccounts = [{ accountID: account(own, 1), amount: 5 }]
    await stage(service.admin, 'Declare', distribution, { preCalculatedAccounts })
    const path = `/BizEntity?BizEntityID=${own.accounts[1]!.bizEntityID}`
    refused(await service.admin.delete(path), 409)
    await stage(service.admin, 'Payment', distribution)
  })

  it('for nobody is refused, and so is its preview', async () => {
    const empty = await fundOf(service, [0])
    const distribution = await configure(service, empty, perUnit)
    refused(await call('Declare', distribution), 409, 'nobody_entitled')
    refused(await call('Preview', distribution), 409, 'nobody_entitled')
  })

  it('of a second distribution with the same record date must be confirmed', async () => {
    const own = await fundOf(service, [100])
    const [first, second] = [
      await configure(service, own, perUnit),
      await configure(service, own, perUnit),
    ]
    const declare = (one: object, more: object = {}) =>
      service.admin.post('/Distribution/Declare', { ...keyOf(one as never), ...more })
    assert.equal((await declare(first)).status, 200)
    refused(await declare(second), 409, 'second_distribution')
    assert.equal((await declare(second, { confirmSecond: true })).status, 200)
  })
})

describe('A DRP allotment', () => {
  it('needs the DRP to be offered, a price and an active target', async () => {
    const own = await fundOf(service, [100], { investments: [{}, {}] })
    await choose(service, account(own, 0), 2)
    const paid = async (more: object) => {
      const distribution = await configure(service, own, { ...perUnit, ...more })
      await stage(service.admin, 'Declare', distribution)
      await stage(service.admin, 'Payment', distribution)
      return distribution
    }
    refused(await call('DrpAllotment', await paid({}), { drpPrice: 1 }), 409, 'drp_not_offered')
    const target = { drpIndicatorID: 2, drpInvestmentID: own.investmentIDs[1] }
    const distribution = await paid(target)
    refused(await call('DrpAllotment', distribution), 409, 'no_drp_price')
    refused(await call('DrpAllotment', distribution, { drpPrice: 0 }), 400, 'invalid_decimal')
    const active = (isActive: boolean) =>
      rowsOf(service.connection, 'update investment set is_active = $2 where investment_id = $1', [
        own.investmentIDs[1],
        isActive,
      ])
    await active(false)
    refused(await call('DrpAllotment', distribution, { drpPrice: 4 }), 409, 'investment_inactive')
    await active(true)
    const how = { drpPrice: 4, drpAllotmentDate: '2025-09-01' }
    const done = only(await call('DrpAllotment', distribution, how))
    assert.deepEqual([done.drpPrice, done.drpAllotmentDate], [4, '2025-09-01'])
    const [row] = await entitled(service.admin, distribution)
    assert.deepEqual([row.drpUnits, row.drpResidual], [12.5, 0])
  })

  it('uses nothing that is left over on a later day', async () => {
    const own = await fundOf(service, [100], { investments: [{}, { unitDecimals: 0 }] })
    await choose(service, account(own, 0), 2)
    const terms = { drpIndicatorID: 2, drpInvestmentID: own.investmentIDs[1], drpPrice: 40 }
    const [early, late] = [
      await configure(service, own, { ...perUnit, ...terms, drpAllotmentDate: '2025-08-06' }),
      await configure(service, own, { ...perUnit, ...terms, drpAllotmentDate: '2025-09-06' }),
    ]
    for (const name of ['Declare', 'Payment'])
      for (const one of [early, late]) only(await call(name, one, { confirmSecond: true }))
    only(await call('DrpAllotment', late))
    refused(await call('DrpAllotment', early), 409, 'later_allotment')
    only(await call('Reverse', late, { fromStatusID: 4, reason: 'Out of turn' }))
    for (const one of [early, late]) only(await call('DrpAllotment', one))
  })
})

describe('A period of days', () => {
  it('is declared when its last day has ended', async () => {
    const own = await fundOf(service, [1])
    const days = { proRataStartDate: '2025-01-01', proRataEndDate: '2099-12-31' }
    const made = (how: object) => configure(service, own, { ...how, ...days })
    for (const how of [{ centsPerUnitPerDay: 1 }, { distributionAmountTotal: 100 }])
      refused(await call('Declare', await made(how)), 409, 'too_early')
  })
})

describe('A product that takes no new money', () => {
  it('takes no new distribution', async () => {
    const own = await fundOf(service, [1])
    const active = (isActive: boolean) =>
      service.admin.put('/Product', { productID: own.productID, name: 'Fund', isActive })
    only(await active(false))
    const body = { ...perUnit, taxComponents: [{ taxComponentName: 'Interest', percentage: 100 }] }
    const asked = { productID: own.productID, investmentID: own.investmentID, ...body }
    refused(await service.admin.post('/Distribution', asked), 409, 'product_inactive')
  })
})

describe('GET /Distribution', () => {
  it('needs a product, and shows that product’s only', async () => {
    const own = await fundOf(service, [1])
    const one = await configure(service, own, perUnit)
    const two = await configure(service, own, perUnit)
    const reply = await service.admin.get('/Distribution')
    refused(reply, 400, 'required')
    for (const query of [
      `ProductID=${own.productID}`,
      `ExternalProductId=${own.externalProductId}`,
      `productid=${own.productID}&ExternalProductId=ignored`,
    ])
      assert.deepEqual(all(await service.admin.get(`/Distribution?${query}`)), [one, two])
    assert.deepEqual(all(await service.admin.get('/Distribution?ProductID=999999')), [])
    const page = `ProductID=${own.productID}&PageSize=1`
    assert.deepEqual(all(await service.admin.get(`/Distribution?${page}&PageNumber=2`)), [two])
    assert.deepEqual(all(await service.admin.get(`/Distribution?${page}&PageNumber=3`)), [])
    refused(await service.admin.get(`/Distribution?${page}&Name=x`), 400)
  })

  it('filters by every field of 4.18', async () => {
    const own = await fundOf(service, [1], {
      investments: [{}, { externalInvestmentId: 'Second' }],
    })
    const a = await configure(service, own, { ...perUnit, externalCorporateActionId: 'Jan_2025' })
    const b = await configure(service, own, {
      ...perUnit,
      investmentID: own.investmentIDs[1],
      recordDate: '2025-03-31',
      externalCorporateActionId: 'Mar-2025',
    })
    const c = await configure(service, own, { ...perUnit, recordDate: null })
    const found = async (query: string) =>
      all(await service.admin.get(`/Distribution?ProductID=${own.productID}&${query}`)).map(
        ({ corporateActionID }: { corporateActionID: number }) =>
          [a, b, c].findIndex((one) => one.corporateActionID === corporateActionID),
      )
    const id = (one: { corporateActionID: number }) => one.corporateActionID
    const expected: [string, number[]][] = [
      [`CorporateActionID=${id(b)}`, [1]],
      [`CorporateActionID.in=${id(a)},${id(c)}`, [0, 2]],
      [`CorporateActionID.greaterThan=${id(a)}&CorporateActionID.lessThan=${id(c)}`, [1]],
      [`InvestmentID=${own.investmentIDs[1]}`, [1]],
      [`InvestmentID.notIn=${own.investmentIDs[1]}`, [0, 2]],
      ['ExternalCorporateActionId=Jan_2025', [0]],
      ['ExternalCorporateActionId.contains=-2025', [1]],
      ['ExternalCorporateActionId.beginsWith=JAN_', [0]],
      ['ExternalCorporateActionId.endsWith=2025', [0, 1]],
      ['ExternalInvestmentId=Second', [1]],
      ['ExternalInvestmentId.notEqual=Second', [0, 2]],
      ['RecordDate=2025-03-31', [1]],
      ['RecordDate.greaterThanOrEqual=2025-04-01', [0]],
      ['RecordDate.in=2025-03-31,2025-06-30', [0, 1]],
      ['RecordDate.notEqual=2025-03-31', [0, 2]],
    ]
    for (const [query, places] of expected) assert.deepEqual(await found(query), places, query)
  })
})

describe('GET /Distribution/Account', () => {
  it('filters by distribution, account and investment, in their order, page by page', async () => {
    const own = await fundOf(service, [1, 2, 3], { investments: [{}, {}] })
    const name = { externalCorporateActionId: 'First' }
    const one = await configure(service, own, { ...perUnit, ...name })
    const two = await configure(service, own, perUnit)
    for (const each of [one, two]) await stage(service.admin, 'Declare', each)
    const [first, , third] = own.accounts
    const found = async (query: string) =>
      all(await service.admin.get(`/Distribution/Account?${query}`)).map(
        (row: { corporateActionID: number; accountID: number }) => [
          row.corporateActionID === one.corporateActionID ? 1 : 2,
          own.accounts.findIndex(({ accountID }) => accountID === row.accountID),
        ],
      )
    const everything = [1, 2].flatMap((d) => [0, 1, 2].map((a) => [d, a]))
    const product = `ProductID=${own.productID}`
    const expected: [string, number[][]][] = [
      [product, everything],
      [`ExternalProductId=${own.externalProductId}`, everything],
      [`${product}&PageSize=4&PageNumber=2`, everything.slice(4)],
      [`${product}&PageNumber=9007199254740991`, []],
      [`CorporateActionID=${two.corporateActionID}`, everything.slice(3)],
      [`${product}&ExternalCorporateActionId=First`, everything.slice(0, 3)],
      [
        `${product}&AccountID.in=${first!.accountID},${third!.accountID}&PageSize=2`,
        [
          [1, 0],
          [1, 2],
        ],
      ],
      [
        `${product}&ExternalAccountId=${third!.externalAccountId}`,
        [
          [1, 2],
          [2, 2],
        ],
      ],
      [
        `${product}&AccountNumber=${first!.accountNumber}`,
        [
          [1, 0],
          [2, 0],
        ],
      ],
      [`${product}&InvestmentID=${own.investmentIDs[1]}`, []],
    ]
    for (const [query, rows] of expected) assert.deepEqual(await found(query), rows, query)
    const [row] = all(await service.admin.get(`/Distribution/Account?${product}&PageSize=1`))
    assert.deepEqual(row, {
      corporateActionID: one.corporateActionID,
      externalCorporateActionId: 'First',
      productID: own.productID,
      ...{ externalProductId: own.externalProductId, investmentID: own.investmentIDs[0] },
      ...first,
      externalBizEntityId: row.externalBizEntityId,
      bizEntityName: 'Investor 1',
      units: 1,
      grossAmount: 0.5,
      taxComponents: [{ taxComponentName: 'CapitalGains', percentage: 100, amount: 0.5 }],
      ...{ taxAmount: 0, withholding: [] },
      drpAmount: 0,
      drpUnits: null,
      drpResidual: null,
      cashAmount: 0.5,
      paymentDetailID: null,
      statusID: 2,
      ...{ method: 'PerUnit', rate: 0.5, unitDays: null, unitValue: null },
      ...{ payeeName: null, payeeBsb: null, payeeAccountNumber: null, payeeIban: null },
      ...{ isPaid: false, isAllotted: false },
    })
  })
})

describe('A user with some products', () => {
  it('sees and touches their distributions only; others behave as if absent', async () => {
    const foreign = await fundOf(service, [1])
    const hidden = await configure(service, foreign, { ...perUnit, externalCorporateActionId: 'H' })
    const declared = await configure(service, foreign, perUnit)
    await stage(service.admin, 'Declare', declared)
    const mine = await configure(service, fund, perUnit)
    const user: Client = await service.userWith({ role: 'Operator', productIDs: [fund.productID] })
    assert.deepEqual(all(await user.get(`/Distribution?ProductID=${foreign.productID}`)), [])
    const { corporateActionID } = hidden
    assert.deepEqual(
      all(await user.get(`/Distribution/Account?CorporateActionID=${declared.corporateActionID}`)),
      [],
    )
    assert.deepEqual(
      all(await user.get(`/Distribution/Account?ProductID=${foreign.productID}`)),
      [],
    )
    for (const name of ['Preview', 'Declare', 'Payment', 'DrpAllotment'])
      for (const key of [
        { corporateActionID },
        keyOf(hidden),
        { productID: fund.productID, corporateActionID },
        { externalProductId: foreign.externalProductId, externalCorporateActionId: 'H' },
      ])
        refused(await user.post(`/Distribution/${name}`, key), 404, 'not_found')
    refused(await user.put('/Distribution', hidden), 404, 'not_found')
    refused(await user.delete(`/Distribution?CorporateActionID=${corporateActionID}`), 404)
    refused(await user.post('/Distribution', { ...hidden, externalCorporateActionId: null }), 404)
    const listed = { includeAccounts: [{ accountID: account(foreign, 0) }] }
    refused(
      await user.post('/Distribution/Declare', { ...keyOf(mine), ...listed }),
      400,
      'not_found',
    )
    await stage(user, 'Declare', mine)
  })

  it('without the permission does nothing', async () => {
    const user = await service.userWith({ permissions: ['Product.Read'] })
    refused(await user.get(`/Distribution?ProductID=${fund.productID}`), 403)
    const reader = await service.userWith({ role: 'ReadOnly' })
    const mine = await configure(service, fund, perUnit)
    refused(await reader.post('/Distribution/Declare', keyOf(mine)), 403)
    refused(await reader.post('/Distribution', mine), 403)
    assert.equal((await reader.post('/Distribution/Preview', keyOf(mine))).status, 200)
  })
})
