import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client, Reply } from '../support/client.ts'
import { newProduct, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let maker: Client
let productID: number
before(async () => {
  service = await startService()
  maker = await service.userWith({ role: 'Administrator' })
  ;({ productID } = await newProduct(service))
  only(
    await service.admin.post('/ApprovalRule', { operation: 'PUT /Product', requiredApprovals: 2 }),
  )
})
after(() => service.stop())

const idOf = async (client: Client) => (await client.get('/User/Me')).data.userID as number
let asked = 0
async function ask(client = maker): Promise<number> {
  const reply = await client.put('/Product', { productID, name: `Name ${++asked}` })
  assert.equal(reply.status, 202, reply.text)
  return reply.data.approvalID
}
const approve = (approvalID: number, client: Client) =>
  client.post('/Approval/Approve', { approvalID })
const read = async (approvalID: number) =>
  only(await service.admin.get(`/Approval?ApprovalID=${approvalID}`))
const stateOf = async (approvalID: number) => (await read(approvalID)).state
/** For each approval given so far, in their order, whether it counts. */
const countedOf = async (approvalID: number) =>
  (await read(approvalID)).approvals.map((one: { isCounted: boolean }) => one.isCounted)
const idsOf = ({ data }: Reply) => data.map((one: { approvalID: number }) => one.approvalID)
const change = async (userID: number, more: object) =>
  only(await service.admin.put('/User', { userID, ...more }))

describe('An approval of several', () => {
  it('counts no more once who gave it is inactive or may not decide on it', async () => {
    const operators = (more: object) => service.userWith({ role: 'Administrator', ...more })
    const losses = [
      { isActive: false },
      { role: 'ReadOnly' },
      { permissions: ['Product.Write', 'Approval.Read'], role: null },
      { productIDs: [(await newProduct(service)).productID] },
    ]
    for (const loss of losses) {
      const [first, second, third] = [await operators({}), await operators({}), await operators({})]
      const id = await ask()
      assert.equal((await approve(id, first)).status, 200)
      assert.deepEqual(await countedOf(id), [true])
      await change(await idOf(first), loss)
      assert.deepEqual(await countedOf(id), [false])
      const reply = await approve(id, second)
      assert.equal(reply.status, 200, reply.text)
      assert.match(reply.message ?? '', /does not count/)
      const told = only(reply).approvals.map((one: { isCounted: boolean }) => one.isCounted)
      assert.deepEqual(told, [false, true])
      assert.ok(!idsOf(await second.get('/Approval?ToDecide=true')).includes(id))
      assert.equal(await stateOf(id), 'Pending', JSON.stringify(loss))
      refused(await approve(id, second), 409, 'decided_already')
      only(await approve(id, third))
      assert.equal(await stateOf(id), 'Approved')
      assert.deepEqual(await countedOf(id), [false, true, true])
      const path = `/Audit?Resource=Product&ResourceID=${productID}&Order=desc`
      const [{ changes }] = (await service.admin.get(path)).data
      assert.equal(changes.approvedBy.length, 2)
    }
  })

  it('counts again once they may, and nobody is needed beside', async () => {
    const [first, second] = [
      await service.userWith({ permissions: ['Product.Write', 'Approval.Read', 'Approval.Write'] }),
      await service.userWith({ role: 'Administrator' }),
    ]
    const id = await ask()
    only(await approve(id, second))
    const userID = await idOf(second)
    await change(userID, { role: 'ReadOnly' })
    only(await approve(id, first))
    assert.equal(await stateOf(id), 'Pending')
    assert.deepEqual(await countedOf(id), [false, true])
    await change(userID, { role: 'Administrator' })
    assert.deepEqual(await countedOf(id), [true, true])
    const waiting = '/Approval?ToDecide=true'
    for (const client of [first, second]) assert.ok(idsOf(await client.get(waiting)).includes(id))
    only(await approve(id, first))
    assert.equal(await stateOf(id), 'Approved')
  })
})

describe('Which approvals counted', () => {
  const administrator = () => service.userWith({ role: 'Administrator' })

  it('stays as it was when it was decided, whatever becomes of who gave them', async () => {
    const [lapsed, first, second] = [await administrator(), await administrator(), service.admin]
    const rejected = await ask()
    const done = await ask()
    const cancelled = await ask()
    for (const id of [rejected, done, cancelled]) only(await approve(id, lapsed))
    const userID = await idOf(lapsed)
    await change(userID, { role: 'ReadOnly' })
    only(await first.post('/Approval/Reject', { approvalID: rejected, reason: 'No.' }))
    only(await maker.post('/Approval/Cancel', { approvalID: cancelled }))
    only(await approve(done, first))
    only(await approve(done, second))
    await change(userID, { role: 'Administrator' })
    await change(await idOf(first), { isActive: false })
    assert.deepEqual(await countedOf(rejected), [false])
    assert.deepEqual(await countedOf(cancelled), [false])
    assert.deepEqual(await countedOf(done), [false, true, true])
  })

  it('does not depend on what was approved: it may take their rights away', async () => {
    const [first, second] = [await administrator(), await administrator()]
    const operation = { operation: 'PUT /User', requiredApprovals: 2 }
    const rule = only(await service.admin.post('/ApprovalRule', operation))
    const demotion = { userID: await idOf(first), role: 'ReadOnly' }
    const { approvalID } = (await maker.put('/User', demotion)).data
    only(await approve(approvalID, first))
    only(await approve(approvalID, second))
    assert.deepEqual(await countedOf(approvalID), [true, true])
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
  })
})

describe('GET /Approval', () => {
  it('tells what waits for who asks, and nothing else', async () => {
    const operator = await service.userWith({ role: 'Operator' })
    const reader = await service.userWith({ role: 'ReadOnly' })
    const own = await ask(operator)
    const [fresh, given] = [await ask(), await ask()]
    only(await approve(given, operator))
    const waiting = idsOf(await operator.get('/Approval?ToDecide=true&Order=desc'))
    assert.deepEqual(waiting, [fresh])
    const others = idsOf(await operator.get('/Approval?ToDecide=false&State=Pending'))
    assert.deepEqual(others, [own, given])
    assert.deepEqual(idsOf(await reader.get('/Approval?ToDecide=true')), [])
    const rule = only(await service.admin.post('/ApprovalRule', { operation: 'POST /User' }))
    const user = { username: 'waits', password: 'a password for tests', role: 'ReadOnly' }
    assert.equal((await maker.post('/User', user)).status, 202)
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
    assert.deepEqual(idsOf(await operator.get('/Approval?ToDecide=true')), [fresh])
  })
})
