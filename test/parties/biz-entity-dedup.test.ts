import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Reply } from '../support/client.ts'
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

const post = (body: unknown) => service.admin.post('/BizEntity', body)
const create = async (parties: object[]) =>
  only(await post(entityOf(productID, { bizEntityParties: parties })))
const persons = async (externalPersonId: string) =>
  (await service.admin.get(`/Person?ExternalPersonId=${externalPersonId}`)).data

describe('A party', () => {
  it('that names whom we know links them, and reaches nothing nested', async () => {
    const externalPersonId = unique('P')
    const person = only(
      await service.admin.post('/Person', { externalPersonId, firstName: 'Stored' }),
    )
    const organisation = only(await service.admin.post('/Organisation', { name: 'Stored' }))
    const nested = { firstName: 'Never', gender: 'not even valid' }
    const entity = await create([
      { personID: person.personID, person: nested },
      { externalPersonId, person: nested, organisation: { name: 5 } },
      { organisationID: organisation.organisationID, organisation: { name: 'Never' } },
    ])
    const [first, second, third] = entity.bizEntityParties
    assert.equal(first.personID, person.personID)
    assert.equal(second.personID, person.personID)
    assert.equal(first.person.firstName, 'Stored')
    assert.equal(third.organisation.name, 'Stored')
  })

  it('that names nobody there is refused, also where the request itself brings them', async () => {
    const externalPersonId = unique('P')
    const before = await stateOf(service)
    const reply = await post(
      entityOf(productID, {
        bizEntityParties: [
          { person: { externalPersonId, firstName: 'New' } },
          { externalPersonId },
          { personID: 987654 },
        ],
      }),
    )
    refused(reply, 404, 'not_found')
    assert.deepEqual(fieldsOf(reply), [
      'bizEntityParties[1].externalPersonId',
      'bizEntityParties[2].personID',
    ])
    const organisation = entityOf(productID, {
      bizEntityParties: [{ externalOrganisationId: unique('O') }],
    })
    refused(await post(organisation), 404, 'not_found')
    assert.equal(await stateOf(service), before)
  })

  it('is one of person and organisation: none or both is refused', async () => {
    for (const party of [{}, { personID: 1, organisationID: 1 }, { person: {}, organisation: {} }])
      refused(await post(entityOf(productID, { bizEntityParties: [party] })), 400)
  })
})

describe('Persons and organisations in one request', () => {
  it('with the same external id are one record; the first with details wins', async () => {
    const [p, o] = [unique('P'), unique('O')]
    const entity = await create([
      { person: { externalPersonId: p } },
      { person: { externalPersonId: p, firstName: 'First', lastName: 'Wins' } },
      { person: { externalPersonId: p, firstName: 'Second', gender: 'F' } },
      { organisation: { externalOrganisationId: o, name: 'Org' } },
      { organisation: { externalOrganisationId: o, name: 'Ignored' } },
    ])
    const ids = entity.bizEntityParties.map(({ personID }: { personID: number }) => personID)
    assert.equal(new Set(ids.slice(0, 3)).size, 1)
    const [person, ...others] = await persons(p)
    assert.deepEqual(others, [])
    assert.deepEqual([person.firstName, person.lastName, person.gender], ['First', 'Wins', null])
    const [, , , fourth, fifth] = entity.bizEntityParties
    assert.equal(fourth.organisationID, fifth.organisationID)
    assert.equal(fifth.organisation.name, 'Org')
  })

  it('are one across entities, parties and associated persons', async () => {
    const [p, q, o] = [unique('P'), unique('Q'), unique('O')]
    const reply = await post([
      entityOf(productID, {
        bizEntityParties: [
          {
            organisation: {
              externalOrganisationId: o,
              associatedPersons: [
                { externalPersonId: p, relationshipTypeID: 1 },
                { externalPersonId: p, relationshipTypeID: 3 },
                { externalPersonId: q, person: { firstName: 'Quinn' } },
              ],
            },
          },
          { person: { externalPersonId: p, firstName: 'Pat' } },
        ],
      }),
      entityOf(productID, { bizEntityParties: [{ person: { externalPersonId: p } }] }),
    ])
    assert.equal(reply.status, 200, reply.text)
    const [first, second] = reply.data
    const { associatedPersons } = first.bizEntityParties[0].organisation
    const [{ personID }] = await persons(p)
    assert.deepEqual(
      associatedPersons.map((one: { personID: number }) => one.personID).slice(0, 2),
      [personID, personID],
    )
    assert.equal(associatedPersons[2].person.firstName, 'Quinn')
    assert.equal(second.bizEntityParties[0].personID, personID)
    assert.equal(second.bizEntityParties[0].person.firstName, 'Pat')
  })

  it('without an external id are created each time', async () => {
    const entity = await create([
      { person: { firstName: 'Twin' } },
      { person: { firstName: 'Twin' } },
    ])
    const [one, two] = entity.bizEntityParties
    assert.notEqual(one.personID, two.personID)
  })

  it('named by associatedPersons alone must exist', async () => {
    const unknown = { associatedPersons: [{ externalPersonId: unique('P') }] }
    const reply = await post(entityOf(productID, { bizEntityParties: [{ organisation: unknown }] }))
    refused(reply, 404, 'not_found')
    assert.deepEqual(fieldsOf(reply), [
      'bizEntityParties[0].organisation.associatedPersons[0].externalPersonId',
    ])
  })
})

