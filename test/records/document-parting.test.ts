import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { feedEnd, readEvents } from '../support/events.ts'
import { entityOf } from '../support/investors.ts'
import { all, newProduct, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let admin: Client
let mine: number
let theirs: number
let reader: Client
let neighbour: Client
before(async () => {
  service = await startService()
  admin = service.admin
  ;[mine, theirs] = [await newProduct(service), await newProduct(service)].map(
    ({ productID }) => productID as number,
  ) as [number, number]
  reader = await service.userWith({ role: 'Administrator', productIDs: [mine] })
  neighbour = await service.userWith({ role: 'Administrator', productIDs: [theirs] })
})
after(() => service.stop())

const add = async (productID: number, more: object = {}) =>
  only(await admin.post('/BizEntity', entityOf(productID, more)))
const file = async (about: object): Promise<{ documentID: number; updatedDate: string }> =>
  all(await admin.post('/Document', { documentTypeID: 1, name: 'Deed', ...about }))
const remove = ({ bizEntityID }: { bizEntityID: number }, client = admin) =>
  client.delete(`/BizEntity?BizEntityID=${bizEntityID}`)
const read = (documentID: number, client = admin) =>
  client.get(`/Document?DocumentID=${documentID}`)

/** The document events that readers of each product get during some work. */
async function heard(work: () => Promise<unknown>) {
  const start = await feedEnd(admin)
  await work()
  await feedEnd(admin)
  const feeds = await Promise.all(
    [reader, neighbour].map((client) => readEvents(client, { After: start })),
  )
  return feeds.map(({ events }) =>
    events.flatMap(({ type, ids }) => (type.startsWith('document.') ? `${type} ${ids}` : [])),
  )
}

describe('A document of an entity that is deleted', () => {
  it('of its product stays there, and is told to have changed', async () => {
    const entity = await add(mine)
    const { documentID } = await file({ productID: mine, bizEntityID: entity.bizEntityID })
    const told = await heard(async () => {
      assert.equal((await remove(entity)).status, 200)
    })
    assert.deepEqual(told, [[`document.updated ${documentID}`], []])
    assert.equal(all(await read(documentID, reader)).bizEntityID, null)
    const path = `/Audit?Resource=BizEntity&ResourceID=${entity.bizEntityID}&Order=desc`
    assert.deepEqual((await admin.get(path)).data[0].changes.updatedDocuments, [
      { documentID, bizEntityID: { from: entity.bizEntityID, to: null } },
    ])
  })

  it('of another product keeps the entity: its readers would see it by that', async () => {
    const entity = await add(mine)
    const about = { productID: theirs, bizEntityID: entity.bizEntityID }
    const { documentID } = await file(about)
    refused(await read(documentID, neighbour), 404)
    const told = await remove(entity)
    refused(told, 409, 'in_use')
    assert.match(told.errors[0]!.message, new RegExp(`The document ${documentID} is`))
    const unseen = await remove(entity, reader)
    refused(unseen, 409, 'in_use')
    assert.doesNotMatch(unseen.text, new RegExp(`document ${documentID}`))
    refused(await read(documentID, neighbour), 404)
    const own = { documentTypeID: 1, documentID, productID: theirs }
    all(await admin.put('/Document', own))
    assert.equal((await remove(entity, reader)).status, 200)
    assert.equal((await read(documentID, neighbour)).status, 200)
  })

  it('and of an organisation keeps it unless the same people see the organisation', async () => {
    const { organisationID } = only(await admin.post('/Organisation', { name: 'Trustee' }))
    const bizEntityParties = [{ organisationID }]
    const [first, second, stranger] = [
      await add(mine, { bizEntityParties }),
      await add(mine, { bizEntityParties }),
      await add(theirs, { bizEntityParties }),
    ]
    const { documentID } = await file({ organisationID, bizEntityID: first.bizEntityID })
    refused(await remove(first), 409, 'in_use')
    assert.equal((await remove(stranger)).status, 200)
    const told = await heard(() => remove(first))
    assert.deepEqual(told, [[`document.updated ${documentID}`], []])
    refused(await read(documentID, neighbour), 404)
    const last = await file({ organisationID, bizEntityID: second.bizEntityID })
    refused(await remove(second), 409, 'in_use')
    refused(await read(last.documentID, neighbour), 404)
  })

  it('that stays is held back by a rule about documents', async () => {
    const entity = await add(mine)
    const { documentID } = await file({ productID: mine, bizEntityID: entity.bizEntityID })
    const rule = only(await admin.post('/ApprovalRule', { resource: 'Document' }))
    const asked = await remove(entity)
    await admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
    assert.equal(asked.status, 202, asked.text)
    assert.equal(asked.data.changes.updatedDocuments[0].documentID, documentID)
  })
})

describe('A document of an entity that goes to another product', () => {
  it('is told in both, as far as it was or is seen there', async () => {
    const entity = await add(mine)
    const { bizEntityID } = entity
    const own = (await file({ bizEntityID })).documentID
    const left = (await file({ bizEntityID, productID: mine })).documentID
    const met = (await file({ bizEntityID, productID: theirs })).documentID
    const told = await heard(async () =>
      only(await admin.put('/BizEntity', { ...entity, accounts: [{ productID: theirs }] })),
    )
    assert.deepEqual(told, [
      [`document.updated ${own},${left}`],
      [`document.updated ${own},${met}`],
    ])
    refused(await read(left, reader), 404)
    for (const id of [own, met]) assert.equal((await read(id, neighbour)).status, 200)
  })
})
