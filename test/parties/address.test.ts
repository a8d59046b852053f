import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isPostcodeOf } from '../../src/parties/investor/checks.ts'
import { entityOf, stateOf, unique } from '../support/investors.ts'
import { newProduct, only } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let entity: { bizEntityID: number; externalBizEntityId: string }
let person: { personID: number; externalPersonId: string }
let organisation: { organisationID: number }
before(async () => {
  service = await startService()
  const { productID } = await newProduct(service)
  entity = only(
    await service.admin.post(
      '/BizEntity',
      entityOf(productID, { externalBizEntityId: unique('E') }),
    ),
  )
  person = only(await service.admin.post('/Person', { externalPersonId: unique('P') }))
  organisation = only(await service.admin.post('/Organisation', { name: 'O' }))
})
after(() => service.stop())

const post = (body: unknown) => service.admin.post('/Address', body)
const put = (body: unknown) => service.admin.put('/Address', body)
const read = (query: string) => service.admin.get(`/Address?${query}`)

describe('POST /Address', () => {
  it('keeps every field and shows its one owner, the others as null', async () => {
    const sent = {
      externalAddressId: unique('A'),
      addressTypeID: 12345,
      aboveAddressLine: 'Level 1',
      addressLine: '1 George Street',
      suburb: 'Sydney',
      postcode: '2000',
      stateCode: 'NSW',
      countryCode: 'AUS',
      officeID: 7,
    }
    const address = only(await post({ ...sent, externalBizEntityId: entity.externalBizEntityId }))
    const { addressID } = address
    assert.deepEqual(address, {
      addressID,
      ...sent,
      bizEntityID: entity.bizEntityID,
      externalBizEntityId: entity.externalBizEntityId,
      personID: null,
      externalPersonId: null,
      organisationID: null,
      externalOrganisationId: null,
    })
    const one = await read(`AddressID=${addressID}`)
    assert.deepEqual([one.data, one.recordCount], [address, 1])
    assert.deepEqual((await read(`ExternalAddressId=${sent.externalAddressId}`)).data, address)
  })

  it('takes owners of all kinds in one array, in the order sent', async () => {
    const reply = await post([
      { organisationID: organisation.organisationID, suburb: '1' },
      { personID: person.personID, suburb: '2' },
      { bizEntityID: entity.bizEntityID, suburb: '3' },
      { externalPersonId: person.externalPersonId, suburb: '4' },
    ])
    assert.deepEqual(
      reply.data.map(({ suburb }: { suburb: string }) => suburb),
      ['1', '2', '3', '4'],
    )
  })

  it('needs exactly one owner, and one that exists', async () => {
    const before = await stateOf(service)
    refused(await post({ suburb: 'X' }), 400, 'required')
    const two = { personID: person.personID, externalBizEntityId: entity.externalBizEntityId }
    refused(await post(two), 400, 'more_than_one_owner')
    const unknown = await post([{ personID: person.personID }, { externalOrganisationId: 'none' }])
    refused(unknown, 404, 'not_found')
    assert.deepEqual(fieldsOf(unknown), ['[1].externalOrganisationId'])
    assert.equal(await stateOf(service), before)
  })

  it('refuses an external id that is taken, and texts that are too long', async () => {
    const externalAddressId = unique('A')
    const address = { personID: person.personID, externalAddressId }
    only(await post(address))
    refused(await post(address), 409, 'duplicate')
    refused(await post([address, address]), 400, 'given_twice')
    refused(await post({ ...address, addressLine: 'a'.repeat(201) }), 400, 'too_long')
  })

  it('checks state and postcode of an Australian address, and of no other', async () => {
    const at = (countryCode: string | null, stateCode: string | null, postcode: string | null) =>
      post({ personID: person.personID, countryCode, stateCode, postcode })
    for (const country of ['AU', 'AUS']) {
      assert.equal((await at(country, 'NSW', '2000')).status, 200)
      assert.deepEqual(fieldsOf(await at(country, 'NSW', '3000')), ['postcode'])
      assert.deepEqual(fieldsOf(await at(country, 'NSW', null)), ['postcode'])
      assert.deepEqual(fieldsOf(await at(country, null, '2000')), ['stateCode'])
      assert.deepEqual(fieldsOf(await at(country, 'XYZ', '2000')), ['stateCode'])
    }
    for (const country of ['NZ', 'GBR', null])
      assert.equal((await at(country, 'Anywhere', 'SW1A 1AA')).status, 200)
    assert.deepEqual(fieldsOf(await at('ZZ', null, null)), ['countryCode'])
  })
})

