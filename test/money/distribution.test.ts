import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { configure, fundOf, oneComponent } from '../support/distribution.ts'
import { all, assertVerified, type Fund, only } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let fund: Fund
let codes: { externalInvestmentId: string; securityCode: string }[]
before(async () => {
  service = await startService()
  fund = await fundOf(service, [100, 200], { investments: [{}, {}] })
  const { data } = await service.admin.get(`/Investment?ProductID=${fund.productID}`)
  codes = data
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})

const create = (body: object, client: Client = service.admin) => client.post('/Distribution', body)
const minimal = () => ({
  productID: fund.productID,
  investmentID: fund.investmentID,
  distributionAmountPerUnit: 0.5,
  taxComponents: oneComponent,
})
const read = async (corporateActionID: number, client: Client = service.admin) =>
  all(
    await client.get(
      `/Distribution?ProductID=${fund.productID}&CorporateActionID=${corporateActionID}`,
    ),
  )

const everything = () => ({
  externalCorporateActionId: 'EVERY',
  productID: fund.productID,
  externalProductId: fund.externalProductId,
  investmentID: fund.investmentIDs[0],
  externalInvestmentId: codes[0]!.externalInvestmentId,
  securityCode: codes[0]!.securityCode,
  name: 'Juni-Quartal 2025 · 六月',
  description: 'd'.repeat(2000),
  accrualDate: '2025-06-29',
  recordDate: '2025-06-30',
  paymentDate: '2025-07-15',
  distributionAmountPerUnit: 0.123456789012345,
  distributionAmountTotal: 1000,
  centsPerUnitPerDay: 0.02,
  distributionTermID: 1,
  distributionPeriodID: 2,
  drpIndicatorID: 2,
  drpPrice: 1.2345,
  drpInvestmentID: fund.investmentIDs[1],
  drpExternalInvestmentId: codes[1]!.externalInvestmentId,
  drpSecurityCode: codes[1]!.securityCode,
  drpAllotmentDate: '2025-07-20',
  fileName: 'june.csv',
  proRataPercentPerAnnum: 8.25,
  proRataStartDate: '2025-04-01',
  proRataEndDate: '2025-06-30',
  unitValuationMethod: 'VWAP',
  taxComponents: [
    { taxComponentName: 'AustralianIncomeDividendsFranked', percentage: 33.3333 },
    { taxComponentName: 'AustralianIncomeDividendsUnfrankedPercentage', percentage: 33.3333 },
    { taxComponentName: 'CapitalGainsCapital', percentage: 33.3334 },
  ],
})

