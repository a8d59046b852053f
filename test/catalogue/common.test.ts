import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { lookups } from '../../src/platform/lookup/lookups.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

type Value = {
  category: string
  id: number
  code: string
  name: string
  description: string | null
}

/** The ids of lookup values never change, so no line of this list may ever change. */
const settled = `
BizEntityType: 1 Individual, 2 Company, 3 Trust, 4 SMSF, 5 Partnership
BizEntityStatus: 1 Active, 2 Pending, 3 Inactive, 4 Closed
AccountStatus: 1 Active, 2 Suspended, 3 Closed
AddressType: 3 Other, 6 Physical, 8 Postal
CommunicationType: 1 Email, 2 Phone, 3 Mobile, 4 Fax, 5 Website
PaymentType: 1 Direct credit, 2 Cheque, 3 BPAY, 4 International transfer
DRPType: 1 None, 2 Full, 3 Percentage, 4 Units
DRPIndicator: 1 Not offered, 2 Offered
DistributionStatus: 1 Configured, 2 Declared, 3 Paid, 4 Completed
DistributionTerm: 1 Income, 2 Capital, 3 Special
DistributionPeriod: 1 Monthly, 2 Quarterly, 3 Half-yearly, 4 Yearly, 5 Interim, 6 Final
BizEventType: 1 Deposit, 2 Redemption, 3 Allotment
BizEventStatus: 1 Pending, 2 Completed, 3 Cancelled
BizTransactionType: 1 Deposit, 2 Allotment, 3 Redemption, 4 Conversion out, 5 Conversion in, \
6 Adjustment, 7 Set quantity, 8 Transfer out, 9 Transfer in, 10 Distribution payment, \
11 DRP allotment, 12 Withholding tax, 13 Residual payment
BizTransactionStatus: 1 Complete, 2 Updated, 3 RolledBack
ConversionMethod: 1 Factor, 2 Price
ReportType: 1 Register of members, 2 Holdings, 3 Transactions, 4 Distribution, 5 Top holders, \
6 Holding ranges, 7 Holding statement
ReportStatus: 1 Queued, 2 Running, 3 Complete, 4 Failed`

describe('GET /Common/Lookup', () => {
  it('has every value of the categories that are settled, under its id', async () => {
    const { data } = await service.anyone.get('/Common/Lookup')
    const shown = (category: string) =>
      data
        .filter((value: Value) => value.category === category)
        .map(({ id, name }: Value) => `${id} ${name}`)
        .join(', ')
    for (const line of settled.trim().split('\n')) {
      const [category = '', values] = line.split(': ')
      // Kinds of reports come to those that the specification settles; their ids stay theirs.
      if (category === 'ReportType') assert.ok(shown(category).startsWith(`${values}, `), category)
      else assert.equal(shown(category), values, category)
    }
    const currencies = data.filter(({ category }: Value) => category === 'Currency')
    assert.equal(
      currencies.map(({ id, code }: Value) => `${id} ${code}`).join(', '),
      '1 AUD, 2 NZD, 3 USD, 4 GBP, 5 EUR, 6 SGD, 7 HKD, 8 JPY',
    )
    assert.match(currencies[7].description, /minor units 0/)
  })

  it('has the categories of our choice too, with ids from 1', async () => {
    const { data } = await service.anyone.get('/Common/Lookup')
    const chosen =
      'Title InvestorType SourceOfFunds PurposeOfInvestment CustomerCategory TaxOfficeType ' +
      'CommunicationPreference IdentificationType CRSFATCAParticipation RelationshipType ' +
      'DocumentType SophisticatedInvestorEligibility Country State'
    for (const category of chosen.split(' ')) {
      const ids = data
        .filter((value: Value) => value.category === category)
        .map(({ id }: Value) => id)
      assert.ok(ids.length > 0, category)
      assert.deepEqual(
        ids,
        ids.map((_: number, i: number) => i + 1),
        category,
      )
    }
    const australia = data.find(
      ({ category, code }: Value) => category === 'Country' && code === 'AU',
    )
    assert.deepEqual([australia.name, australia.description], ['Australia', 'AUS'])
  })

  it('answers the whole of it in one, without paging, token or version', async () => {
    const reply = await service.anyone.get('/Common/Lookup', { Version: undefined })
    assert.equal(reply.recordCount, reply.data.length)
    assert.ok(reply.recordCount > 300)
    assert.deepEqual(Object.keys(reply.data[0]), ['category', 'id', 'code', 'name', 'description'])
  })

  it('answers one category where one is asked for, and knows which there are', async () => {
    for (const category of Object.keys(lookups)) {
      const { data } = await service.anyone.get(`/common/lookup?category=${category}`)
      assert.ok(data.length > 0)
      assert.ok(data.every((value: Value) => value.category === category))
    }
    const unknown = await service.anyone.get('/Common/Lookup?Category=Colour')
    refused(unknown, 400, 'invalid_value')
    assert.deepEqual(fieldsOf(unknown), ['Category'])
  })
})

describe('GET /Common/HealthCheck', () => {
  it('tells that the service and its database answer', async () => {
    const { data, recordCount } = await service.anyone.get('/Common/HealthCheck')
    assert.equal(recordCount, 1)
    const { status, database, version, uptimeSeconds } = data
    assert.deepEqual([status, database], ['ok', 'ok'])
    assert.match(version, /^\d+\.\d+\.\d+/)
    assert.ok(Number.isInteger(uptimeSeconds) && uptimeSeconds >= 0)
  })
})