describe('A person that is known from an earlier request', () => {
  it('is updated with what is given, not duplicated, and keeps the rest', async () => {
    const externalPersonId = unique('P')
    const name = `${unique('m')}@example.com`
    await create([
      {
        person: {
          externalPersonId,
          firstName: 'Old',
          lastName: 'Kept',
          taxationFileNumber: '123456782',
          isPEP: true,
          communications: [{ communicationTypeID: 1, name }],
        },
      },
    ])
    const again = {
      externalPersonId,
      firstName: 'New',
      communications: [{ communicationTypeID: 1, name }],
    }
    const entity = await create([{ person: again }])
    const [person, ...others] = await persons(externalPersonId)
    assert.deepEqual(others, [])
    assert.deepEqual(
      [person.firstName, person.lastName, person.taxationFileNumber, person.isPEP],
      ['New', 'Kept', '******782', true],
    )
    assert.equal(person.communications.length, 1)
    assert.equal(entity.bizEntityParties[0].personID, person.personID)
    await create([{ person: { externalPersonId } }])
    assert.deepEqual(await persons(externalPersonId), [person])
  })

  it('through PUT /BizEntity is replaced as PUT /Person would', async () => {
    const externalPersonId = unique('P')
    const person = {
      externalPersonId,
      firstName: 'Old',
      lastName: 'Goes',
      addresses: [{ suburb: 'X' }],
    }
    const entity = await create([{ person }])
    const parties = [{ person: { externalPersonId, firstName: 'New' } }]
    only(await service.admin.put('/BizEntity', { ...entity, bizEntityParties: parties }))
    const [now] = await persons(externalPersonId)
    assert.deepEqual([now.firstName, now.lastName, now.addresses], ['New', null, []])
  })
})

describe('Requests that bring the same new person at the same moment', () => {
  it('all succeed and end with one person', async () => {
    for (let round = 0; round < 5; round++) {
      const [p, q] = [unique('P'), unique('Q')]
      const bring = (i: number): Promise<Reply> => {
        const parties = [p, q].map((externalPersonId) => ({
          person: { externalPersonId, firstName: `from ${i}` },
        }))
        // In both orders: neither may wait for the other for ever.
        return post(entityOf(productID, { bizEntityParties: i % 2 ? parties : parties.reverse() }))
      }
      const replies = await Promise.all([0, 1, 2, 3, 4, 5].map(bring))
      for (const reply of replies) assert.equal(reply.status, 200, reply.text)
      const counted = await rowsOf(
        service.connection,
        'select external_person_id from person where external_person_id = any($1)',
        [[p, q]],
      )
      assert.equal(counted.length, 2)
    }
  })

  it('or change the same persons in other orders never hang', async () => {
    const externals = [unique('P'), unique('P'), unique('P')]
    await create(externals.map((externalPersonId) => ({ person: { externalPersonId } })))
    const change = (i: number) => {
      const order = i % 2 ? externals : externals.toReversed()
      return post(
        entityOf(productID, {
          bizEntityParties: order.map((externalPersonId) => ({
            person: { externalPersonId, lastName: `L${i}` },
          })),
        }),
      )
    }
    const replies = await Promise.all(Array.from({ length: 12 }, (_, i) => change(i)))
    for (const reply of replies) assert.equal(reply.status, 200, reply.text)
    const found = await Promise.all(externals.map(persons))
    const names = new Set(found.map(([{ lastName }]) => lastName))
    assert.equal(names.size, 1, 'one request came last, with all of its changes')
  })
})