describe('POST /Distribution', () => {
  it('keeps every field, answers one object, and says what comes next', async () => {
    const reply = await create({ corporateActionID: 77, distributionStatusID: 3, ...everything() })
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.recordCount, 1)
    assert.match(reply.message ?? '', /Declare/)
    const { corporateActionID, distributionStatusID, stageProgress, ...rest } = reply.data
    assert.equal(stageProgress, null)
    assert.notEqual(corporateActionID, 77)
    assert.equal(distributionStatusID, 1)
    assert.deepEqual(rest, everything())
    assert.deepEqual(await read(corporateActionID), [reply.data])
  })

  it('shows every field where little is given, and takes 0 as not given', async () => {
    const { data } = await create({
      ...minimal(),
      distributionAmountTotal: 0,
      centsPerUnitPerDay: '0.0',
      proRataPercentPerAnnum: null,
      drpPrice: 0,
      drpIndicatorID: 0,
    })
    assert.deepEqual(
      Object.keys(data).sort(),
      [
        ...['corporateActionID', 'distributionStatusID', 'stageProgress'],
        ...Object.keys(everything()),
      ].sort(),
    )
    const kept = Object.entries(data).filter(([, value]) => value !== null)
    assert.deepEqual(Object.fromEntries(kept), {
      corporateActionID: data.corporateActionID,
      distributionStatusID: 1,
      ...minimal(),
      externalProductId: fund.externalProductId,
      externalInvestmentId: codes[0]!.externalInvestmentId,
      securityCode: codes[0]!.securityCode,
    })
  })

  it('finds product, investment and DRP target by any name; the first given wins', async () => {
    const { externalProductId } = fund
    const { productID: _p, investmentID: _i, ...rest } = minimal()
    const [from, to] = [codes[0]!, codes[1]!]
    for (const names of [
      { externalInvestmentId: from.externalInvestmentId, drpSecurityCode: to.securityCode },
      { securityCode: from.securityCode, drpExternalInvestmentId: to.externalInvestmentId },
      {
        investmentID: fund.investmentID,
        securityCode: 'not looked at',
        drpInvestmentID: fund.investmentIDs[1],
        drpExternalInvestmentId: 'not looked at',
      },
    ]) {
      const { data, status, text } = await create({ ...rest, externalProductId, ...names })
      assert.equal(status, 200, text)
      assert.deepEqual(
        [data.productID, data.investmentID, data.drpInvestmentID],
        [fund.productID, ...fund.investmentIDs],
      )
    }
  })

  it('names an investment not in the product in the words of the specification', async () => {
    const foreign = await fundOf(service, [])
    for (const names of [
      { investmentID: foreign.investmentID },
      { investmentID: undefined, externalInvestmentId: 'nothing' },
      { investmentID: 0, securityCode: 'NOTHING' },
    ]) {
      const reply = await create({ ...minimal(), ...names })
      refused(reply, 404, 'not_found')
      assert.equal(
        reply.message,
        'No record was found for the provided InvestmentID, ExternalInvestmentId or SecurityCode ' +
          `in ProductID (${fund.productID}).`,
      )
    }
    for (const names of [
      { drpInvestmentID: foreign.investmentID },
      { drpExternalInvestmentId: 'nothing' },
      { drpSecurityCode: 'NOTHING' },
    ]) {
      const reply = await create({ ...minimal(), ...names })
      refused(reply, 404, 'not_found')
      assert.equal(
        reply.message,
        "Can't find any record with the provided DrpInvestmentID, DrpExternalInvestmentId or " +
          'DrpSecurityCode.',
      )
    }
    const both = await create({ ...minimal(), investmentID: 999_999, drpSecurityCode: 'NOTHING' })
    assert.deepEqual(fieldsOf(both), ['investmentID', 'drpInvestmentID'])
  })

  it('tells all that is wrong at once', async () => {
    const reply = await create({
      taxComponents: [{ taxComponentName: 'CapitalGains', percentage: 99.99 }],
      proRataStartDate: '2025-02-01',
      proRataEndDate: '2025-01-31',
    })
    refused(reply, 400, 'required', 'tax_components', 'invalid_value')
    assert.deepEqual(fieldsOf(reply), [
      'productID',
      'investmentID',
      'distributionAmountPerUnit',
      'taxComponents',
      'proRataEndDate',
    ])
    const shape = await create({
      ...minimal(),
      recordDate: '2025-02-30',
      distributionAmountPerUnit: -1,
      unitValuationMethod: 'Guess',
      distributionTermID: 99,
      name: 'n'.repeat(201),
      taxComponents: [{ percentage: 101 }],
    })
    refused(
      shape,
      400,
      'invalid_date',
      'invalid_decimal',
      'invalid_value',
      'unknown_lookup',
      'too_long',
      'required',
    )
    const misprints = { recordDate: '0025-06-30', paymentDate: '0025-07-15' }
    const early = await create({ ...minimal(), ...misprints })
    refused(early, 400, 'out_of_range')
    assert.deepEqual(fieldsOf(early), ['recordDate', 'paymentDate'])
    const { taxComponents: _t, ...without } = minimal()
    refused(await create(without), 400, 'required')
    refused(await create({ ...minimal(), externalProductId: 'x', productID: 999_999 }), 404)
  })

  it('wants tax components of exactly 100 percent, in decimals', async () => {
    const components = (...percentages: (number | string)[]) =>
      create({
        ...minimal(),
        taxComponents: percentages.map((percentage) => ({ taxComponentName: 'C', percentage })),
      })
    for (const good of [
      [33.3333, 33.3333, 33.3334],
      ['0.1', 99.9],
      Array(10).fill('10.000'),
      [100, 0],
      ['99.999999999999999999', '0.000000000000000001'],
    ])
      assert.equal((await components(...good)).status, 200, String(good))
    for (const bad of [
      [33.33, 33.33, 33.33],
      [],
      [100, '0.000000000000000001'],
      ['99.999999999999999999'],
      [50, 50, 50],
    ])
      refused(await components(...bad), 400, 'tax_components')
  })

  it('keeps an external id to one distribution of a product', async () => {
    const body = { ...minimal(), externalCorporateActionId: 'TWICE' }
    assert.equal((await create(body)).status, 200)
    const again = await create(body)
    refused(again, 409, 'duplicate')
    assert.deepEqual(fieldsOf(again), ['externalCorporateActionId'])
    const elsewhere = await fundOf(service, [])
    await configure(service, elsewhere, {
      externalCorporateActionId: 'TWICE',
      distributionAmountPerUnit: 1,
    })
  })

  it('refuses a DRP target in another currency', async () => {
    const mixed = await fundOf(service, [], { investments: [{}, { currencyID: 3 }] })
    const reply = await create({
      ...minimal(),
      productID: mixed.productID,
      investmentID: mixed.investmentID,
      drpInvestmentID: mixed.investmentIDs[1],
    })
    refused(reply, 400, 'other_currency')
  })
})

