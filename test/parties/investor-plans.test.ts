import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readAddress } from '../../src/parties/address/sql.ts'
import { readParents } from '../../src/parties/biz-entity/parent.ts'
import { readEntities } from '../../src/parties/biz-entity/read.ts'
import { createEntities } from '../../src/parties/biz-entity/save.ts'
import { readCommunications } from '../../src/parties/communication/sql.ts'
import { readOrganisations } from '../../src/parties/organisation/sql.ts'
import { selectPaymentDetails } from '../../src/parties/payment-detail/sql.ts'
import { readPersons } from '../../src/parties/person/sql.ts'
import { vaultOf } from '../../src/parties/sealed/vault.ts'
import type { Actor } from '../../src/platform/actor.ts'
import type { Database, Sql, Tx } from '../../src/platform/sql/handle.ts'
import { openAsService, readingsOf } from '../support/explain.ts'
import { entityOf, unique } from '../support/investors.ts'
import { largeInvestors, largeTables } from '../support/large-investors.ts'

const count = 100_000
let database: Database
before(async () => {
  database = openAsService(await largeInvestors(count))
})
after(() => database.close())

const actorOf = (productIDs: number[] | null): Actor => ({
  userID: 1,
  username: 'test',
  sessionID: 'test',
  permissions: new Set(),
  productIDs,
})
const everyone = actorOf(null)

type Read = (handle: Sql, actor: Actor, query: never) => Promise<{ recordCount: number }>

/** Asserts that a read finds so many records in at most so many rows, and scans no large table. */
async function isLookUp(read: Read, query: object, found: number, rows: number, actor = everyone) {
  const what = `${read.name} ${JSON.stringify(query)} of ${actor.productIDs}`
  let recordCount = -1
  const work = async (tx: Tx) => {
    recordCount = (await read(tx, actor, query as never)).recordCount
  }
  // A page whose length a plan does not know is not what these plans are made for.
  const readings = await readingsOf(database, work, ['force_custom_plan'])
  // By its id alone an entity with organisations or parents, or none, is found by the second.
  const most = Object.keys(query).join() === 'BizEntityID' ? 2 : 1
  const trips = new Set(readings.map(({ text }) => text)).size
  assert.ok(trips >= 1 && trips <= most, `${what}: ${trips} round trips`)
  assert.equal(recordCount, found, what)
  // A way that is planned and not taken reads nothing.
  const walked = readings.filter(
    ({ how, table, rows: read }) => /Seq/.test(how) && read > 0 && largeTables.includes(table),
  )
  assert.deepEqual(walked, [], what)
  const total = readings.reduce((sum, one) => sum + one.rows, 0)
  assert.ok(total <= rows, `${what}: read ${total} rows`)
}

describe('A page of 1000 full entities', () => {
  it('is look-ups by index, whatever its number', async () => {
    await isLookUp(readEntities, { PageSize: 1000 }, 1000, 30_000)
    const far = { PageSize: 1000, PageNumber: 60 }
    await isLookUp(readEntities, far, 1000, 90_000) // 59,000 of them are passed over
    await isLookUp(readEntities, { PageNumber: 9_007_199_254_740_991 }, 0, 100)
  })
})

describe('An entity', () => {
  it('is found by every identifier with a handful of rows', async () => {
    for (const query of [
      { BizEntityID: 777 },
      { ExternalBizEntityId: 'ENT777' },
      { AccountID: 777 },
      { 'AccountID.in': [777] },
      { AccountNumber: '5000777' },
      { ExternalAccountId: 'ACC777' },
      { 'ExternalAccountId.in': ['ACC777', 'none'] },
      { PersonID: 50_777 },
      { ExternalPersonId: 'PER99998' },
      { OrganisationID: 777 },
      { ExternalOrganisationId: 'ORG777' },
      { 'CreatedDate.equal': '2026-01-01T00:12:57Z' },
      { UpdatedDate: '2026-01-01T00:12:57Z' },
      { UpdatedDateFull: '2026-01-02T03:46:40Z' },
    ])
      await isLookUp(readEntities, query, 1, 400)
  })

  it('is found through parts of its account number by index', async () => {
    await isLookUp(readEntities, { 'AccountNumber.contains': '0007777' }, 0, 3_000)
    await isLookUp(readEntities, { 'AccountNumber.endsWith': '07777' }, 1, 3_000)
    await isLookUp(readEntities, { 'ExternalAccountId.beginsWith': 'ACC7777' }, 11, 5_000)
  })
})

describe('Each filter', () => {
  it('fills a page without walking a large table', async () => {
    for (const query of [
      { ProductID: 7 },
      { ExternalProductId: 'P7' },
      { BizEntityTypeID: 3 },
      { 'BizEntityTypeID.notIn': [1, 2] },
      { InvestmentID: 1 },
      { ExternalInvestmentId: 'I1' },
      { SecurityCode: 'S2', ProductID: 4 },
      { 'AccountNumber.notEqual': 'x' },
      { 'CreatedDate.greaterThan': '2026-01-01T12:00:00Z', BizEntityTypeID: 2 },
      { UpdatedDateFull: '2026-01-01T12:00:00Z' },
    ])
      await isLookUp(readEntities, query, 100, 140_000)
  })

  it('finds nothing at little cost where there is nothing', async () => {
    for (const query of [
      { ProductID: 99 },
      { InvestmentID: 999 },
      { ExternalInvestmentId: 'I3' },
      { SecurityCode: 'none' },
      { PersonID: 999_999 },
      { AccountNumber: 'none' },
      { UpdatedDateFull: '2030-01-01T00:00:00Z' },
      { 'CreatedDate.lessThan': '2020-01-01T00:00:00Z' },
    ])
      await isLookUp(readEntities, query, 0, 200)
  })
})

