import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { entityOf, stateOf, unique } from '../support/investors.ts'
import { newProduct, only } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let productID: number
let personID: number
before(async () => {
  service = await startService()
  productID = (await newProduct(service)).productID
  personID = only(await service.admin.post('/Person', { firstName: 'A' })).personID
})
after(() => service.stop())

const post = (body: unknown) => service.admin.post('/Communication', body)
const put = (body: unknown) => service.admin.put('/Communication', body)
const email = () => `${unique('Mail')}@Example.com`

describe('POST /Communication', () => {
  it('creates contact values of any kind, alone or in an array', async () => {
    const externalCommunicationId = unique('C')
    const one = only(
      await post({ personID, externalCommunicationId, communicationTypeID: 3, name: '0400' }),
    )
    const { communicationID } = one
    assert.deepEqual(one, {
      communicationID,
      externalCommunicationId,
      communicationTypeID: 3,
      name: '0400',
      bizEntityID: null,
      externalBizEntityId: null,
      personID,
      externalPersonId: null,
      organisationID: null,
      externalOrganisationId: null,
    })
    const read = (query: string) => service.admin.get(`/Communication?${query}`)
    assert.deepEqual((await read(`CommunicationID=${communicationID}`)).data, [one])
    assert.deepEqual((await read(`ExternalCommunicationId=${externalCommunicationId}`)).data, [one])
    assert.equal((await read('PageSize=1')).recordCount, 1)
    assert.deepEqual((await read('CommunicationID=999999')).data, [])
    const two = await post([
      { personID, communicationTypeID: 2, name: '1' },
      { personID, communicationTypeID: 2, name: '1' },
    ])
    assert.equal(two.recordCount, 2)
  })

  it('needs one owner that exists, and a known type', async () => {
    refused(await post({ communicationTypeID: 1, name: 'x@example.com' }), 400, 'required')
    refused(await post({ personID, bizEntityID: 1 }), 400, 'more_than_one_owner')
    refused(await post({ personID: 999999 }), 404, 'not_found')
    refused(await post({ personID, communicationTypeID: 99 }), 400, 'unknown_lookup')
  })
})

describe('An email address', () => {
  it('is unique on the platform in any letter case, wherever it is written', async () => {
    const name = email()
    only(await post({ personID, communicationTypeID: 1, name }))
    const before = await stateOf(service)
    const same = [{ communicationTypeID: 1, name: name.toUpperCase() }]
    const attempts = [
      post({ personID, ...same[0] }),
      service.admin.post('/Person', { communications: same }),
      service.admin.post('/Organisation', { communications: same }),
      service.admin.post('/BizEntity', entityOf(productID, { communications: same })),
      service.admin.post(
        '/BizEntity',
        entityOf(productID, { bizEntityParties: [{ person: { communications: same } }] }),
      ),
    ]
    for (const reply of await Promise.all(attempts)) refused(reply, 409, 'duplicate_email')
    const other = email()
    const twice = { personID, communicationTypeID: 1, name: other }
    refused(await post([twice, { ...twice, name: other.toLowerCase() }]), 409, 'duplicate_email')
    assert.equal(await stateOf(service), before)
    // Only emails are: two people may share a phone.
    assert.equal((await post({ personID, communicationTypeID: 2, name })).status, 200)
  })

  it('that is taken is told of every item of a list, wherever each has it', async () => {
    const [taken, twice, freed] = [email(), email(), email()]
    const mail = (name: string) => ({ communications: [{ communicationTypeID: 1, name }] })
    only(await service.admin.post('/Person', mail(taken)))
    const list = [
      entityOf(productID, mail(email())),
      entityOf(productID, mail(taken.toUpperCase())),
      entityOf(productID, { bizEntityParties: [{ person: mail(taken) }] }),
      entityOf(productID, mail(twice)),
      entityOf(productID, mail(twice.toLowerCase())),
    ]
    const reply = await service.admin.post('/BizEntity', list)
    refused(reply, 409, 'duplicate_email')
    assert.deepEqual(fieldsOf(reply).sort(), [
      '[1].communications[0].name',
      '[2].bizEntityParties[0].person.communications[0].name',
      '[4].communications[0].name',
    ])
    // What the request itself gives up is free for what it brings.
    const entity = only(await service.admin.post('/BizEntity', entityOf(productID, mail(freed))))
    const others = [email(), freed].map((name) => ({ communicationTypeID: 1, name }))
    const changed = await service.admin.put('/BizEntity', { ...entity, communications: others })
    assert.equal(changed.status, 200, changed.text)
  })

  it('is taken once by requests at the same moment', async () => {
    const name = email()
    const persons = Array.from({ length: 6 }, (_, i) => ({
      communications: [{ communicationTypeID: 1, name: i % 2 ? name : name.toLowerCase() }],
    }))
    const replies = await Promise.all(persons.map((one) => service.admin.post('/Person', one)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409])
  })

  it('is free again once its record changes or goes, also within one request', async () => {
    const name = email()
    const person = only(
      await service.admin.post('/Person', { communications: [{ communicationTypeID: 1, name }] }),
    )
    const again = { ...person, communications: [{ communicationTypeID: 1, name }] }
    assert.equal((await service.admin.put('/Person', again)).status, 200)
    const reordered = [
      { communicationTypeID: 2, name: '1' },
      { communicationTypeID: 1, name },
    ]
    only(await service.admin.put('/Person', { ...person, communications: reordered }))
    only(await service.admin.put('/Person', { ...person, communications: [] }))
    only(await post({ personID, communicationTypeID: 1, name }))
  })
})

describe('An email address that mail programs read in another way', () => {
  it('is refused wherever it is written: it would reach somebody else', async () => {
    const before = await stateOf(service)
    for (const name of [
      'boss<a@example.com>',
      'ann,ben@example.com',
      'ann@example.com,ben',
      'mailto:ann@example.com',
      'ann(home)@example.com',
      'ann@example.com;',
      'ann\\b@example.com',
      '"ann"@example.com',
      'ann@[127.0.0.1]',
    ]) {
      const bad = { communicationTypeID: 1, name }
      refused(await post({ personID, ...bad }), 400, 'invalid_value')
      const nested = await service.admin.post('/Person', { communications: [bad] })
      assert.deepEqual(fieldsOf(nested), ['communications[0].name'])
    }
    assert.equal(await stateOf(service), before)
    for (const local of ["o'neil", 'ann+fund', 'ann.b_c-d%e!f', 'zoë'])
      only(await post({ personID, communicationTypeID: 1, name: `${local}@${unique('d')}.com` }))
  })
})

describe('PUT and DELETE /Communication', () => {
  it('replace, hand over and remove by either id', async () => {
    const externalCommunicationId = unique('C')
    const one = only(await post({ personID, externalCommunicationId, name: 'old' }))
    const organisation = only(await service.admin.post('/Organisation', { name: 'O' }))
    const changed = only(
      await put({
        communicationID: one.communicationID,
        organisationID: organisation.organisationID,
        communicationTypeID: 4,
        name: 'new',
      }),
    )
    assert.deepEqual(
      [changed.name, changed.externalCommunicationId, changed.personID, changed.organisationID],
      ['new', null, null, organisation.organisationID],
    )
    assert.deepEqual(fieldsOf(await put({ communicationID: 999999, personID })), [
      'communicationID',
    ])
    const path = `/Communication?CommunicationID=${one.communicationID}`
    assert.equal((await service.admin.delete(path)).status, 200)
    refused(await service.admin.delete(path), 404, 'not_found')
  })
})
