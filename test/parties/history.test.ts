import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { entityOf, unique } from '../support/investors.ts'
import { all, newFund, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())
const history = async (bizEntityID: number, more = '') =>
  all(await service.admin.get(`/BizEntity/History?BizEntityID=${bizEntityID}${more}`))

/** Matches where a link names a parent or dealer group, by its own id or its external id. */
const namesOf = ({ bizEntityID, externalBizEntityId }: { [name: string]: string | number }) =>
  new RegExp(
    `"${externalBizEntityId}"|(arent|Group)BizEntityID":\\s*({[^}]*)?\\b${bizEntityID}\\b`,
    'g',
  )

describe('The history of an entity', () => {
  it('has every change of it and of what is or was its own, with who and when', async () => {
    const { productID } = await newFund(service)
    const ann = entityOf(productID, {
      addresses: [{ addressLine: '1 Old Street' }],
      paymentDetails: [{ bsb: '062-000', accountNumber: '12345678' }],
    })
    const [made, neighbour] = all(
      await service.admin.post('/BizEntity', [ann, entityOf(productID, { name: 'Neighbour' })]),
    )
    const { bizEntityID } = made
    const other = await service.userWith({ role: 'Operator' })
    only(await other.put('/BizEntity', { ...made, name: 'Ann Other' }))
    const [address] = made.addresses
    only(await service.admin.put('/Address', { ...address, addressLine: '2 New Street' }))
    await service.admin.delete(`/Address?AddressID=${address.addressID}`)
    const [{ personID }] = made.bizEntityParties.map(({ person }: { person: object }) => person)
    only(await service.admin.put('/Person', { personID, firstName: 'Anna' }))
    const [detail] = made.paymentDetails
    only(await service.admin.put('/PaymentDetail', { ...detail, accountNumber: '87654321' }))
    const told = await history(bizEntityID)
    assert.deepEqual(
      told.map(({ operation }: { operation: string }) => operation),
      [
        'POST /BizEntity',
        'PUT /BizEntity',
        'PUT /Address',
        'DELETE /Address',
        'PUT /Person',
        'PUT /PaymentDetail',
      ],
    )
    assert.deepEqual(told[1].changes.name, { from: 'Ann Example', to: 'Ann Other' })
    assert.deepEqual(told[2].changes.addressLine, { from: '1 Old Street', to: '2 New Street' })
    const [me] = all(await service.admin.get('/User?Username=admin'))
    assert.equal(told[0].userID, me.userID)
    assert.notEqual(told[1].userID, me.userID)
    for (const { occurredDate } of told) assert.match(occurredDate, /^\d{4}-.*Z$/)
    const text = JSON.stringify(told)
    assert.doesNotMatch(text, /12345678|87654321/) // secrets are blotted out
    assert.doesNotMatch(text, /Neighbour/) // nor anybody else who came in the same request
    assert.equal((await history(neighbour.bizEntityID)).length, 1)
    const [last] = await history(bizEntityID, '&Order=desc&PageSize=1')
    assert.equal(last.operation, 'PUT /PaymentDetail')
  })

  it('has what its persons and organisations have and had, and who is associated', async () => {
    const { productID } = await newFund(service)
    const phone = [{ communicationTypeID: 2, name: '0400 000 000' }]
    const organisation = {
      name: 'Company',
      addresses: [{ addressLine: '1 Old Street' }],
      associatedPersons: [{ person: { firstName: 'Director', communications: phone } }],
    }
    const parties = [{ person: { firstName: 'Ann', communications: phone } }, { organisation }]
    const made = only(
      await service.admin.post('/BizEntity', entityOf(productID, { bizEntityParties: parties })),
    )
    const [{ person }, { organisation: company }] = made.bizEntityParties
    const [{ person: director }] = company.associatedPersons
    for (const [contact] of [person.communications, director.communications]) {
      only(await service.admin.put('/Communication', { ...contact, name: '0411 111 111' }))
      const { communicationID } = contact
      await service.admin.delete(`/Communication?CommunicationID=${communicationID}`)
    }
    await service.admin.delete(`/Address?AddressID=${company.addresses[0].addressID}`)
    only(await service.admin.put('/Person', { personID: director.personID, firstName: 'Dora' }))
    assert.deepEqual(
      (await history(made.bizEntityID)).map(({ operation }: { operation: string }) => operation),
      [
        'POST /BizEntity',
        'PUT /Communication',
        'DELETE /Communication',
        'PUT /Communication',
        'DELETE /Communication',
        'DELETE /Address',
        'PUT /Person',
      ],
    )
  })

  it('is of an entity that the caller may see', async () => {
    const [mine, theirs] = [await newFund(service), await newFund(service)]
    const { bizEntityID } = only(await service.admin.post('/BizEntity', entityOf(theirs.productID)))
    const scoped = await service.userWith({ role: 'ReadOnly', productIDs: [mine.productID] })
    refused(await scoped.get(`/BizEntity/History?BizEntityID=${bizEntityID}`), 404, 'not_found')
    refused(await service.admin.get('/BizEntity/History'), 400, 'required')
  })

  it('tells who sees one product nothing of what became of its records in another', async () => {
    const [mine, theirs] = [await newFund(service), await newFund(service)]
    const add = async (productID: number, more: object = {}) =>
      only(await service.admin.post('/BizEntity', entityOf(productID, more)))
    const made = await add(mine.productID)
    const { bizEntityID } = made
    const line = { bizEntityID, addressLine: '1 Old Street' }
    const address = only(await service.admin.post('/Address', line))
    const [{ personID }] = made.bizEntityParties
    const other = await add(theirs.productID, { bizEntityParties: [{ personID }] })
    const phone = only(await service.admin.post('/Communication', { personID, name: 'Shared' }))
    const scoped = await service.userWith({ role: 'ReadOnly', productIDs: [mine.productID] })
    const place = `/BizEntity/History?BizEntityID=${bizEntityID}`
    assert.match((await scoped.get(place)).text, /"Shared"/)
    const moved = { ...address, bizEntityID: other.bizEntityID, addressLine: 'Moved Street' }
    only(await service.admin.put('/Address', moved))
    const parties = [{ person: { firstName: 'Bea' } }]
    only(await service.admin.put('/BizEntity', { ...made, bizEntityParties: parties }))
    only(await service.admin.put('/Communication', { ...phone, name: 'Moved' }))
    const communications = [{ communicationID: phone.communicationID, name: 'Moved' }]
    only(await service.admin.put('/Person', { personID, firstName: 'Moved', communications }))
    const told = await scoped.get(place)
    assert.doesNotMatch(told.text, /Moved/)
    assert.match(told.text, /1 Old Street/)
    assert.equal((await service.admin.get(place)).text.match(/"to": ?"Moved/g)?.length, 3)
  })

  it('names, as the audit trail does, no parent that the caller cannot see', async () => {
    const [mine, theirs] = [await newFund(service), await newFund(service)]
    const parent = async (productID: number) =>
      only(
        await service.admin.post(
          '/BizEntity',
          entityOf(productID, { externalBizEntityId: unique('parent') }),
        ),
      )
    const [seen, hidden] = [await parent(mine.productID), await parent(theirs.productID)]
    const activeFrom = '2026-01-01'
    const links = [hidden, seen].map(({ bizEntityID, externalBizEntityId }) => [
      { parentBizEntityID: bizEntityID, activeFrom },
      { parentExternalBizEntityId: externalBizEntityId, activeFrom },
    ])
    const [first, second] = links.map(([byID]) => byID)
    const bizEntityParents = links.map(([, byExternal]) => byExternal)
    const made = only(
      await service.admin.post('/BizEntity', entityOf(mine.productID, { bizEntityParents })),
    )
    const { bizEntityID } = made
    const other = { bizEntityID, dealerGroupBizEntityID: hidden.bizEntityID }
    only(await service.admin.put('/BizEntity', { ...made, bizEntityParents: [] }))
    only(await service.admin.put('/BizEntity', { ...made, bizEntityParents: [second] }))
    only(await service.admin.put('/BizEntity/Parent', { ...second, ...other }))
    only(await service.admin.put('/BizEntity/Parent', { bizEntityID, ...second }))
    only(await service.admin.post('/BizEntity/Parent', { bizEntityID, ...first }))
    const link = `BizEntityID=${bizEntityID}&ParentBizEntityID=${hidden.bizEntityID}`
    await service.admin.delete(`/BizEntity/Parent?${link}&ActiveFrom=${activeFrom}`)
    const permissions = ['BizEntity.Read', 'Audit.Read'] as const
    const scoped = await service.userWith({ permissions, productIDs: [mine.productID] })
    const trail = `/Audit?Resource=BizEntity&ResourceID=${bizEntityID}`
    for (const place of [`/BizEntity/History?BizEntityID=${bizEntityID}`, trail]) {
      const [whole, told] = [await service.admin.get(place), await scoped.get(place)]
      assert.equal(told.recordCount, 7)
      assert.doesNotMatch(told.text, namesOf(hidden))
      assert.match(whole.text, namesOf(hidden))
      assert.equal(told.text.match(namesOf(seen))?.length, whole.text.match(namesOf(seen))?.length)
      assert.deepEqual(
        told.data.map(({ auditID }: { auditID: number }) => auditID),
        whole.data.map(({ auditID }: { auditID: number }) => auditID),
      )
    }
    const exact = '1.123456789012345678'
    const price = { investmentID: mine.investmentID, priceDate: '2026-01-02' }
    only(await service.admin.post('/Investment/Price', { ...price, price: exact }))
    const beside = await scoped.get('/Audit?PageSize=1000')
    assert.ok(beside.text.includes(`"${exact}"`), 'figures beside a link keep their digits')
    assert.doesNotMatch(beside.text, namesOf(hidden))
    only(await service.admin.put('/BizEntity', { ...made, name: 'Ann Other' }))
    await service.admin.delete(`/BizEntity?BizEntityID=${bizEntityID}`)
    const gone = await scoped.get(`${trail}&Order=desc&PageSize=2`)
    assert.match(gone.text, namesOf(seen))
    assert.doesNotMatch(gone.text, namesOf(hidden))
  })
})