describe('A postcode', () => {
  it('belongs to the states of its range, and across borders to one more', () => {
    const right = `2000 NSW, 2600 ACT, 2620 ACT, 2611 NSW, 0800 NT, 0872 SA, 0872 WA, 3500 NSW,
      6798 WA, 9726 QLD, 2899 NSW, 0200 ACT, 4825 NT, 2540 ACT, 2618 NSW, 4383 NSW, 2406 QLD,
      7151 TAS, 5999 SA, 8000 VIC, 1000 NSW`
    const wrong = '2600 NSW, 800 NT, 3501 NSW, 3000 NSW, 0300 NT, 02000 NSW, 2619 ACT, 6000 SA'
    const check = (list: string) =>
      list.split(',').map((pair) => {
        const [postcode, state] = pair.trim().split(' ') as [string, string]
        return isPostcodeOf(state, postcode)
      })
    assert.ok(check(right).every((is) => is))
    assert.ok(check(wrong).every((is) => !is))
  })
})

describe('GET /Address', () => {
  it('needs an id, and answers 404 for one that is not there', async () => {
    refused(await read(''), 400, 'required')
    refused(await read('AddressID=999999'), 404, 'not_found')
    refused(await read('ExternalAddressId=none'), 404, 'not_found')
  })
})

describe('PUT /Address', () => {
  it('replaces the record, and hands it over to another owner', async () => {
    const address = only(
      await post({ personID: person.personID, suburb: 'Old', addressLine: 'Gone' }),
    )
    const { addressID } = address
    const changed = only(
      await put({ addressID, organisationID: organisation.organisationID, suburb: 'New' }),
    )
    assert.deepEqual(
      [changed.suburb, changed.addressLine, changed.personID, changed.organisationID],
      ['New', null, null, organisation.organisationID],
    )
    const owner = await service.admin.get(`/Person?PersonID=${person.personID}`)
    const left = owner.data[0].addresses.map((one: { addressID: number }) => one.addressID)
    assert.ok(!left.includes(addressID))
    const both = { ...changed, personID: person.personID }
    refused(await put(both), 400, 'more_than_one_owner')
    refused(await put({ addressID, suburb: 'X' }), 400, 'required')
    refused(await put({ addressID: 999999, personID: person.personID }), 404, 'not_found')
  })

  it('does not change the external id, and finds the record by it', async () => {
    const externalAddressId = unique('A')
    const address = only(await post({ personID: person.personID, externalAddressId }))
    refused(await put({ ...address, externalAddressId: 'other' }), 400, 'immutable')
    const by = only(await put({ externalAddressId, personID: person.personID, suburb: 'S' }))
    assert.equal(by.addressID, address.addressID)
    const kept = only(await put({ addressID: address.addressID, personID: person.personID }))
    assert.equal(kept.externalAddressId, externalAddressId)
    const none = only(await post({ personID: person.personID }))
    refused(await put({ ...none, externalAddressId: 'late' }), 400, 'immutable')
  })
})

describe('DELETE /Address', () => {
  it('removes the record by either id, once', async () => {
    const externalAddressId = unique('A')
    only(await post({ personID: person.personID, externalAddressId }))
    const remove = () => service.admin.delete(`/Address?ExternalAddressId=${externalAddressId}`)
    assert.equal((await remove()).status, 200)
    refused(await remove(), 404, 'not_found')
    refused(await service.admin.delete('/Address'), 400, 'required')
  })
})
