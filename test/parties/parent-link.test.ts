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

type Entity = { bizEntityID: number; externalBizEntityId: string }
const newEntity = async (more: object = {}): Promise<Entity> =>
  only(
    await service.admin.post(
      '/BizEntity',
      entityOf(productID, { externalBizEntityId: unique('E'), ...more }),
    ),
  )
const entities = (count: number) => Promise.all(Array.from({ length: count }, () => newEntity()))
const post = (body: unknown) => service.admin.post('/BizEntity/Parent', body)
const put = (body: unknown) => service.admin.put('/BizEntity/Parent', body)
const link = (child: Entity, parent: Entity, more: object = {}) => ({
  bizEntityID: child.bizEntityID,
  parentBizEntityID: parent.bizEntityID,
  activeFrom: '2026-01-01',
  ...more,
})
const parentsOf = async ({ bizEntityID }: Entity) =>
  only(await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`)).bizEntityParents

describe('A parent link', () => {
  it('is created by either ids, with a dealer group, and shows in the child', async () => {
    const [child, parent, dealer] = (await entities(3)) as [Entity, Entity, Entity]
    const created = only(
      await post({
        externalBizEntityId: child.externalBizEntityId,
        parentExternalBizEntityId: parent.externalBizEntityId,
        dealerGroupBizEntityID: dealer.bizEntityID,
        activeFrom: '2026-07-01',
        activeTo: '2026-12-31',
      }),
    )
    assert.deepEqual(created, {
      bizEntityID: child.bizEntityID,
      externalBizEntityId: child.externalBizEntityId,
      parentBizEntityID: parent.bizEntityID,
      parentExternalBizEntityId: parent.externalBizEntityId,
      dealerGroupBizEntityID: dealer.bizEntityID,
      externalDealerGroupBizEntityId: dealer.externalBizEntityId,
      activeFrom: '2026-07-01',
      activeTo: '2026-12-31',
    })
    assert.deepEqual(await parentsOf(child), [created])
    const read = (query: string) => service.admin.get(`/BizEntity/Parent?${query}`)
    assert.deepEqual((await read(`BizEntityID=${child.bizEntityID}`)).data, [created])
    const external = `ParentExternalBizEntityId=${parent.externalBizEntityId}`
    assert.deepEqual((await read(external)).data, [created])
    assert.deepEqual((await read('BizEntityID=999999')).data, [])
    assert.deepEqual((await read('PageNumber=9007199254740991')).data, [])
    refused(await post(link(child, parent, { activeFrom: '2026-07-01' })), 409, 'duplicate')
  })

  it('is changed and deleted by child, parent and first day', async () => {
    const [child, parent, dealer] = (await entities(3)) as [Entity, Entity, Entity]
    const more = { dealerGroupBizEntityID: dealer.bizEntityID, activeTo: '2026-02-01' }
    only(await post(link(child, parent, more)))
    const changed = only(await put(link(child, parent, { activeTo: '2027-01-01' })))
    assert.deepEqual([changed.activeTo, changed.dealerGroupBizEntityID], ['2027-01-01', null])
    refused(await put(link(child, parent, { activeFrom: '2025-01-01' })), 404, 'not_found')
    const key = `BizEntityID=${child.bizEntityID}&ParentBizEntityID=${parent.bizEntityID}`
    const remove = (query: string) => service.admin.delete(`/BizEntity/Parent?${query}`)
    refused(await remove(key), 400, 'required')
    assert.equal((await remove(`${key}&ActiveFrom=2026-01-01`)).status, 200)
    refused(await remove(`${key}&ActiveFrom=2026-01-01`), 404, 'not_found')
    assert.deepEqual(await parentsOf(child), [])
  })

  it('is refused without a day, to itself, to nobody, and if it ends too soon', async () => {
    const [child, parent] = (await entities(2)) as [Entity, Entity]
    const before = await stateOf(service)
    refused(await post({ ...link(child, parent), activeFrom: null }), 400, 'required')
    refused(await post(link(child, child)), 400, 'own_parent')
    refused(await post({ ...link(child, parent), parentBizEntityID: 999999 }), 404, 'not_found')
    refused(await post({ ...link(child, parent), bizEntityID: 999999 }), 404, 'not_found')
    refused(
      await post({ bizEntityID: child.bizEntityID, activeFrom: '2026-01-01' }),
      400,
      'required',
    )
    const dealer = { dealerGroupBizEntityID: 999999 }
    refused(await post(link(child, parent, dealer)), 404, 'not_found')
    const early = await post(link(child, parent, { activeTo: '2025-12-31' }))
    refused(early, 400)
    assert.deepEqual(fieldsOf(early), ['activeTo'])
    assert.equal(await stateOf(service), before)
  })
})

describe('A circle of parents', () => {
  it('is refused on days that all of its links share, and on no others', async () => {
    const [a, b, c] = (await entities(3)) as [Entity, Entity, Entity]
    only(await post(link(a, b, { activeTo: '2026-06-30' })))
    only(await post(link(b, c)))
    refused(await post(link(c, a)), 400, 'cycle')
    refused(await post(link(c, a, { activeFrom: '2026-06-30' })), 400, 'cycle')
    only(await post(link(c, a, { activeFrom: '2026-07-01' })))
    // What would make it one afterwards is refused as well.
    refused(await put(link(a, b, { activeTo: '2026-07-01' })), 400, 'cycle')
    only(await put(link(a, b, { activeTo: '2026-05-01' })))
  })

  it('is not closed by two requests at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = (await entities(2)) as [Entity, Entity]
      const replies = await Promise.all([post(link(a, b)), post(link(b, a))])
      assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 400])
    }
  })
})

describe('Parent links inside an entity', () => {
  it('are written with it, and may name an entity of the same request', async () => {
    const parent = await newEntity()
    const external = unique('E')
    const reply = await service.admin.post('/BizEntity', [
      entityOf(productID, {
        bizEntityParents: [
          { parentBizEntityID: parent.bizEntityID, activeFrom: '2026-01-01' },
          { parentExternalBizEntityId: external, activeFrom: '2026-02-01' },
        ],
      }),
      entityOf(productID, { externalBizEntityId: external }),
    ])
    assert.equal(reply.status, 200, reply.text)
    const [child, sibling] = reply.data
    assert.deepEqual(
      child.bizEntityParents.map((one: { parentBizEntityID: number }) => one.parentBizEntityID),
      [parent.bizEntityID, sibling.bizEntityID],
    )
    const one = { parentBizEntityID: parent.bizEntityID, activeFrom: '2026-03-01' }
    const changed = only(
      await service.admin.put('/BizEntity', { ...child, bizEntityParents: [one] }),
    )
    assert.equal(changed.bizEntityParents.length, 1)
    assert.equal(changed.bizEntityParents[0].activeFrom, '2026-03-01')
    const circle = [{ parentBizEntityID: child.bizEntityID, activeFrom: '2026-01-01' }]
    refused(
      await service.admin.put('/BizEntity', {
        ...entityOf(productID),
        ...parent,
        bizEntityParents: circle,
      }),
      400,
      'cycle',
    )
    refused(
      await service.admin.put('/BizEntity', { ...child, bizEntityParents: [one, one] }),
      400,
      'given_twice',
    )
    const none = only(await service.admin.put('/BizEntity', { ...child, bizEntityParents: null }))
    assert.deepEqual(none.bizEntityParents, [])
  })

  it('go when the parent is deleted', async () => {
    const [child, parent] = (await entities(2)) as [Entity, Entity]
    only(await post(link(child, parent)))
    const gone = await service.admin.delete(`/BizEntity?BizEntityID=${parent.bizEntityID}`)
    assert.equal(gone.status, 200, gone.text)
    assert.deepEqual(await parentsOf(child), [])
  })
})
