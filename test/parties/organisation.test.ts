import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
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

const post = (body: unknown) => service.admin.post('/Organisation', body)
const put = (body: unknown) => service.admin.put('/Organisation', body)
const create = async (more: object = {}) => only(await post({ name: 'Org', ...more }))
const remove = (id: number) => service.admin.delete(`/Organisation?OrganisationID=${id}`)

describe('POST /Organisation', () => {
  it('keeps every field, masks what is secret, and creates the persons it brings', async () => {
    const [externalPersonId, externalOrganisationId] = [unique('P'), unique('O')]
    const sent = {
      externalOrganisationId,
      name: 'Trustees',
      legalName: 'Trustees Pty Ltd',
      abn: '51824753556',
      acn: '004085616',
      organisationTypeID: 1,
      taxationCountryCode: 'AU',
      registrationCountryCode: 'AUS',
      description: 'd',
      isCorporateTrustee: true,
      licenceNumber: 'AFSL 1',
      licenceActive: true,
    }
    const organisation = only(
      await post({
        ...sent,
        taxationFileNumber: '37118629',
        tin: 'XYZ-1',
        associatedPersons: [
          {
            person: { externalPersonId, firstName: 'D' },
            relationshipTypeID: 1,
            isSignatory: true,
          },
          { externalPersonId, relationshipTypeID: 2 },
        ],
        addresses: [{ suburb: 'S' }],
        communications: [{ communicationTypeID: 5, name: 'https://example.com' }],
      }),
    )
    for (const [field, value] of Object.entries(sent))
      assert.deepEqual(organisation[field], value, field)
    assert.deepEqual([organisation.taxationFileNumber, organisation.tin], ['*****629', '**Z-1'])
    const [director, secretary] = organisation.associatedPersons
    assert.equal(director.personID, secretary.personID)
    assert.deepEqual(
      [director.externalPersonId, director.isSignatory, director.person.firstName],
      [externalPersonId, true, 'D'],
    )
    assert.deepEqual([secretary.relationshipTypeID, secretary.isSignatory], [2, false])
    const read = await service.admin.get(
      `/Organisation?ExternalOrganisationId=${externalOrganisationId}`,
    )
    assert.deepEqual(read.data, [organisation])
  })

  it('refuses bad entries with their paths and leaves nothing behind', async () => {
    const before = await stateOf(service)
    const reply = await post([
      {
        abn: 'x',
        associatedPersons: [{}, { externalPersonId: 'a', person: { externalPersonId: 'b' } }],
      },
    ])
    refused(reply, 400)
    assert.deepEqual(fieldsOf(reply).sort(), [
      '[0].abn',
      '[0].associatedPersons[0].externalPersonId',
      '[0].associatedPersons[1].externalPersonId',
    ])
    const missing = await post({
      associatedPersons: [{ person: { firstName: 'Orphan' } }, { personID: 999999 }],
    })
    refused(missing, 404, 'not_found')
    assert.equal(await stateOf(service), before)
  })
})

describe('PUT /Organisation', () => {
  it('of what was read changes nothing', async () => {
    const organisation = await create({
      taxationFileNumber: '123456782',
      associatedPersons: [{ person: { firstName: 'A' } }, { person: { firstName: 'B' } }],
      addresses: [{ suburb: 'S' }],
    })
    assert.deepEqual(only(await put(organisation)), organisation)
  })

  it('replaces everything, and leaves persons who are left out', async () => {
    const organisation = await create({
      abn: '51824753556',
      associatedPersons: [{ person: { firstName: 'A' } }, { person: { firstName: 'B' } }],
      addresses: [{ suburb: 'S' }],
    })
    const [first, second] = organisation.associatedPersons
    const changed = only(
      await put({
        organisationID: organisation.organisationID,
        name: 'New',
        associatedPersons: [{ personID: second.personID, relationshipTypeID: 6 }],
      }),
    )
    assert.deepEqual([changed.name, changed.abn, changed.addresses], ['New', null, []])
    assert.deepEqual(
      changed.associatedPersons.map(({ personID }: { personID: number }) => personID),
      [second.personID],
    )
    only(await service.admin.get(`/Person?PersonID=${first.personID}`))
    refused(await put({ organisationID: 999999 }), 404, 'not_found')
  })
})

describe('DELETE /Organisation', () => {
  it('takes addresses, communications and person links with it', async () => {
    const organisation = await create({
      externalOrganisationId: unique('O'),
      associatedPersons: [{ person: { firstName: 'Stays' } }],
      addresses: [{ suburb: 'S' }],
      communications: [{ communicationTypeID: 2, name: '1' }],
    })
    const reply = await service.admin.delete(
      `/Organisation?externalOrganisationId=${organisation.externalOrganisationId}`,
    )
    assert.deepEqual([reply.status, reply.data, reply.recordCount], [200, null, 0])
    refused(
      await service.admin.get(`/Address?AddressID=${organisation.addresses[0].addressID}`),
      404,
    )
    const { personID } = organisation.associatedPersons[0]
    only(await service.admin.get(`/Person?PersonID=${personID}`))
    assert.equal((await service.admin.delete(`/Person?PersonID=${personID}`)).status, 200)
  })

  it('is refused for a trustee, an active licence, a party and a margin lender', async () => {
    const trustee = await create({ isCorporateTrustee: true })
    refused(await remove(trustee.organisationID), 409, 'corporate_trustee')
    const licensed = await create({ licenceActive: true })
    refused(await remove(licensed.organisationID), 409, 'licence_active')
    const [party, lender] = [await create(), await create()]
    only(
      await service.admin.post(
        '/BizEntity',
        entityOf(productID, {
          bizEntityParties: [{ organisationID: party.organisationID }],
          marginLenderOrganisationID: lender.organisationID,
        }),
      ),
    )
    refused(await remove(party.organisationID), 409, 'in_use')
    refused(await remove(lender.organisationID), 409, 'in_use')
  })
})
