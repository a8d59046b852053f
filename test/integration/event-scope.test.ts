import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../support/client.ts'
import { feedEnd, readEvents } from '../support/events.ts'
import { entityOf } from '../support/investors.ts'
import { all, newInvestment, newProduct, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let mine: number
let theirs: number
let client: Client
let other: Client
before(async () => {
  service = await startService()
  const resources = [
    'Event',
    'Document',
    'Address',
    'Person',
    'Organisation',
    'Audit',
    'Investment',
  ]
  const permissions = resources.map((one) => `${one}.Read`)
  mine = (await newProduct(service)).productID
  theirs = (await newProduct(service)).productID
  client = await service.userWith({ permissions, productIDs: [mine] })
  other = await service.userWith({ permissions, productIDs: [theirs] })
})
after(() => service.stop())

const add = async (productID: number, more: object = {}) =>
  only(await service.admin.post('/BizEntity', entityOf(productID, more)))

/** The events that each of the two readers gets from some work: types and ids. */
async function heard(work: () => Promise<unknown>, by = [client, other]): Promise<string[][]> {
  const start = await feedEnd(service.admin)
  await work()
  await feedEnd(service.admin)
  const events = await Promise.all(by.map((one) => readEvents(one, { After: start })))
  return events.map((read) => read.events.map(({ type, ids }) => `${type} ${ids}`))
}

describe('Who sees one product', () => {
  it('hears of the documents of its investors, and finds them in the trail', async () => {
    const { bizEntityID } = await add(mine)
    let documentID = 0
    const [own, others] = await heard(async () => {
      const about = { documentTypeID: 1, bizEntityID, name: 'Form' }
      documentID = all(await service.admin.post('/Document', about)).documentID
      await service.admin.put('/Document', { ...about, documentID, name: 'Other form' })
      await service.admin.delete(`/Document?DocumentID=${documentID}`)
    })
    const told = ['created', 'updated', 'deleted'].map((what) => `document.${what} ${documentID}`)
    assert.deepEqual([own, others], [told, []])
    const trail = await client.get(`/Audit?Resource=Document&ResourceID=${documentID}`)
    assert.equal(trail.recordCount, 3)
  })

  it('hears of what is shared with others, and of a list of their own part', async () => {
    const { bizEntityID, bizEntityParties } = await add(mine)
    const [{ personID }] = bizEntityParties
    const neighbour = await add(theirs)
    await add(theirs, { bizEntityParties: [{ personID }] })
    const loose = only(await service.admin.post('/Person', { firstName: 'Nobody' }))
    const owners = [
      { personID },
      { bizEntityID },
      { bizEntityID: neighbour.bizEntityID },
      { personID: loose.personID },
    ]
    let ids: number[] = []
    const [own, others] = await heard(async () => {
      const made = all(await service.admin.post('/Address', owners))
      ids = made.map(({ addressID }: { addressID: number }) => addressID)
      only(await service.admin.put('/Address', { ...made[0], suburb: 'Other' }))
      await service.admin.delete(`/Address?AddressID=${ids[0]}`)
    })
    const [shared, ours, foreign] = ids
    const rest = [`address.updated ${shared}`, `address.deleted ${shared}`]
    assert.deepEqual(own, [`address.created ${shared},${ours}`, ...rest])
    assert.deepEqual(others, [`address.created ${shared},${foreign}`, ...rest])
  })

  it('hears of the prices of its classes in a list with those of others', async () => {
    const [ours, foreign] = [
      await newInvestment(service, mine),
      await newInvestment(service, theirs),
    ]
    let ids: number[] = []
    const [own, others] = await heard(async () => {
      const prices = [foreign, ours, foreign].map(({ investmentID }, i) => ({
        investmentID,
        priceDate: `2026-01-0${i + 1}`,
        price: 1,
      }))
      const made = all(await service.admin.post('/Investment/Price', prices))
      ids = made.map(({ investmentPriceID }: { investmentPriceID: number }) => investmentPriceID)
    })
    const [first, second, third] = ids
    assert.deepEqual(own, [`investmentprice.created ${second}`])
    assert.deepEqual(others, [`investmentprice.created ${first},${third}`])
  })
})

describe('Who sees a product', () => {
  it('hears of the investors and documents that leave it for another', async () => {
    const permissions = ['Event.Read', 'BizEntity.Read', 'Document.Read', 'Audit.Read']
    const entity = await add(mine)
    const about = { documentTypeID: 1, name: 'Form' }
    const document = all(await service.admin.post('/Document', { ...about, productID: mine }))
    const { bizEntityID } = entity
    const { documentID } = document
    const readers = [mine, theirs].map((id) => service.userWith({ permissions, productIDs: [id] }))
    const [own, others] = await heard(
      async () => {
        const moved = { ...entity, accounts: [{ productID: theirs }] }
        only(await service.admin.put('/BizEntity', moved))
        only(await service.admin.put('/Document', { ...about, documentID, productID: theirs }))
      },
      await Promise.all(readers),
    )
    const told = [`bizentity.updated ${bizEntityID}`, `document.updated ${documentID}`]
    assert.deepEqual([own, others], [told, told])
  })
})

describe('Who sees the product of an investor', () => {
  it('hears that its parent in another is gone, and there of the documents that went', async () => {
    const permissions = ['Event.Read', 'BizEntity.Read', 'Document.Read', 'Audit.Read']
    const { bizEntityID: parentBizEntityID } = await add(mine)
    const bizEntityParents = [{ parentBizEntityID, activeFrom: '2026-01-01' }]
    const child = await add(theirs, { bizEntityParents })
    const form = { documentTypeID: 1, bizEntityID: parentBizEntityID }
    const { documentID } = all(await service.admin.post('/Document', form))
    const readers = [mine, theirs].map((id) => service.userWith({ permissions, productIDs: [id] }))
    const [own, others] = await heard(
      () => service.admin.delete(`/BizEntity?BizEntityID=${parentBizEntityID}`),
      await Promise.all(readers),
    )
    const gone = [`bizentity.deleted ${parentBizEntityID}`, `document.deleted ${documentID}`]
    assert.deepEqual([own, others], [gone, [`bizentity.updated ${child.bizEntityID}`]])
  })
})

describe('Who keeps bank details', () => {
  it('hears of those that are the default no more, since others are', async () => {
    const permissions = ['Event.Read', 'PaymentDetail.Read']
    const reader = await service.userWith({ permissions, productIDs: [mine] })
    const bank = { bsb: '062-000', accountName: 'Ann', isForDistribution: true, isDefault: true }
    const { bizEntityID, paymentDetails } = await add(mine, {
      paymentDetails: [{ ...bank, accountNumber: '11111111' }],
    })
    const [{ paymentDetailID: first }] = paymentDetails
    let second = 0
    const [told] = await heard(async () => {
      const given = { ...bank, bizEntityID, accountNumber: '22222222' }
      second = only(await service.admin.post('/PaymentDetail', given)).paymentDetailID
      const back = { ...bank, bizEntityID, paymentDetailID: first, accountNumber: '11111111' }
      only(await service.admin.put('/PaymentDetail', back))
    }, [reader])
    const updated = (id: number) => `paymentdetail.updated ${id}`
    assert.deepEqual(told, [
      `paymentdetail.created ${second}`,
      ...[first, first, second].map(updated),
    ])
  })
})

describe('Who sees another product that shares a person', () => {
  it('hears of them when they change with an entity of the first, and no more', async () => {
    const first = await add(mine)
    const [{ personID }] = first.bizEntityParties
    await add(theirs, { bizEntityParties: [{ personID }] })
    const renamed = (lastName: string) => ({
      ...first,
      bizEntityParties: first.bizEntityParties.map((party: { person: object }) => ({
        ...party,
        personID: null,
        person: { ...party.person, lastName },
      })),
    })
    const [own, others] = await heard(async () => {
      only(await service.admin.put('/BizEntity', renamed('Changed')))
      only(await service.admin.put('/BizEntity', renamed('Changed')))
      const bizEntityParties = [{ person: { personID, firstName: 'Added', lastName: 'Again' } }]
      await add(mine, { bizEntityParties })
      const associatedPersons = [
        { person: { personID, lastName: 'Director' }, relationshipTypeID: 1 },
      ]
      only(await service.admin.post('/Organisation', { name: 'Shared', associatedPersons }))
    })
    const told = `person.updated ${personID}`
    assert.deepEqual(others, [told, told, told])
    assert.deepEqual(own, [told, told], 'their own entity tells of the first change itself')
  })
})

describe('Who sees another product than that of an organisation', () => {
  it('hears of a person of it whom they see, and not of the organisation', async () => {
    const person = { firstName: 'Dora', lastName: 'Director' }
    const organisation = { name: 'Ours', associatedPersons: [{ person, relationshipTypeID: 1 }] }
    const { bizEntityParties } = await add(mine, { bizEntityParties: [{ organisation }] })
    const [{ organisation: ours }] = bizEntityParties
    const [{ personID }] = ours.associatedPersons
    await add(theirs, { bizEntityParties: [{ personID }] })
    const [own, others] = await heard(async () => {
      const [director] = ours.associatedPersons
      const renamed = { ...director.person, lastName: 'Changed' }
      const associatedPersons = [{ ...director, personID: null, person: renamed }]
      only(await service.admin.put('/Organisation', { ...ours, associatedPersons }))
    })
    assert.deepEqual(own, [`organisation.updated ${ours.organisationID}`])
    assert.deepEqual(others, [`person.updated ${personID}`])
  })
})

describe('Who waits for events', () => {
  const rights = { permissions: ['Event.Read', 'Product.Read'] }
  const touch = async (ProductID: number) => {
    const product = only(await service.admin.get(`/Product?ProductID=${ProductID}`))
    only(await service.admin.put('/Product', { ...product, description: 'Touched' }))
  }

  /** The answer to a user whose rights, and then both products, change while the user waits. */
  async function answered(to: object) {
    const reader = await service.userWith({ ...rights, productIDs: [mine] })
    const { data: me } = await reader.get('/User/Me')
    const { userID, username } = me
    const start = await feedEnd(service.admin)
    const reply = reader.get(`/Event?Type=product.updated&Wait=60&After=${start}`)
    await sleep(200)
    const user = { userID, username, ...rights, productIDs: [mine], ...to }
    assert.equal((await service.admin.put('/User', user)).status, 200)
    await touch(mine)
    await touch(theirs)
    return reply
  }

  it('hears nothing once they are gone, or may hear of nothing', async () => {
    refused(await answered({ isActive: false }), 401, 'session_ended')
    refused(await answered({ permissions: ['Product.Read'] }), 403, 'permission_missing')
  })

  it('hears of the products that they see by then', async () => {
    const reply = await answered({ productIDs: [theirs] })
    const told = all(reply).map(({ productID }: { productID: number }) => productID)
    assert.deepEqual(told, [theirs])
  })

  it('with a key hears nothing once that is ended', async () => {
    const body = { name: 'Reader', ...rights }
    const { apiKeyID, key } = only(await service.admin.post('/ApiKey', body))
    const start = await feedEnd(service.admin)
    const headers = { Version: '2.0', Authorization: key }
    const place = `/Event?Type=product.updated&Wait=60&After=${start}`
    const reply = fetch(service.url + place, { headers })
    await sleep(200)
    assert.equal((await service.admin.delete(`/ApiKey?ApiKeyID=${apiKeyID}`)).status, 200)
    await touch(mine)
    assert.equal((await reply).status, 401)
  })
})
