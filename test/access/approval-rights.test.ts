import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Reply } from '../support/client.ts'
import { configure, fundOf, keyOf, oneComponent } from '../support/distribution.ts'
import { entityOf, unique } from '../support/investors.ts'
import { all, newFund, newProduct, only } from '../support/ledger.ts'
import { newKey } from '../support/personas.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let approver: Client
before(async () => {
  service = await startService({ REGISTRY_STAGE_INLINE: '1' })
  approver = await service.userWith({ role: 'Administrator' })
})
after(() => service.stop())

const approve = (approvalID: number) => approver.post('/Approval/Approve', { approvalID })

/** The approval id of a write that waits. */
function kept(reply: Reply): number {
  assert.equal(reply.status, 202, reply.text)
  return reply.data.approvalID
}

/** Does some work while an approval rule exists. */
async function withRule<T>(rule: object, work: () => Promise<T>): Promise<T> {
  const { approvalRuleID } = only(await service.admin.post('/ApprovalRule', rule))
  const done = await work()
  await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
  return done
}

describe('A rule for a product', () => {
  it('holds back what would take an investor or a document out of it', async () => {
    const [from, to] = [await newProduct(service), await newProduct(service)].map(
      ({ productID }) => productID,
    )
    const entity = only(await service.admin.post('/BizEntity', entityOf(from!)))
    const about = { documentTypeID: 1, name: 'Deed' }
    const document = { ...about, productID: from! }
    const { documentID } = all(await service.admin.post('/Document', document))
    const moved = { ...entity, accounts: [{ productID: to }] }
    const id = await withRule({ resource: 'BizEntity', productIDs: [from] }, async () =>
      kept(await service.admin.put('/BizEntity', moved)),
    )
    const other = await withRule({ resource: 'Document', productIDs: [from] }, async () =>
      kept(await service.admin.put('/Document', { ...about, documentID, productID: to })),
    )
    for (const approvalID of [id, other]) {
      for (const productID of [from, to]) {
        const scoped = await service.userWith({ role: 'Administrator', productIDs: [productID] })
        refused(await scoped.post('/Approval/Approve', { approvalID }), 404)
      }
      assert.equal(only(await approve(approvalID)).state, 'Approved')
    }
  })
})

describe('A rule about documents', () => {
  it('holds back the deletion of an investor that would take some along', async () => {
    const { productID } = await newProduct(service)
    const [bare, filed] = [1, 2].map(() => service.admin.post('/BizEntity', entityOf(productID)))
    const remove = ({ bizEntityID }: { bizEntityID: number }) =>
      service.admin.delete(`/BizEntity?BizEntityID=${bizEntityID}`)
    const investor = only(await filed!)
    const deed = { documentTypeID: 1, bizEntityID: investor.bizEntityID }
    const { documentID } = all(await service.admin.post('/Document', deed))
    await withRule({ resource: 'Document', productIDs: [productID] }, async () => {
      assert.equal((await remove(only(await bare!))).status, 200)
      const asked = await remove(investor)
      kept(asked)
      assert.deepEqual(asked.data.changes.deletedDocuments, [documentID])
    })
  })
})

describe('Who sees one of the products of a rule', () => {
  it('is not told of the others, by the rule or by what it holds back', async () => {
    const [own, other] = [await newProduct(service), await newProduct(service)]
    const productIDs = [own.productID, other.productID]
    const scoped = await service.userWith({ role: 'Administrator', productIDs: [own.productID] })
    await withRule({ operation: 'PUT /Product', productIDs }, async () => {
      const rules = await scoped.get('/ApprovalRule')
      assert.deepEqual(rules.data.at(-1).productIDs, [own.productID])
      const reply = await scoped.put('/Product', { productID: own.productID, name: 'Renamed' })
      kept(reply)
      assert.deepEqual(reply.data.rule.productIDs, [own.productID])
    })
  })
})

describe('An API key', () => {
  it('is shown what it asked for, and not what its user has asked for elsewhere', async () => {
    const [here, elsewhere] = [await newProduct(service), await newProduct(service)]
    const permissions = ['Approval.Read', 'Approval.Write', 'Product.Write', 'Person.Write']
    const keyed = { permissions, productIDs: [here.productID] }
    const [key, sibling] = [await newKey(service.admin, keyed), await newKey(service.admin, keyed)]
    const ask = ({ productID }: { productID: number }) =>
      service.admin.put('/Product', { productID, name: 'Renamed' })
    const [near, far] = await withRule({ resource: 'Product' }, async () => [
      kept(await ask(here)),
      kept(await ask(elsewhere)),
    ])
    const own = await withRule({ resource: 'Person' }, async () =>
      kept(await key.post('/Person', { firstName: 'Ann', lastName: 'Nobody' })),
    )
    const seenBy = async (client: Client) =>
      (await client.get('/Approval?Order=desc&PageSize=3')).data.map(
        ({ approvalID }: { approvalID: number }) => approvalID,
      )
    assert.deepEqual((await seenBy(service.admin)).slice(0, 3), [own, far, near])
    assert.deepEqual(await seenBy(key), [own, near])
    assert.deepEqual(await seenBy(sibling), [near])
    refused(await sibling.post('/Approval/Cancel', { approvalID: own }), 404)
    refused(await key.post('/Approval/Cancel', { approvalID: far }), 404)
    assert.equal(only(await key.post('/Approval/Cancel', { approvalID: own })).state, 'Cancelled')
  })
})

