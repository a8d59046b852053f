import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { entityOf, stateOf, unique } from '../support/investors.ts'
import { newProduct, only } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let productID: number
before(async () => {
  service = await startService()
  productID = (await newProduct(service)).productID
})
after(() => service.stop())

const put = (body: unknown) => service.admin.put('/BizEntity', body)
const create = async (more: object = {}) =>
  only(await service.admin.post('/BizEntity', entityOf(productID, more)))
const read = async (id: number) => only(await service.admin.get(`/BizEntity?BizEntityID=${id}`))
const email = () => `${unique('mail')}@example.com`

/** The input of an entity with one record of every kind. */
const full = () =>
  create({
    externalBizEntityId: unique('E'),
    taxationCountryCode: 'NZL',
    accounts: [
      { productID, externalAccountId: unique('A'), drpTypeID: 3, drpValue: '12.5' },
      { productID },
    ],
    addresses: [{ externalAddressId: unique('AD'), suburb: 'One' }, { suburb: 'Two' }],
    communications: [{ communicationTypeID: 1, name: email() }],
    paymentDetails: [{ bsb: '062-000', accountNumber: '1', isDefault: true, isForOther: true }],
    bizEntityParties: [
      {
        isPrimaryContact: true,
        ordinal: 1,
        person: {
          externalPersonId: unique('P'),
          firstName: 'Ann',
          taxationFileNumber: '123456782',
          addresses: [{ suburb: 'Home' }],
          communications: [{ communicationTypeID: 1, name: email() }],
        },
      },
      {
        ordinal: 2,
        organisation: {
          externalOrganisationId: unique('O'),
          name: 'Org',
          associatedPersons: [{ person: { lastName: 'Director' }, relationshipTypeID: 1 }],
        },
      },
    ],
  })

/** The dates of an entity from the database, more precise than filters compare them. */
async function datesOf(id: number): Promise<Record<string, string>> {
  const [row] = await rowsOf(
    service.connection,
    `select created_date::text, updated_date::text, updated_date_full::text
     from biz_entity where biz_entity_id = $1`,
    [id],
  )
  return row
}

/** The dates of an entity that have changed; asserts that none has gone back. */
async function movedSince(id: number, before: Record<string, string>) {
  const after = await datesOf(id)
  for (const [name, date] of Object.entries(before)) assert.ok(after[name]! >= date, name)
  return Object.keys(after).filter((name) => after[name] !== before[name])
}

describe('PUT /BizEntity', () => {
  it('of what was read changes nothing, dates included', async () => {
    const entity = await full()
    const before = await datesOf(entity.bizEntityID)
    const reply = await put(entity)
    assert.deepEqual(only(reply), entity)
    assert.deepEqual(await movedSince(entity.bizEntityID, before), [])
  })

  it('with nested persons in place of ids changes nothing either', async () => {
    const entity = await full()
    const before = await datesOf(entity.bizEntityID)
    const parties = entity.bizEntityParties.map((party: object) => ({
      ...party,
      personID: null,
      externalPersonId: null,
      organisationID: null,
      externalOrganisationId: null,
    }))
    assert.deepEqual(only(await put({ ...entity, bizEntityParties: parties })), entity)
    assert.deepEqual(await movedSince(entity.bizEntityID, before), [])
  })

  it('changes records with an id, adds those without, removes those left out', async () => {
    const entity = await full()
    const [first] = entity.addresses
    const changed = only(
      await put({
        ...entity,
        name: 'New name',
        legalName: null,
        addresses: [{ addressID: first.addressID, suburb: 'Changed' }, { suburb: 'Added' }],
        communications: [],
        paymentDetails: null,
        accounts: [{ externalAccountId: entity.accounts[0].externalAccountId }],
        bizEntityParties: [entity.bizEntityParties[0]],
      }),
    )
    assert.equal(changed.name, 'New name')
    assert.deepEqual(
      changed.addresses.map(({ suburb }: { suburb: string }) => suburb),
      ['Changed', 'Added'],
    )
    assert.equal(changed.addresses[0].addressID, first.addressID)
    assert.equal(changed.addresses[0].externalAddressId, first.externalAddressId)
    assert.deepEqual([changed.communications, changed.paymentDetails], [[], []])
    assert.equal(changed.accounts.length, 1)
    assert.equal(changed.accounts[0].accountID, entity.accounts[0].accountID)
    assert.equal(changed.accounts[0].accountNumber, entity.accounts[0].accountNumber)
    assert.equal(changed.accounts[0].drpTypeID, 1)
    assert.equal(changed.bizEntityParties.length, 1)
    const { organisationID } = entity.bizEntityParties[1]
    only(await service.admin.get(`/Organisation?OrganisationID=${organisationID}`))
  })

  it('is refused for ids of another entity, unknown ids and another type', async () => {
    const [mine, other] = [await full(), await full()]
    const before = await stateOf(service)
    const attempts: [object, number, string, string][] = [
      [{ bizEntityTypeID: 2 }, 400, 'immutable', 'bizEntityTypeID'],
      [{ addresses: [other.addresses[0]] }, 400, 'belongs_to_another', 'addresses[0].addressID'],
      [
        { addresses: [{ externalAddressId: other.addresses[0].externalAddressId }] },
        400,
        'belongs_to_another',
        'addresses[0].externalAddressId',
      ],
      [
        { communications: [{ communicationID: 999999 }] },
        404,
        'not_found',
        'communications[0].communicationID',
      ],
      [
        { paymentDetails: other.paymentDetails },
        400,
        'belongs_to_another',
        'paymentDetails[0].paymentDetailID',
      ],
      [{ accounts: [other.accounts[0]] }, 400, 'belongs_to_another', 'accounts[0].accountID'],
      [{ accounts: [{ accountID: 999999, productID }] }, 404, 'not_found', 'accounts[0].accountID'],
      [
        { bizEntityParties: other.bizEntityParties },
        400,
        'belongs_to_another',
        'bizEntityParties[0].bizEntityPartyID',
      ],
      [
        { addresses: [{ ...mine.addresses[0], externalAddressId: 'changed' }] },
        400,
        'immutable',
        'addresses[0].externalAddressId',
      ],
      [{ accounts: [] }, 400, 'required', 'accounts'],
      [{ bizEntityParties: [] }, 400, 'required', 'bizEntityParties'],
    ]
    for (const [change, status, code, field] of attempts) {
      const reply = await put({ ...mine, ...change })
      refused(reply, status, code)
      assert.equal(fieldsOf(reply)[0], field)
    }
    refused(await put({ ...mine, bizEntityID: 999999 }), 404, 'not_found')
    refused(await put({ ...mine, bizEntityID: null, externalBizEntityId: null }), 400, 'required')
    assert.equal(await stateOf(service), before)
  })

  it('may move an entity without history to another product, by new accounts only', async () => {
    const other = (await newProduct(service)).productID
    const entity = await create()
    refused(
      await put({ ...entity, accounts: [{ ...entity.accounts[0], productID: other }] }),
      400,
      'immutable',
    )
    const moved = only(await put({ ...entity, accounts: [{ productID: other }] }))
    assert.equal(moved.accounts[0].productID, other)
    const found = await service.admin.get(`/BizEntity?ProductID=${other}`)
    assert.equal(found.recordCount, 1)
  })
})