describe('PUT /Distribution', () => {
  it('replaces all, by either id, and clears what is left out', async () => {
    const before = await configure(service, fund, {
      ...everything(),
      externalCorporateActionId: 'PUT',
    })
    const same = only(await service.admin.put('/Distribution', before))
    assert.deepEqual(same, before)
    const { productID, corporateActionID } = before
    const small = { ...minimal(), corporateActionID, distributionAmountPerUnit: 2 }
    const after = only(await service.admin.put('/Distribution', small))
    assert.deepEqual(
      [after.externalCorporateActionId, after.name, after.drpPrice, after.taxComponents],
      [null, null, null, oneComponent],
    )
    assert.deepEqual(await read(corporateActionID), [after])
    const named = { ...small, externalCorporateActionId: 'PUT-2' }
    only(await service.admin.put('/Distribution', named))
    const { corporateActionID: _c, ...byName } = named
    only(await service.admin.put('/Distribution', { ...byName, name: 'Found' }))
    const [found] = await read(corporateActionID)
    assert.deepEqual([found.productID, found.name], [productID, 'Found'])
  })

  it('is refused for what POST would refuse, and changes nothing then', async () => {
    const before = await configure(service, fund, { distributionAmountPerUnit: 1 })
    const put = (more: object) => service.admin.put('/Distribution', { ...before, ...more })
    refused(await put({ taxComponents: [] }), 400, 'tax_components')
    refused(await put({ distributionAmountPerUnit: 0 }), 400, 'required')
    refused(await put({ investmentID: 999_999 }), 404, 'not_found')
    refused(await put({ corporateActionID: 999_999 }), 404, 'not_found')
    refused(await put({ corporateActionID: null }), 400, 'required')
    assert.deepEqual(await read(before.corporateActionID), [before])
  })
})

describe('DELETE /Distribution', () => {
  it('removes what is configured, by either id, once', async () => {
    const gone = await configure(service, fund, {
      distributionAmountPerUnit: 1,
      externalCorporateActionId: 'GONE',
    })
    const path = `/Distribution?CorporateActionID=${gone.corporateActionID}`
    const race = await Promise.all([1, 2, 3, 4].map(() => service.admin.delete(path)))
    assert.equal(race.filter(({ status }) => status === 200).length, 1)
    for (const { status } of race) assert.ok([200, 404, 409].includes(status), String(status))
    assert.deepEqual(await read(gone.corporateActionID), [])
    refused(await service.admin.delete(path), 404, 'not_found')
    await configure(service, fund, {
      distributionAmountPerUnit: 1,
      externalCorporateActionId: 'GONE',
    })
    const byName = `ExternalProductId=${fund.externalProductId}&ExternalCorporateActionId=GONE`
    const reply = await service.admin.delete(`/Distribution?${byName}`)
    assert.deepEqual([reply.status, reply.data, reply.recordCount], [200, null, 0])
    refused(await service.admin.delete('/Distribution?ExternalCorporateActionId=GONE'), 400)
    refused(await service.admin.delete('/Distribution'), 400, 'required')
  })
})