describe('What was asked for', () => {
  it('is not done once who asked sees the product no more, for that reason', async () => {
    const { productID } = await newProduct(service)
    const other = await newProduct(service)
    const role = 'Operator'
    const maker = await service.userWith({ role, productIDs: [productID] })
    const { userID, username } = (await maker.get('/User/Me')).data
    const id = await withRule({ operation: 'PUT /Product' }, async () =>
      kept(await maker.put('/Product', { productID, name: 'Renamed' })),
    )
    const scope = async (productIDs: number[]) => {
      only(await service.admin.put('/User', { userID, username, role, productIDs }))
      await sleep(1000) // every node knows by now
    }
    await scope([other.productID])
    refused(await approve(id), 409, 'maker_may_not')
    await scope([productID])
    assert.equal(only(await approve(id)).state, 'Approved')
  })

  it('does not delete a record that is another by then than who approves was shown', async () => {
    const { productID, accountID, investmentID } = await newFund(service)
    const on = { productID, accountID, investmentID }
    const hold = { ...on, quantity: 10, reason: 'A pledge', validFrom: '2026-01-01' }
    const { holdID } = only(await service.admin.post('/Hold', hold))
    const release = () => service.admin.delete(`/Hold?HoldID=${holdID}`)
    const id = await withRule({ resource: 'Hold' }, async () => kept(await release()))
    const changed = { ...hold, holdID, quantity: null, all: true, reason: 'By order of a court' }
    only(await service.admin.put('/Hold', changed))
    refused(await approve(id), 412, 'changed_meanwhile')
    const again = await withRule({ resource: 'Hold' }, async () => kept(await release()))
    assert.equal(only(await approve(again)).state, 'Approved')
  })

  it('of a webhook tells where it sent to, and is not done where that has changed', async () => {
    const url = (host: string) => `https://${host}.example.com/`
    const { webhookID } = only(await service.admin.post('/Webhook', { url: url('first') }))
    const put = (host: string) => service.admin.put('/Webhook', { webhookID, url: url(host) })
    const asked = await withRule({ resource: 'Webhook' }, () => put('second'))
    assert.deepEqual(asked.data.changes.url, { from: url('first'), to: url('second') })
    only(await put('third'))
    refused(await approve(kept(asked)), 412, 'changed_meanwhile')
    const gone = await service.admin.delete(`/Webhook?WebhookID=${webhookID}`)
    assert.equal(gone.status, 200, gone.text)
    const path = `/Audit?Resource=Webhook&ResourceID=${webhookID}&Order=desc&PageSize=1`
    assert.equal(only(await service.admin.get(path)).changes.deleted.url, url('third'))
  })

  it('is told to be under way where many accounts are worked at', async () => {
    const fund = await fundOf(service, [100, 200])
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 1 })
    const id = await withRule({ operation: 'POST /Distribution/Declare' }, async () =>
      kept(await service.admin.post('/Distribution/Declare', keyOf(distribution))),
    )
    const done = await approve(id)
    assert.equal(only(done).state, 'Approved')
    assert.equal(done.message, 'Approved; it is under way.')
  })

  it('tells who approves what to do where it said If-Match and has changed', async () => {
    const { productID } = await newProduct(service)
    const path = `/Product?ProductID=${productID}`
    const tag = (await service.admin.get(path)).headers.get('etag')!
    const change = { productID, name: 'Renamed' }
    const id = await withRule({ operation: 'PUT /Product' }, async () =>
      kept(await service.admin.put('/Product', change, { 'If-Match': tag })),
    )
    only(await service.admin.put('/Product', { productID, name: 'Meanwhile' }))
    const late = await approve(id)
    refused(late, 412, 'changed_meanwhile')
    assert.match(late.message!, /Reject it, and have it made again/)
  })

  it('reinvests into the class that it would have when asked for, or not at all', async () => {
    const { productID, investmentID } = await newFund(service)
    const targets = []
    for (const securityCode of ['DRPA', 'DRPB']) {
      const input = { productID, securityCode, name: securityCode }
      targets.push(only(await service.admin.post('/Investment', input)))
    }
    const distribution = {
      ...{ productID, investmentID, externalCorporateActionId: unique('distribution') },
      ...{ recordDate: '2026-06-30', paymentDate: '2026-07-15', distributionAmountPerUnit: 1 },
      ...{ drpIndicatorID: 2, drpSecurityCode: 'DRPA', taxComponents: oneComponent },
    }
    const [held, renamed] = await withRule({ operation: 'POST /Distribution' }, async () => {
      const again = { ...distribution, externalCorporateActionId: unique('distribution') }
      return [
        kept(await service.admin.post('/Distribution', distribution)),
        kept(await service.admin.post('/Distribution', again)),
      ]
    })
    assert.equal(only(await approve(held!)).state, 'Approved')
    for (const [i, securityCode] of ['OLD', 'DRPA'].entries())
      only(await service.admin.put('/Investment', { ...targets[i], securityCode }))
    refused(await approve(renamed!), 412, 'changed_meanwhile')
  })
})