describe('updatedDate and updatedDateFull', () => {
  it('move as the main record and the nested structure change; createdDate never', async () => {
    const entity = await full()
    const id = entity.bizEntityID
    const main = await datesOf(id)
    await put({ ...entity, salutation: 'Dear' })
    assert.deepEqual(await movedSince(id, main), ['updated_date', 'updated_date_full'])
    const changed = await read(id)
    const nested = await datesOf(id)
    await put({ ...changed, addresses: [] })
    assert.deepEqual(await movedSince(id, nested), ['updated_date_full'])
  })

  it('are what UpdatedDate and UpdatedDateFull ask for, bare or with operators', async () => {
    const { bizEntityID, createdDate } = await create()
    const asks = async (filter: string) =>
      (await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}&${filter}`)).recordCount
    assert.equal(await asks(`UpdatedDateFull=${createdDate}`), 1)
    assert.equal(await asks(`UpdatedDate=${createdDate}`), 1)
    assert.equal(await asks('UpdatedDateFull=2000-01-01T00:00:00Z'), 1)
    assert.equal(await asks('UpdatedDate=2000-01-01T00:00:00Z'), 0)
    assert.equal(await asks('UpdatedDateFull.lessThan=2000-01-01T00:00:00Z'), 0)
    assert.equal(await asks('UpdatedDateFull=2999-01-01T00:00:00Z'), 0)
  })

  it('move through the direct endpoints of everything that an entity shows', async () => {
    const entity = await full()
    const id = entity.bizEntityID
    const [person, organisation] = entity.bizEntityParties
    const director = organisation.organisation.associatedPersons[0].person
    const { admin } = service
    const changes: [string, () => Promise<{ status: number; text: string }>][] = [
      ['a new address', () => admin.post('/Address', { bizEntityID: id, suburb: 'X' })],
      [
        "a person's address",
        () => admin.put('/Address', { ...person.person.addresses[0], suburb: 'Y' }),
      ],
      ['a person', () => admin.put('/Person', { ...person.person, lastName: unique('L') })],
      ['an associated person', () => admin.put('/Person', { ...director, lastName: unique('L') })],
      [
        'an associated person’s communication',
        () =>
          admin.post('/Communication', {
            personID: director.personID,
            communicationTypeID: 2,
            name: '1',
          }),
      ],
      [
        'an organisation',
        () => admin.put('/Organisation', { ...organisation.organisation, name: unique('N') }),
      ],
      [
        'a payment detail',
        () =>
          admin.delete(
            `/PaymentDetail?PaymentDetailID=${entity.paymentDetails[0].paymentDetailID}`,
          ),
      ],
      [
        'a communication',
        () =>
          admin.delete(
            `/Communication?CommunicationID=${entity.communications[0].communicationID}`,
          ),
      ],
    ]
    for (const [what, change] of changes) {
      const before = await datesOf(id)
      const reply = await change()
      assert.equal(reply.status, 200, `${what}: ${reply.text}`)
      assert.deepEqual(await movedSince(id, before), ['updated_date_full'], what)
    }
  })

  it('of all entities that show a person move when one of them changes the person', async () => {
    const first = await full()
    const { externalPersonId } = first.bizEntityParties[0]
    const second = await create({ bizEntityParties: [{ externalPersonId }] })
    const bystander = await create()
    const ids = [first, second, bystander].map(({ bizEntityID }) => bizEntityID)
    const before = await Promise.all(ids.map(datesOf))
    const party = { person: { externalPersonId, firstName: 'Renamed' } }
    await create({ bizEntityParties: [party] })
    const moved = await Promise.all(ids.map((id, i) => movedSince(id, before[i]!)))
    assert.deepEqual(moved, [['updated_date_full'], ['updated_date_full'], []])
  })
})