describe('Entities in one request', () => {
  it('are refused with all their external ids that are taken, not the first alone', async () => {
    const names = Array.from({ length: 4 }, () => ({ externalBizEntityId: unique('E') }))
    const entities = names.map((name) => entityOf(productID, name))
    for (const i of [1, 3]) only(await post(entities[i]))
    const reply = await post(entities)
    refused(reply, 409, 'duplicate')
    assert.deepEqual(
      fieldsOf(reply),
      [1, 3].map((i) => `[${i}].externalBizEntityId`),
    )
    only(await post([entities[0]]))
  })

  it('are refused with all numbers of accounts that are taken or given twice', async () => {
    const other = (await newProduct(service)).productID
    const [number, external, twice, free] = Array.from({ length: 4 }, () => unique('A'))
    const accounts = [
      { productID, accountNumber: number },
      { productID, externalAccountId: external },
    ]
    only(await post(entityOf(productID, { accounts })))
    const given = [
      [{ productID, accountNumber: number }],
      [{ productID: other, accountNumber: number, externalAccountId: external }],
      [{ productID }, { productID, externalAccountId: external }],
      [{ productID, accountNumber: twice }],
      [{ productID, accountNumber: twice }],
      [{ productID, accountNumber: free, externalAccountId: free }],
    ]
    const entities = given.map((accounts) => entityOf(productID, { accounts }))
    const before = await stateOf(service)
    const reply = await post(entities)
    refused(reply, 409, 'duplicate')
    assert.deepEqual(fieldsOf(reply).sort(), [
      '[0].accounts[0].accountNumber',
      '[2].accounts[1].externalAccountId',
      '[4].accounts[0].accountNumber',
    ])
    assert.equal(await stateOf(service), before)
    assert.equal((await post([1, 3, 5].map((i) => entities[i]))).recordCount, 3)
  })

  it('are refused with all external ids of what they own that are taken, seen or not', async () => {
    const other = (await newProduct(service)).productID
    const kinds = [
      ['addresses', 'externalAddressId'],
      ['communications', 'externalCommunicationId'],
      ['paymentDetails', 'externalPaymentDetailId'],
    ] as const
    const limited = await service.userWith({ role: 'Operator', productIDs: [other] })
    for (const [list, field] of kinds) {
      const own = (id: string) => ({ [list]: [{ [field]: id }] })
      const ids = Array.from({ length: 5 }, () => unique('X'))
      only(
        await post(entityOf(productID, { [list]: ids.slice(0, 3).map((id) => ({ [field]: id })) })),
      )
      const before = await stateOf(service)
      // The last is brought twice, by the entity and by its person.
      const person = list === 'paymentDetails' ? {} : own(ids[4]!)
      const entities = ids.map((id, i) =>
        entityOf(other, {
          ...own(id),
          ...(i === 4 && { bizEntityParties: [{ person: { firstName: 'Ann', ...person } }] }),
        }),
      )
      for (const client of [limited, service.admin]) {
        const reply = await client.post('/BizEntity', entities)
        refused(reply, 409, 'duplicate')
        const named = [0, 1, 2].map((i) => `[${i}].${list}[0].${field}`)
        assert.deepEqual(fieldsOf(reply).slice(0, 3), named)
      }
      assert.equal(await stateOf(service), before)
      assert.equal((await limited.post('/BizEntity', [entities[3]])).status, 200)
      if (list !== 'paymentDetails')
        refused(await limited.post('/BizEntity', [entities[4]]), 409, 'duplicate')
    }
  })

  it('take the numbers and external ids of accounts that leave in the same request', async () => {
    const [first, second] = [unique('A'), unique('A')]
    const named = (name: string) => ({ productID, accountNumber: name, externalAccountId: name })
    const [one, two] = [first, second].map((name) =>
      entityOf(productID, { accounts: [named(name)] }),
    )
    const kept = only(await post(one))
    only(await post(two))
    const accounts = [named(unique('A')), { ...named(unique('A')), accountNumber: first }]
    const reply = await service.admin.put('/BizEntity', { ...kept, accounts })
    assert.equal(reply.status, 200, reply.text)
  })
})
