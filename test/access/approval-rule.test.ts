import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { configure, fundOf, oneComponent } from '../support/distribution.ts'
import { only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService({ REGISTRY_STAGE_INLINE: '1' })
})
after(() => service.stop())

describe('Rules', () => {
  it('are about one operation or one resource, and about writes that can wait', async () => {
    const ask = (rule: object) => service.admin.post('/ApprovalRule', rule)
    refused(await ask({}), 400, 'required')
    refused(await ask({ operation: 'PUT /Product', resource: 'Product' }), 400, 'required')
    for (const operation of ['GET /Product', 'POST /User/Login', 'POST /Approval/Approve', 'x'])
      refused(await ask({ operation }), 400, 'invalid_value')
    const operator = await service.userWith({ role: 'Operator' })
    refused(await operator.post('/ApprovalRule', { resource: 'Product' }), 403)
    refused(await operator.get('/ApprovalRule'), 403)
  })

  it('that could never hold anything back are refused', async () => {
    const ask = (rule: object) => service.admin.post('/ApprovalRule', rule)
    refused(await ask({ resource: 'ApiKey' }), 400, 'invalid_value')
    const misspelt = await ask({ resource: 'PaymentDetail', fields: ['acountNumber'] })
    refused(misspelt, 400, 'invalid_value')
    assert.match(misspelt.message!, /no field acountNumber/)
    const rule = { resource: 'PaymentDetail', fields: ['accountNumber'], isActive: false }
    const { approvalRuleID } = only(await ask(rule))
    const changed = await service.admin.put('/ApprovalRule', { approvalRuleID, fields: ['nope'] })
    refused(changed, 400, 'invalid_value')
  })

  it('can be changed: what is left out stays, null clears', async () => {
    const rule = only(
      await service.admin.post('/ApprovalRule', {
        resource: 'Product',
        fields: ['name'],
        minimumAmount: 10.5,
        isActive: false,
      }),
    )
    const { approvalRuleID } = rule
    const put = async (change: object) =>
      only(await service.admin.put('/ApprovalRule', { approvalRuleID, ...change }))
    assert.deepEqual(await put({ requiredApprovals: 2 }), { ...rule, requiredApprovals: 2 })
    assert.deepEqual([(await put({ fields: null })).fields, rule.minimumAmount], [null, 10.5])
    assert.equal((await put({ minimumAmount: null })).minimumAmount, null)
  })

  it('from an amount on hold back a stage over many accounts, of unknown amount', async () => {
    const fund = await fundOf(service, [100, 100])
    const distribution = { distributionAmountPerUnit: 0.1 }
    const { corporateActionID } = await configure(service, fund, distribution)
    const operation = 'POST /Distribution/Declare'
    only(await service.admin.post('/ApprovalRule', { operation, minimumAmount: 1_000_000 }))
    const reply = await service.admin.post('/Distribution/Declare', { corporateActionID })
    assert.equal(reply.status, 202, reply.text)
    assert.ok(reply.data.approvalID, reply.text)
  })

  it('from an amount on hold back the total of a distribution', async () => {
    const { productID, investmentID } = await fundOf(service, [100])
    const operation = 'POST /Distribution'
    only(await service.admin.post('/ApprovalRule', { operation, minimumAmount: 1000 }))
    const reply = await service.admin.post('/Distribution', {
      ...{ productID, investmentID, recordDate: '2025-06-30', paymentDate: '2025-07-15' },
      ...{ distributionAmountTotal: 1000, taxComponents: oneComponent },
    })
    assert.equal(reply.status, 202, reply.text)
  })
})
