import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { configure, entitled, keyOf, stage, takeBack } from '../support/distribution.ts'
import { only } from '../support/ledger.ts'
import { newRun, step } from '../support/payment-run.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'
import { abroad, investor, taxingFund, tfn } from '../support/withholding.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

describe('Rates of withholding tax', () => {
  const rate = {
    rule: 'NonResident',
    incomeKind: 'Royalty',
    countryCode: 'usa',
    percentage: 5,
    rounding: 'Cent',
    validFrom: '2030-01-01',
  }
  it('are added, ended and deleted, and never overlap, from anywhere at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 6 }, () => service.admin.post('/WithholdingRate', rate)),
    )
    const [first, ...others] = made.toSorted((a, b) => a.status - b.status)
    const { rateID, countryCode } = only(first!)
    assert.equal(countryCode, 'US')
    for (const code of ['CountryCode=USA', 'CountryCode=us', 'CountryCode.in=NZL,usa']) {
      const { data } = await service.admin.get(`/WithholdingRate?${code}&ValidFrom=2030-01-01`)
      assert.deepEqual(
        data.map((found: { rateID: number }) => found.rateID),
        [rateID],
      )
    }
    for (const reply of others) refused(reply, 409, 'overlap')
    const ended = { rateID, ...rate, validTo: '2030-06-30' }
    assert.equal(only(await service.admin.put('/WithholdingRate', ended)).validTo, '2030-06-30')
    const later = { ...rate, validFrom: '2030-07-01', percentage: 6 }
    const next = only(await service.admin.post('/WithholdingRate', later))
    refused(await service.admin.put('/WithholdingRate', { rateID, ...rate, validTo: null }), 409)
    for (const id of [rateID, next.rateID])
      assert.equal((await service.admin.delete(`/WithholdingRate?RateID=${id}`)).status, 200)
    refused(await service.admin.delete(`/WithholdingRate?RateID=${rateID}`), 404, 'not_found')
  })

  it('refuse what would have no effect, and users of some products', async () => {
    const post = (more: object) => service.admin.post('/WithholdingRate', { ...rate, ...more })
    refused(await post({ incomeKind: 'FrankedDividend' }), 400, 'invalid_value')
    refused(await post({ rule: 'NoTfn' }), 400, 'invalid_value')
    refused(await post({ validTo: '2029-01-01' }), 400, 'invalid_value')
    const ending = (await post({ countryCode: 'ZW', validTo: '2031-01-01' })).data[0]
    const { validTo: _stays, ...later } = { ...ending, validFrom: '2032-01-01' }
    refused(await service.admin.put('/WithholdingRate', later), 400, 'invalid_value')
    const { productID } = await taxingFund(service)
    const scoped = await service.userWith({ role: 'Administrator', productIDs: [productID] })
    refused(await scoped.post('/WithholdingRate', rate), 403, 'scope')
    assert.ok((await scoped.get('/WithholdingRate')).recordCount > 0)
  })

  it('must be there on the day of payment', async () => {
    const fund = await taxingFund(service)
    const { accountID } = await investor(service, fund, [{ person: { firstName: 'Al', ...tfn } }])
    const taxComponents = [{ taxComponentName: 'AustralianUnfrankedDividends', percentage: 100 }]
    const dates = { recordDate: '2001-06-30', paymentDate: '2001-07-15' }
    const how = { distributionAmountPerUnit: 1, taxComponents, ...dates }
    const distribution = await configure(service, fund, how)
    const lists = { preCalculatedAccounts: [{ accountID, amount: 1 }] }
    await stage(service.admin, 'Declare', distribution, lists)
    const reply = await service.admin.post('/Distribution/Payment', keyOf(distribution))
    refused(reply, 409, 'no_withholding_rate')
    assert.match(reply.text, /2001-07-15.*NoTfn UnfrankedDividend/)
  })

  it('cut no component in two parts where withholding began after Declare', async () => {
    const fund = await taxingFund(service, { withholding: false })
    const { productID } = fund
    await investor(service, fund, [{ person: { firstName: 'Una' } }], { units: 3 })
    const taxComponents = [
      { taxComponentName: 'CapitalGains', percentage: 50 },
      { taxComponentName: 'capitalgains', percentage: 50 },
    ]
    const distribution = await configure(service, fund, {
      distributionAmountPerUnit: 1,
      taxComponents,
    })
    await stage(service.admin, 'Declare', distribution)
    only(await service.admin.put('/Product', { productID, name: 'Taxing', withholding: true }))
    const reply = await service.admin.post('/Distribution/Payment', keyOf(distribution))
    refused(reply, 409, 'tax_components')
    assert.match(reply.message!, /capitalgains is there twice.*Distribution\/Reverse/)
    await takeBack(service.admin, distribution, 2)
    const mended = [{ taxComponentName: 'CapitalGains', percentage: 100 }]
    only(await service.admin.put('/Distribution', { ...distribution, taxComponents: mended }))
    for (const name of ['Declare', 'Payment'] as const)
      await stage(service.admin, name, distribution)
    const [row] = await entitled(service.admin, distribution)
    assert.equal(row.taxAmount, 1)
  })

  it('of a treaty are told to the bank by those of the day of payment', async () => {
    const fund = await taxingFund(service)
    const bank = { bsb: '062-000', accountNumber: '12345678', isForDistribution: true }
    for (const country of ['BR', 'NZ'])
      await investor(service, fund, [abroad(country)], { paymentDetails: [bank] })
    const dividend = { rule: 'NonResident', incomeKind: 'UnfrankedDividend', rounding: 'Cent' }
    const { data } = await service.admin.get(
      '/WithholdingRate?CountryCode=NZ&IncomeKind=UnfrankedDividend',
    )
    // One treaty ends before the second payment, and another begins.
    only(await service.admin.put('/WithholdingRate', { ...data[0], validTo: '2025-07-31' }))
    const begun = { ...dividend, countryCode: 'BR', percentage: 15, validFrom: '2025-08-01' }
    const { rateID } = only(await service.admin.post('/WithholdingRate', begun))
    const taxComponents = [{ taxComponentName: 'AustralianUnfrankedDividends', percentage: 100 }]
    const approver = await service.userWith({ role: 'Administrator' })
    const told = async (paymentDate: string, meanwhile = async () => {}) => {
      const how = { distributionAmountPerUnit: 1, taxComponents, paymentDate }
      const distribution = await configure(service, fund, how)
      for (const name of ['Declare', 'Payment'] as const)
        await stage(service.admin, name, distribution)
      const run = await newRun(service.admin, fund, { processingDate: paymentDate })
      await meanwhile()
      await step(approver, 'Approve', run)
      const path = `/PaymentRun/File?PaymentRunID=${run.paymentRunID}&Raw=true`
      const { text } = await service.admin.get(path)
      const records = text.split('\r\n').filter((line: string) => line.startsWith('1'))
      return records.map((line: string) => `${line[17]} ${line.slice(112)}`)
    }
    assert.deepEqual(await told('2025-07-15'), ['X 00030000', 'W 00015000'])
    // What was paid by a treaty stays so, also where its rate goes before the run is approved.
    const gone = async () => void (await service.admin.delete(`/WithholdingRate?RateID=${rateID}`))
    assert.deepEqual(await told('2025-08-15', gone), ['W 00015000', 'X 00030000'])
    only(await service.admin.put('/WithholdingRate', data[0]))
  })
})
