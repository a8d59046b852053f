import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { entityOf, stateOf, unique } from '../support/investors.ts'
import { newProduct, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

/** An entity of each product with one record of every kind, and records that nobody owns. */
let service: Service
let mine: number
let theirs: number
let own: Entity
let other: Entity
let client: Client
let free: { personID: number; externalPersonId: string }
before(async () => {
  service = await startService()
  mine = (await newProduct(service)).productID
  theirs = (await newProduct(service)).productID
  own = await full(mine)
  other = await full(theirs)
  client = await service.userWith({ role: 'Operator', productIDs: [mine] })
  free = only(await service.admin.post('/Person', { externalPersonId: unique('P') }))
})
after(() => service.stop())

// biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
type Entity = any

const full = async (productID: number): Promise<Entity> => {
  const parent = only(await service.admin.post('/BizEntity', entityOf(productID)))
  const owned = () => ({
    addresses: [{ externalAddressId: unique('A'), suburb: 'S' }],
    communications: [{ externalCommunicationId: unique('C'), communicationTypeID: 2, name: '1' }],
  })
  return only(
    await service.admin.post(
      '/BizEntity',
      entityOf(productID, {
        externalBizEntityId: unique('E'),
        accounts: [{ productID, externalAccountId: unique('AC') }],
        ...owned(),
        paymentDetails: [{ externalPaymentDetailId: unique('D'), bsb: '062000' }],
        bizEntityParties: [
          { person: { externalPersonId: unique('P'), firstName: 'Party', ...owned() } },
          {
            organisation: {
              externalOrganisationId: unique('O'),
              associatedPersons: [{ person: { externalPersonId: unique('Q'), ...owned() } }],
              ...owned(),
            },
          },
        ],
        bizEntityParents: [{ parentBizEntityID: parent.bizEntityID, activeFrom: '2026-01-01' }],
      }),
    ),
  )
}

/** The records inside an entity that have their own endpoints. */
function partsOf(entity: Entity) {
  const [{ person }, { organisation }] = entity.bizEntityParties
  const { person: associated } = organisation.associatedPersons[0]
  const owners = [entity, person, organisation, associated]
  return {
    persons: [person, associated],
    organisation,
    addresses: owners.flatMap(({ addresses }) => addresses),
    communications: owners.flatMap(({ communications }) => communications),
    paymentDetail: entity.paymentDetails[0],
    parent: entity.bizEntityParents[0],
  }
}

describe('Lists of persons, organisations and contacts', () => {
  const lists = [
    ['/Person', 'personID'],
    ['/Organisation', 'organisationID'],
    ['/Communication', 'communicationID'],
  ] as const
  const idsOf = async (path: string, field: string) =>
    (await client.get(path)).data.map((one: Record<string, number>) => one[field]) as number[]

  it('have page by page what they have as a whole, in either order, with its total', async () => {
    for (const [path, field] of lists) {
      const whole = await client.get(`${path}?PageSize=1000&IncludeTotal=true`)
      const all = await idsOf(`${path}?PageSize=1000`, field)
      assert.ok(all.length > 0 && new Set(all).size === all.length, path)
      assert.deepEqual(
        all,
        all.toSorted((one, another) => one - another),
      )
      assert.equal(JSON.parse(whole.text).totalCount, all.length)
      assert.deepEqual(await idsOf(`${path}?PageSize=1000&Order=desc`, field), all.toReversed())
      for (const [order, wanted] of [
        ['asc', all],
        ['desc', all.toReversed()],
      ] as const) {
        const pages: number[] = []
        let next = `${path}?PageSize=1&Order=${order}`
        for (;;) {
          const reply = await client.get(next)
          pages.push(...reply.data.map((one: Record<string, number>) => one[field]!))
          const cursor = reply.headers.get('next-cursor')
          if (!cursor) break
          next = `${path}?PageSize=1&Cursor=${cursor}`
        }
        assert.deepEqual(pages, wanted, `${path} ${order}`)
        const numbered = wanted.map(
          (_, i) => `${path}?PageSize=1&PageNumber=${i + 1}&Order=${order}`,
        )
        const found = await Promise.all(numbered.map((one) => idsOf(one, field)))
        assert.deepEqual(found.flat(), wanted)
      }
      for (const far of ['2', '9007199254740991'])
        assert.deepEqual(await idsOf(`${path}?PageSize=1000&PageNumber=${far}`, field), [])
    }
    assert.ok((await idsOf('/Person?PageSize=1000', 'personID')).includes(free.personID))
  })
})

describe('A user of another product', () => {
  it('reads none of it, by any id or filter', async () => {
    const { persons, organisation, addresses, communications, paymentDetail } = partsOf(other)
    const [account] = other.accounts
    const empty = [
      `/BizEntity?BizEntityID=${other.bizEntityID}`,
      `/BizEntity?ExternalBizEntityId=${other.externalBizEntityId}`,
      `/BizEntity?ProductID=${theirs}`,
      `/BizEntity?AccountID=${account.accountID}`,
      `/BizEntity?AccountNumber=${account.accountNumber}`,
      `/BizEntity?ExternalAccountId=${account.externalAccountId}`,
      `/BizEntity?PersonID=${persons[0].personID}`,
      `/BizEntity?ExternalPersonId=${persons[1].externalPersonId}`,
      `/BizEntity?OrganisationID=${organisation.organisationID}`,
      `/BizEntity/Parent?BizEntityID=${other.bizEntityID}`,
      ...persons.flatMap((one: Entity) => [
        `/Person?PersonID=${one.personID}`,
        `/Person?ExternalPersonId=${one.externalPersonId}`,
      ]),
      `/Organisation?OrganisationID=${organisation.organisationID}`,
      `/Organisation?ExternalOrganisationId=${organisation.externalOrganisationId}`,
      ...communications.flatMap((one: Entity) => [
        `/Communication?CommunicationID=${one.communicationID}`,
        `/Communication?ExternalCommunicationId=${one.externalCommunicationId}`,
      ]),
      `/PaymentDetail?PaymentDetailID=${paymentDetail.paymentDetailID}`,
      `/PaymentDetail?ExternalPaymentDetailId=${paymentDetail.externalPaymentDetailId}`,
    ]
    for (const path of empty) {
      const reply = await client.get(path)
      assert.deepEqual([reply.status, reply.data], [200, []], path)
      assert.ok((await service.admin.get(path)).recordCount > 0, path)
    }
    for (const { addressID, externalAddressId } of addresses) {
      refused(await client.get(`/Address?AddressID=${addressID}`), 404, 'not_found')
      refused(await client.get(`/Address?ExternalAddressId=${externalAddressId}`), 404, 'not_found')
    }
  })

  it('finds in every list what is theirs and what is nobody’s, and nothing else', async () => {
    const ids = async (path: string, field: string) =>
      new Set((await client.get(path)).data.map((one: Entity) => one[field]))
    const [ours, foreign] = [partsOf(own), partsOf(other)]
    const persons = await ids('/Person?PageSize=1000', 'personID')
    for (const { personID } of [...ours.persons, free]) assert.ok(persons.has(personID))
    for (const { personID } of foreign.persons) assert.ok(!persons.has(personID))
    const entities = await ids('/BizEntity?PageSize=1000', 'bizEntityID')
    assert.ok(entities.has(own.bizEntityID) && !entities.has(other.bizEntityID))
    const organisations = await ids('/Organisation?PageSize=1000', 'organisationID')
    assert.ok(organisations.has(ours.organisation.organisationID))
    assert.ok(!organisations.has(foreign.organisation.organisationID))
    const communications = await ids('/Communication?PageSize=1000', 'communicationID')
    for (const { communicationID } of ours.communications)
      assert.ok(communications.has(communicationID))
    for (const { communicationID } of foreign.communications)
      assert.ok(!communications.has(communicationID))
    const details = await ids('/PaymentDetail', 'paymentDetailID')
    assert.deepEqual(details, new Set([ours.paymentDetail.paymentDetailID]))
    const links = await ids('/BizEntity/Parent', 'bizEntityID')
    assert.deepEqual(links, new Set([own.bizEntityID]))
  })

  it('changes and removes none of it: it is not there', async () => {
    const { persons, organisation, addresses, communications, paymentDetail, parent } =
      partsOf(other)
    const before = await stateOf(service)
    const attempts: [string, string, object?][] = [
      ['PUT', '/BizEntity', other],
      ['DELETE', `/BizEntity?BizEntityID=${other.bizEntityID}`],
      ['DELETE', `/BizEntity?ExternalBizEntityId=${other.externalBizEntityId}`],
      ['POST', '/BizEntity/Parent', { ...parent, activeFrom: '2027-01-01' }],
      ['PUT', '/BizEntity/Parent', parent],
      [
        'DELETE',
        `/BizEntity/Parent?BizEntityID=${parent.bizEntityID}` +
          `&ParentBizEntityID=${parent.parentBizEntityID}&ActiveFrom=${parent.activeFrom}`,
      ],
      ...persons.flatMap((one: Entity): [string, string, object?][] => [
        ['PUT', '/Person', one],
        ['DELETE', `/Person?PersonID=${one.personID}`],
        ['POST', '/Address', { personID: one.personID }],
        ['POST', '/Communication', { externalPersonId: one.externalPersonId }],
      ]),
      ['PUT', '/Organisation', organisation],
      ['DELETE', `/Organisation?OrganisationID=${organisation.organisationID}`],
      ['POST', '/Address', { organisationID: organisation.organisationID }],
      ['POST', '/Address', { bizEntityID: other.bizEntityID }],
      ['POST', '/Communication', { externalBizEntityId: other.externalBizEntityId }],
      ['POST', '/PaymentDetail', { bizEntityID: other.bizEntityID }],
      ...addresses.flatMap((one: Entity): [string, string, object?][] => [
        ['PUT', '/Address', one],
        ['DELETE', `/Address?AddressID=${one.addressID}`],
      ]),
      ...communications.flatMap((one: Entity): [string, string, object?][] => [
        ['PUT', '/Communication', one],
        ['DELETE', `/Communication?CommunicationID=${one.communicationID}`],
      ]),
      ['PUT', '/PaymentDetail', paymentDetail],
      ['DELETE', `/PaymentDetail?PaymentDetailID=${paymentDetail.paymentDetailID}`],
    ]
    for (const [method, path, body] of attempts)
      refused(await client.call(method, path, body), 404, 'not_found')
    assert.equal(await stateOf(service), before)
  })

  it('links and hands over to none of it, nested or not', async () => {
    const { persons, organisation, addresses } = partsOf(other)
    const [person] = persons
    const [address] = partsOf(own).addresses
    const before = await stateOf(service)
    const entity = (more: object) => entityOf(mine, more)
    const attempts: [string, object][] = [
      ['/BizEntity', entity({ accounts: [{ productID: theirs }] })],
      ['/BizEntity', entity({ bizEntityParties: [{ personID: person.personID }] })],
      ['/BizEntity', entity({ bizEntityParties: [{ externalPersonId: person.externalPersonId }] })],
      ['/BizEntity', entity({ bizEntityParties: [{ person: { personID: person.personID } }] })],
      [
        '/BizEntity',
        entity({ bizEntityParties: [{ organisationID: organisation.organisationID }] }),
      ],
      [
        '/BizEntity',
        entity({
          bizEntityParties: [
            { organisation: { associatedPersons: [{ personID: person.personID }] } },
          ],
        }),
      ],
      ['/BizEntity', entity({ authorizedNomineePersonID: person.personID })],
      ['/BizEntity', entity({ marginLenderOrganisationID: organisation.organisationID })],
      ['/BizEntity', entity({ groupedWithBizEntityID: other.bizEntityID })],
      [
        '/BizEntity',
        entity({
          bizEntityParents: [{ parentBizEntityID: other.bizEntityID, activeFrom: '2026-01-01' }],
        }),
      ],
      ['/Organisation', { associatedPersons: [{ personID: person.personID }] }],
    ]
    for (const [path, body] of attempts) refused(await client.post(path, body), 404, 'not_found')
    const handover = { ...address, bizEntityID: other.bizEntityID, externalBizEntityId: null }
    refused(await client.put('/Address', { ...handover, personID: null }), 404, 'not_found')
    const nested = { ...own, addresses: [{ addressID: addresses[0].addressID }] }
    refused(await client.put('/BizEntity', nested), 404, 'not_found')
    refused(
      await client.put('/BizEntity', {
        ...own,
        accounts: [{ accountID: other.accounts[0].accountID }],
      }),
      404,
      'not_found',
    )
    assert.equal(await stateOf(service), before)
  })

  it('does not get at persons through an organisation that is linked to no entity', async () => {
    const [{ personID }] = partsOf(other).persons
    const input = { name: unique('Agency'), associatedPersons: [{ personID }], addresses: [{}] }
    const { organisationID, name, addresses } = only(
      await service.admin.post('/Organisation', input),
    )
    const theirClient = await service.userWith({ role: 'Operator', productIDs: [theirs] })
    for (const path of [`/Organisation?OrganisationID=${organisationID}`, `/Search?Text=${name}`]) {
      assert.deepEqual((await client.get(path)).data, [])
      assert.equal((await theirClient.get(path)).recordCount, 1)
    }
    const { addressID } = addresses[0]
    refused(await client.get(`/Address?AddressID=${addressID}`), 404, 'not_found')
    refused(await client.put('/Organisation', { organisationID }), 404, 'not_found')
    const parties = { bizEntityParties: [{ organisationID }] }
    refused(await client.post('/BizEntity', entityOf(mine, parties)), 404, 'not_found')
    assert.deepEqual((await client.get(`/Person?PersonID=${personID}`)).data, [])
    only(await service.admin.put('/Organisation', { organisationID, name }))
    only(await client.get(`/Organisation?OrganisationID=${organisationID}`))
  })

  it('cannot take the external id of a person they do not see, nor change them by it', async () => {
    const [person] = partsOf(other).persons
    const { externalPersonId } = person
    const parties = [{ person: { externalPersonId, firstName: 'Stolen' } }]
    const before = await stateOf(service)
    refused(
      await client.post('/BizEntity', entityOf(mine, { bizEntityParties: parties })),
      409,
      'duplicate',
    )
    refused(await client.post('/Person', { externalPersonId }), 409, 'duplicate')
    assert.equal(await stateOf(service), before)
  })
})

describe('What is in the scope', () => {
  it('can be read, sent back, changed and removed', async () => {
    const entity = await full(mine)
    const read = only(await client.get(`/BizEntity?BizEntityID=${entity.bizEntityID}`))
    assert.deepEqual(read, entity)
    assert.deepEqual(only(await client.put('/BizEntity', read)), entity)
    const { persons, organisation, paymentDetail, parent } = partsOf(entity)
    for (const one of persons) assert.equal((await client.put('/Person', one)).status, 200)
    assert.equal((await client.put('/Organisation', organisation)).status, 200)
    assert.equal((await client.put('/PaymentDetail', paymentDetail)).status, 200)
    assert.equal((await client.put('/BizEntity/Parent', parent)).status, 200)
    const gone = await client.delete(`/BizEntity?BizEntityID=${entity.bizEntityID}`)
    assert.equal(gone.status, 200, gone.text)
  })

  it('includes persons of nobody, who belong to the product once they are linked', async () => {
    const loose = only(await client.post('/Person', { firstName: 'Loose' }))
    const stranger = await service.userWith({ role: 'Operator', productIDs: [theirs] })
    const seenBy = async (one: Client) =>
      (await one.get(`/Person?PersonID=${loose.personID}`)).recordCount
    assert.equal(await seenBy(stranger), 1)
    only(
      await client.post(
        '/BizEntity',
        entityOf(mine, { authorizedNomineePersonID: loose.personID }),
      ),
    )
    assert.deepEqual([await seenBy(client), await seenBy(stranger)], [1, 0])
  })

  it('includes a person shared with another product, whose entities show the change', async () => {
    const externalPersonId = unique('P')
    const parties = [{ person: { externalPersonId, firstName: 'Shared' } }]
    const ours = only(
      await service.admin.post('/BizEntity', entityOf(mine, { bizEntityParties: parties })),
    )
    const foreign = only(
      await service.admin.post(
        '/BizEntity',
        entityOf(theirs, { bizEntityParties: [{ externalPersonId }] }),
      ),
    )
    const dates = () =>
      rowsOf(
        service.connection,
        'select updated_date_full::text from biz_entity where biz_entity_id = $1',
        [foreign.bizEntityID],
      )
    const before = await dates()
    const changed = [{ person: { externalPersonId, firstName: 'Renamed' } }]
    only(await client.put('/BizEntity', { ...ours, bizEntityParties: changed }))
    const seen = only(await service.admin.get(`/BizEntity?BizEntityID=${foreign.bizEntityID}`))
    assert.equal(seen.bizEntityParties[0].person.firstName, 'Renamed')
    assert.notDeepEqual(await dates(), before)
    // From the side it is refused for everybody: more than one entity relies on the person.
    const { personID } = seen.bizEntityParties[0].person
    refused(await client.put('/Person', { personID, firstName: 'Again' }), 409, 'in_use')
  })

  it('keeps links to parents that the user cannot see, and does not show them', async () => {
    const entity = await full(mine)
    const { bizEntityID } = entity
    const link = { bizEntityID, parentBizEntityID: other.bizEntityID, activeFrom: '2026-05-01' }
    only(await service.admin.post('/BizEntity/Parent', link))
    const read = only(await client.get(`/BizEntity?BizEntityID=${bizEntityID}`))
    assert.equal(read.bizEntityParents.length, 1)
    only(await client.put('/BizEntity', { ...read, bizEntityParents: [] }))
    const left = only(await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`))
    assert.deepEqual(
      left.bizEntityParents.map((one: Entity) => one.parentBizEntityID),
      [other.bizEntityID],
    )
    refused(await client.put('/BizEntity/Parent', link), 404, 'not_found')
  })
})
