import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client, Reply } from '../support/client.ts'
import { entityOf, unique } from '../support/investors.ts'
import { newProduct, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

type Entity = Record<string, unknown> & { bizEntityID: number; externalBizEntityId: string }

let service: Service
/**
 * `maker` requests changes and `approver` decides on them, both in all products; `scoped` decides
 * and `scopedMaker` requests in one product only.
 */
let maker: Client
let approver: Client
let scoped: Client
let scopedMaker: Client
let [mine, theirs] = [0, 0]
/** An entity of `mine` with two parents; a user scoped to `mine` sees the first parent only. */
let child: Entity
let seen: Entity
let hidden: Entity
const activeFrom = '2026-01-01'

before(async () => {
  service = await startService()
  mine = (await newProduct(service)).productID
  theirs = (await newProduct(service)).productID
  const role = 'Administrator'
  maker = await service.userWith({ role })
  approver = await service.userWith({ role })
  scoped = await service.userWith({ role, productIDs: [mine] })
  scopedMaker = await service.userWith({ role, productIDs: [mine] })
  seen = await newEntity(mine)
  hidden = await newEntity(theirs)
  const bizEntityParents = [seen, hidden].map((one) => linkTo(one))
  child = await newEntity(mine, { bizEntityParents })
  only(await service.admin.post('/ApprovalRule', { resource: 'BizEntity' }))
  only(await service.admin.post('/ApprovalRule', { resource: 'Organisation' }))
})
after(() => service.stop())

const newEntity = async (productID: number, more: object = {}): Promise<Entity> => {
  const externalBizEntityId = unique('entity')
  const entity = entityOf(productID, { externalBizEntityId, ...more })
  const reply = await service.admin.post('/BizEntity', entity)
  return reply.status === 202 ? approved(reply) : only(reply)
}

/** Approves a request of an administrator, and returns the entity that it has made. */
async function approved({ data }: Reply): Promise<Entity> {
  const done = only(await approver.post('/Approval/Approve', { approvalID: data.approvalID }))
  return only(await service.admin.get(`/BizEntity?BizEntityID=${done.resourceIDs[0]}`))
}

const linkTo = ({ bizEntityID }: Entity) => ({ parentBizEntityID: bizEntityID, activeFrom })

const namesHidden = () =>
  new RegExp(`"${hidden.externalBizEntityId}"|BizEntityID":\\s*${hidden.bizEntityID}\\b`)

const shown = (client: Client, approvalID: number) =>
  client.get(`/Approval?ApprovalID=${approvalID}`)

/**
 * Asserts that users of all products see a request, while scoped users see it neither in the list
 * nor in the audit trail.
 */
async function isBeyond(reply: Reply) {
  assert.equal(reply.status, 202, reply.text)
  const { approvalID } = reply.data
  assert.equal((await shown(approver, approvalID)).recordCount, 1)
  assert.equal((await shown(scoped, approvalID)).recordCount, 0)
  const trail = `/Audit?Resource=Approval&ResourceID=${approvalID}`
  assert.equal((await approver.get(trail)).recordCount, 1)
  assert.equal((await scoped.get(trail)).recordCount, 0)
  const key = { approvalID }
  refused(await scoped.post('/Approval/Approve', key), 404, 'not_found')
  refused(await scoped.post('/Approval/Reject', { ...key, reason: 'x' }), 404, 'not_found')
}

describe('Who approves for some products', () => {
  it('is shown changes without the parents that they cannot see, and decides', async () => {
    const bizEntityParents = [hidden, seen].map((one) => ({
      ...linkTo(one),
      ...(one === seen && { activeTo: '2026-06-30' }),
    }))
    const asked = await maker.put('/BizEntity', { ...child, bizEntityParents })
    const { approvalID } = asked.data
    assert.match((await shown(approver, approvalID)).text, namesHidden())
    const told = await shown(scoped, approvalID)
    assert.doesNotMatch(told.text, namesHidden())
    const { from, to } = only(told).changes.bizEntityParents
    assert.deepEqual(
      [...from, ...to].map(({ parentBizEntityID, activeTo }) => [parentBizEntityID, activeTo]),
      [
        [seen.bizEntityID, null],
        [seen.bizEntityID, '2026-06-30'],
      ],
    )
    const done = await scoped.post('/Approval/Approve', { approvalID })
    assert.equal(only(done).state, 'Approved')
    assert.doesNotMatch(done.text, namesHidden())
    const stored = only(await service.admin.get(`/BizEntity?BizEntityID=${child.bizEntityID}`))
    assert.equal(stored.bizEntityParents.length, 2)
  })

  it('has nothing to do with links to an investor whom they cannot see', async () => {
    const { bizEntityID } = child
    const other = await newEntity(mine)
    const link = { bizEntityID, ...linkTo(hidden) }
    const dealt = { ...linkTo(seen), externalDealerGroupBizEntityId: hidden.externalBizEntityId }
    const byName = { parentExternalBizEntityId: hidden.externalBizEntityId, activeFrom }
    const key = `BizEntityID=${bizEntityID}&ParentBizEntityID=${hidden.bizEntityID}`
    const without = { ...child, name: 'Renamed', bizEntityParents: [linkTo(seen)] }
    await isBeyond(await maker.post('/BizEntity/Parent', { ...link, activeFrom: '2027-01-01' }))
    await isBeyond(await maker.put('/BizEntity/Parent', { ...link, activeTo: '2026-12-31' }))
    await isBeyond(await maker.put('/BizEntity/Parent', { bizEntityID, ...dealt }))
    await isBeyond(await maker.delete(`/BizEntity/Parent?${key}&ActiveFrom=${activeFrom}`))
    await isBeyond(await maker.put('/BizEntity', without))
    await isBeyond(await maker.put('/BizEntity', { ...other, bizEntityParents: [dealt] }))
    await isBeyond(
      await maker.post('/BizEntity', [
        entityOf(mine),
        entityOf(mine, { bizEntityParents: [byName] }),
      ]),
    )
  })

  it('has nothing to do with parties whom they cannot see, until they are linked', async () => {
    const externalPersonId = unique('person')
    const person = { externalPersonId, firstName: 'Ida', lastName: 'Elsewhere' }
    const organisation = { externalOrganisationId: unique('organisation'), name: 'Elsewhere Ltd' }
    const bizEntityParties = [{ person }, { organisation }]
    const home = await newEntity(theirs, { bizEntityParties })
    const [one, two] = home.bizEntityParties as Record<string, number>[]
    const [personID, organisationID] = [one!.personID, two!.organisationID]
    const own = { organisation: { externalOrganisationId: unique('organisation'), name: 'Own' } }
    const entity = await newEntity(mine, { bizEntityParties: [own] })
    const parties = entity.bizEntityParties as object[]
    const withParty = (party: object) => ({ ...entity, bizEntityParties: [...parties, party] })
    await isBeyond(
      await maker.post('/BizEntity', entityOf(mine, { bizEntityParties: [{ personID }] })),
    )
    await isBeyond(await maker.put('/BizEntity', withParty({ organisationID })))
    await isBeyond(await maker.put('/BizEntity', withParty({ person: { externalPersonId } })))
    const [party] = entity.bizEntityParties as { organisation: object }[]
    const associatedPersons = [{ externalPersonId, relationshipTypeID: 1 }]
    await isBeyond(await maker.put('/Organisation', { ...party!.organisation, associatedPersons }))
    const { approvalID } = (await maker.put('/BizEntity', withParty({ personID }))).data
    assert.equal((await shown(scoped, approvalID)).recordCount, 0)
    only(await approver.post('/Approval/Approve', { approvalID }))
    assert.match((await shown(scoped, approvalID)).text, /Ida/)
  })

  it('decides about investors that are made with their parents, and that are deleted', async () => {
    const externalBizEntityId = unique('entity')
    const link = { parentExternalBizEntityId: externalBizEntityId, activeFrom }
    const family = [
      entityOf(mine, { externalBizEntityId }),
      entityOf(mine, { bizEntityParents: [link] }),
    ]
    for (const who of [maker, scopedMaker]) {
      const { approvalID } = (await who.post('/BizEntity', family)).data
      const told = only(await shown(scoped, approvalID)).changes[1].bizEntityParents
      assert.deepEqual(told, [link])
      only(await scoped.post('/Approval/Reject', { approvalID, reason: 'Not now.' }))
    }
    const gone = await newEntity(mine, { bizEntityParents: [linkTo(hidden)] })
    const reply = await maker.delete(`/BizEntity?BizEntityID=${gone.bizEntityID}`)
    const told = await shown(scoped, reply.data.approvalID)
    assert.deepEqual(only(told).changes.deleted.bizEntityParents, [])
    only(await scoped.post('/Approval/Approve', { approvalID: reply.data.approvalID }))
  })

  it('gets full pages of what is theirs to see, in order', async () => {
    const { bizEntityID } = child
    const rename = { ...child, name: 'Page' }
    const ids: number[] = []
    for (let i = 0; i < 3; i++) {
      const link = { bizEntityID, ...linkTo(hidden), activeFrom: `2028-01-0${i + 1}` }
      await maker.post('/BizEntity/Parent', link)
      ids.push((await maker.put('/BizEntity', { ...rename, name: `Page ${i}` })).data.approvalID)
    }
    const path = '/Approval?State=Pending&Order=desc&PageSize=2&IncludeTotal=true'
    const first = await scoped.get(path)
    const idsOf = ({ data }: Reply) =>
      data.map(({ approvalID }: { approvalID: number }) => approvalID)
    assert.deepEqual(idsOf(first), [ids[2], ids[1]])
    const second = await scoped.get(`${path}&PageNumber=2`)
    assert.equal(idsOf(second)[0], ids[0])
    const { totalCount } = JSON.parse(first.text)
    assert.ok(totalCount < JSON.parse((await approver.get(path)).text).totalCount)
  })
})