describe('A user of one product', () => {
  it('reads by the same look-ups', async () => {
    const actor = actorOf([3])
    await isLookUp(readEntities, { PageSize: 1000 }, 1000, 60_000, actor)
    await isLookUp(readEntities, { BizEntityID: 2 }, 1, 100, actor)
    await isLookUp(readEntities, { BizEntityID: 3 }, 0, 100, actor)
    await isLookUp(readPersons, { PersonID: 3 }, 0, 100, actor)
    await isLookUp(readOrganisations, { ExternalOrganisationId: 'ORG3' }, 0, 100, actor)
    await isLookUp(readAddress as Read, { ExternalAddressId: 'ADR2' }, 1, 100, actor)
    await isLookUp(readCommunications, { ExternalCommunicationId: 'COM3' }, 0, 100, actor)
  })

  it('reads lists of what little is theirs without judging each record of all others', async () => {
    for (const read of [readPersons, readOrganisations, readCommunications]) {
      for (const PageNumber of [1, 40])
        await isLookUp(read, { PageSize: 10, PageNumber }, 10, 150_000, actorOf([5]))
      let found = -1
      const work = async (tx: Tx) => {
        found = (await read(tx, actorOf([99]), {})).recordCount
      }
      const readings = await readingsOf(database, work, ['force_custom_plan'])
      assert.equal(found, 0)
      const times = readings.reduce((sum, one) => sum + one.times, 0)
      assert.ok(times <= 60_000, `${read.name}: ${times} scans`)
    }
  })
})

describe('The other reads', () => {
  it('are look-ups, too', async () => {
    await isLookUp(readPersons, { ExternalPersonId: 'PER5' }, 1, 50)
    await isLookUp(readPersons, { PageSize: 1000, PageNumber: 3 }, 1000, 6_000)
    await isLookUp(readOrganisations, { PageSize: 1000 }, 1000, 9_000)
    await isLookUp(readAddress as Read, { AddressID: 5 }, 1, 10)
    await isLookUp(readAddress as Read, { ExternalAddressId: 'ADR5' }, 1, 10)
    await isLookUp(readCommunications, { PageSize: 1000 }, 1000, 5_000)
    await isLookUp(readParents, { BizEntityID: 10 }, 1, 20)
    await isLookUp(readParents, { ParentExternalBizEntityId: 'ENT9' }, 1, 20)
    await isLookUp(readParents, { PageSize: 1000 }, 1000, 5_000)
    const byKey: Read = async (handle, actor, query) => ({
      recordCount: (await handle.query(selectPaymentDetails(actor, query))).length,
    })
    await isLookUp(byKey, { ExternalPaymentDetailId: 'PAY5' }, 1, 10)
    await isLookUp(byKey, { PaymentDetailID: 5 }, 1, 10)
  })
})

describe('A bulk create', () => {
  const vault = vaultOf({ current: Buffer.alloc(32, 7), previous: [] })

  /** How many SQL statements it takes to create so many entities with one record of every kind. */
  async function statementsFor(entities: number): Promise<number> {
    const inputs = Array.from({ length: entities }, (_, i) => {
      // Every tenth changes a person who is there, and shared.
      const externalPersonId = i % 10 ? unique('P') : 'PER1'
      return entityOf(1, {
        externalBizEntityId: unique('E'),
        addresses: [{ suburb: 'S' }],
        communications: [{ communicationTypeID: 1, name: `${unique('m')}@example.com` }],
        paymentDetails: [{ bsb: '062000' }],
        bizEntityParties: [
          { person: { externalPersonId, firstName: unique('F'), taxationFileNumber: '123456782' } },
          { person: { addresses: [{ suburb: 'S' }] } },
          { organisation: { name: 'O', associatedPersons: [{ person: { firstName: 'D' } }] } },
          { personID: 2 },
        ],
        bizEntityParents: [{ parentBizEntityID: 1, activeFrom: '2026-01-01' }],
      })
    })
    let statements = 0
    await database.transaction(async (tx) => {
      const counting = {
        query: (statement: Parameters<Tx['query']>[0]) => {
          statements++
          return tx.query(statement)
        },
        isSpread: tx.isSpread,
      } as Tx
      const created = await createEntities(counting, everyone, vault, inputs as never, String)
      assert.equal(created.recordCount, entities)
    })
    return statements
  }

  it('of 1000 entities takes as many statements as one of ten: a fixed number', async () => {
    const few = await statementsFor(10)
    assert.equal(await statementsFor(1000), few)
    assert.ok(few <= 60, `${few} statements`)
  })
})
