import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Reply } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { allot, configure, fundOf, newPaymentDetail } from '../support/distribution.ts'
import { eventsAfter, feedEnd } from '../support/events.ts'
import { entityOf } from '../support/investors.ts'
import { newFund, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let other: Service
let maker: Client
let approver: Client
before(async () => {
  service = await startService()
  other = await startService({}, service.connection)
  maker = await service.userWith({ role: 'Administrator' })
  approver = await service.userWith({ role: 'Administrator' })
})
after(async () => {
  await service.stop()
  await other.stop()
})

/** A rule for one test: the node where a rule is made or ended knows of it at once. */
async function withRule(rule: object, work: () => Promise<void>) {
  const { approvalRuleID } = only(await service.admin.post('/ApprovalRule', rule))
  try {
    await work()
  } finally {
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
  }
}

/** The approval id of a write that must have been kept. */
function kept(reply: Reply): number {
  assert.equal(reply.status, 202, reply.text)
  assert.equal(reply.result, true)
  return reply.data.approvalID
}

const approve = (approvalID: number, client = approver) =>
  client.post('/Approval/Approve', { approvalID })

const read = async (approvalID: number) =>
  only(await service.admin.get(`/Approval?ApprovalID=${approvalID}`))

describe('A write that a rule is about', () => {
  it('is kept from the answer to the rule on, and at other nodes within a second', async () => {
    const { productID } = await newFund(service)
    const rename = (at: Service, name: string) => at.admin.put('/Product', { productID, name })
    only(await rename(service, 'Before')) // the rules of before were just looked at
    await withRule({ operation: 'PUT /Product' }, async () => {
      kept(await rename(service, 'Now'))
      await sleep(1000)
      kept(await rename(other, 'There'))
    })
    only(await rename(service, 'After'))
    await sleep(1000)
    only(await rename(other, 'After that'))
  })

  it('is checked in full, kept with its diff, and done once another approves', async () => {
    const { productID } = await newFund(service)
    await withRule({ operation: 'PUT /Product' }, async () => {
      refused(await maker.put('/Product', { productID: 99_999, name: 'x' }), 404)
      refused(await maker.put('/Product', { productID }), 400)
      const reply = await maker.put('/Product', { productID, name: 'Renamed' })
      const id = kept(reply)
      assert.deepEqual(reply.data.changes.name, { from: 'Fund', to: 'Renamed' })
      const named = async () =>
        only(await service.admin.get(`/Product?ProductID=${productID}`)).name as string
      assert.equal(await named(), 'Fund')
      refused(await approve(id, maker), 403, 'own_request')
      const reader = await service.userWith({ permissions: ['Approval.Read', 'Approval.Write'] })
      refused(await approve(id, reader), 403, 'permission_missing')
      const done = await approve(id)
      assert.equal(done.status, 200, done.text)
      assert.equal(await named(), 'Renamed')
      refused(await approve(id), 409, 'wrong_state')
      const trail = await service.admin.get(
        `/Audit?Resource=Product&ResourceID=${productID}&PageSize=1000`,
      )
      const last = trail.data.at(-1)
      const { username } = (await approver.get('/User/Me')).data
      assert.equal(last.operation, 'PUT /Product')
      assert.equal(last.username, (await maker.get('/User/Me')).data.username)
      assert.deepEqual(last.changes.approvedBy, [username])
    })
  })

  it('is told of as an event: asked for, then approved, rejected or cancelled', async () => {
    const { productID } = await newFund(service)
    const start = await feedEnd(service.admin)
    await withRule({ operation: 'PUT /Product' }, async () => {
      const ask = async () => kept(await maker.put('/Product', { productID, name: 'Told' }))
      const [approved, rejected, cancelled] = [await ask(), await ask(), await ask()]
      await approve(approved)
      await approver.post('/Approval/Reject', { approvalID: rejected, reason: 'No' })
      await maker.post('/Approval/Cancel', { approvalID: cancelled })
      const told = await eventsAfter(service.admin, start, 7, { ProductID: productID })
      assert.deepEqual(
        told.map(({ type, ids }) => [type, ...ids]),
        [
          ['approval.requested', approved],
          ['approval.requested', rejected],
          ['approval.requested', cancelled],
          ['approval.approved', approved],
          ['product.updated', productID],
          ['approval.rejected', rejected],
          ['approval.cancelled', cancelled],
        ],
      )
    })
  })

  it('is done exactly once under approvers at once on two nodes', async () => {
    const { productID, accountID, investmentID } = await newFund(service)
    await withRule({ operation: 'POST /BizTransaction/Adjustment' }, async () => {
      const date = { transactionDate: '2024-02-01' }
      const body = { productID, accountID, investmentID, quantity: 5, ...date }
      const id = kept(await maker.post('/BizTransaction/Adjustment', body))
      const clients = [approver, service.admin, other.admin]
      const replies = await Promise.all(clients.map((client) => approve(id, client)))
      const statuses = replies.map(({ status }) => status).sort()
      assert.deepEqual(statuses, [200, 409, 409])
      const path = `/BizTransaction?ProductID=${productID}`
      assert.equal((await service.admin.get(path)).recordCount, 1)
    })
  })

  it('waits for as many as the rule says, each of them once', async () => {
    const { productID } = await newFund(service)
    await withRule({ operation: 'PUT /Product', requiredApprovals: 2 }, async () => {
      const id = kept(await maker.put('/Product', { productID, name: 'Twice' }))
      assert.equal((await approve(id)).status, 200)
      refused(await approve(id), 409, 'decided_already')
      assert.equal((await read(id)).state, 'Pending')
      assert.equal((await approve(id, service.admin)).status, 200)
      assert.equal((await read(id)).state, 'Approved')
    })
  })

  it('is checked again at the approval, and is not done where it may not be any more', async () => {
    const { productID, accountID, investmentID } = await newFund(service)
    const at = { productID, accountID, investmentID, transactionDate: '2024-02-01' }
    only(await service.admin.post('/BizTransaction/Allotment', { ...at, quantity: 10 }))
    await withRule({ operation: 'POST /BizTransaction/Redemption' }, async () => {
      const redeem = { ...at, quantity: 8 }
      const ids = [
        kept(await maker.post('/BizTransaction/Redemption', redeem)),
        kept(await maker.post('/BizTransaction/Redemption', redeem)),
      ]
      assert.equal((await approve(ids[0]!)).status, 200)
      refused(await approve(ids[1]!), 409)
      assert.equal((await read(ids[1]!)).state, 'Pending')
    })
    await withRule({ operation: 'PUT /Product' }, async () => {
      const leaver = await service.userWith({ role: 'Operator' })
      const { userID } = (await leaver.get('/User/Me')).data
      const id = kept(await leaver.put('/Product', { productID, name: 'Left' }))
      await service.admin.put('/User', { userID, isActive: false })
      refused(await approve(id), 409, 'maker_may_not')
    })
  })

  it('that said If-Match is not done where the record has changed while it waited', async () => {
    const { productID } = await newFund(service)
    const path = `/Product?ProductID=${productID}`
    const tag = async () => ({ 'If-Match': (await maker.get(path)).headers.get('etag')! })
    await withRule({ operation: 'PUT /Product' }, async () => {
      const first = kept(await maker.put('/Product', { productID, name: 'First' }, await tag()))
      const second = kept(await maker.put('/Product', { productID, name: 'Second' }, await tag()))
      assert.equal((await approve(second)).status, 200)
      refused(await approve(first), 412, 'changed_meanwhile')
      assert.equal((await read(first)).state, 'Pending')
    })
    assert.equal(only(await maker.get(path)).name, 'Second')
  })

  it('can be rejected with a reason, cancelled by its maker, and expires', async () => {
    const { productID } = await newFund(service)
    await withRule({ operation: 'PUT /Product' }, async () => {
      const ask = async () => kept(await maker.put('/Product', { productID, name: 'Maybe' }))
      const [rejected, cancelled, expired] = [await ask(), await ask(), await ask()]
      const reason = 'Not as the minutes have it.'
      const reply = await approver.post('/Approval/Reject', { approvalID: rejected, reason })
      assert.deepEqual([reply.data[0].state, reply.data[0].reason], ['Rejected', reason])
      refused(await approver.post('/Approval/Cancel', { approvalID: cancelled }), 403)
      const off = await maker.post('/Approval/Cancel', { approvalID: cancelled })
      assert.equal(off.data[0].state, 'Cancelled')
      await rowsOf(
        service.connection,
        'update approval set expires_date = now() where approval_id = $1',
        [expired],
      )
      refused(await approve(expired), 409, 'approval_expired')
      assert.equal((await read(expired)).state, 'Expired')
      for (const id of [rejected, cancelled]) refused(await approve(id), 409, 'wrong_state')
    })
  })

  it('is sealed while it waits, and seen by who sees its product', async () => {
    const { productID } = await newFund(service)
    await withRule({ operation: 'PUT /Product' }, async () => {
      const id = kept(await maker.put('/Product', { productID, name: 'Under seal' }))
      const [{ request }] = await rowsOf(
        service.connection,
        'select request from approval where approval_id = $1',
        [id],
      )
      assert.ok(!request.includes('Under seal'))
      const [{ productID: elsewhere }] = (await service.admin.post('/Product', { name: 'x' })).data
      const stranger = await service.userWith({ role: 'Administrator', productIDs: [elsewhere] })
      assert.equal((await stranger.get(`/Approval?ApprovalID=${id}`)).recordCount, 0)
      refused(await approve(id, stranger), 404, 'not_found')
    })
  })
})

describe('Operators can let these wait', () => {
  it('bank details, wherever they are written, and not what else an entity has', async () => {
    const [{ productID }] = (await service.admin.post('/Product', { name: 'Bank' })).data
    const entity = only(await service.admin.post('/BizEntity', entityOf(productID)))
    const detail = { paymentTypeID: 1, bsb: '062-000', accountNumber: '12345678', accountName: 'A' }
    await withRule({ resource: 'PaymentDetail' }, async () => {
      const own = { bizEntityID: entity.bizEntityID, ...detail }
      const id = kept(await maker.post('/PaymentDetail', own))
      assert.equal((await approve(id)).status, 200)
      const stored = only(await service.admin.get(`/BizEntity?BizEntityID=${entity.bizEntityID}`))
      assert.equal(stored.paymentDetails.length, 1)
      const renamed = await maker.put('/BizEntity', { ...stored, name: 'Another name' })
      assert.equal(renamed.status, 200, renamed.text)
      const [given] = stored.paymentDetails
      const nested = { ...stored, paymentDetails: [{ ...given, accountNumber: '87654321' }] }
      kept(await maker.put('/BizEntity', nested))
    })
  })

  it('account and tax numbers inside an investor, whatever else is changed there', async () => {
    const [{ productID }] = (await service.admin.post('/Product', { name: 'Inside' })).data
    const paymentDetails = [{ bsb: '062-000', accountNumber: '12345678', accountName: 'A' }]
    const person = { firstName: 'Ann', lastName: 'Lee', taxationFileNumber: '123456782' }
    const stored = only(
      await service.admin.post('/BizEntity', {
        ...{ ...entityOf(productID), paymentDetails },
        bizEntityParties: [{ person }],
      }),
    )
    const [detail] = stored.paymentDetails
    const [party] = stored.bizEntityParties
    const withDetail = (more: object) =>
      maker.put('/BizEntity', { ...stored, paymentDetails: [{ ...detail, ...more }] })
    await withRule({ resource: 'PaymentDetail', fields: ['accountNumber'] }, async () => {
      assert.equal((await withDetail({ comments: 'Checked' })).status, 200)
      const both = await withDetail({ accountNumber: '66666666', comments: 'Called' })
      kept(both)
      assert.match(both.text, /\*\*\* \(changed\)/)
      kept(await withDetail({ paymentDetailID: undefined, accountNumber: '66666666' }))
    })
    await withRule({ resource: 'Person', fields: ['taxationFileNumber'] }, async () => {
      const sameMask = { ...party.person, taxationFileNumber: '876543782' }
      const bizEntityParties = [{ ...party, personID: undefined, person: sameMask }]
      kept(await maker.put('/BizEntity', { ...stored, bizEntityParties }))
    })
  })

  it('names and tax numbers, by the fields that change', async () => {
    const person = only(await service.admin.post('/Person', { firstName: 'Ann', lastName: 'Lee' }))
    await withRule({ resource: 'Person', fields: ['lastName', 'taxationFileNumber'] }, async () => {
      assert.equal((await maker.put('/Person', { ...person, firstName: 'Anna' })).status, 200)
      const now = { ...person, firstName: 'Anna' }
      const name = await maker.put('/Person', { ...now, lastName: 'Lew' })
      assert.deepEqual(name.data.changes.lastName, { from: 'Lee', to: 'Lew' })
      kept(name)
      const number = await maker.put('/Person', { ...now, taxationFileNumber: '123456782' })
      kept(number)
      assert.ok(!number.text.includes('123456782'))
    })
  })

  it('adjustments, set quantity and prices, from an amount on', async () => {
    const { productID, accountID, investmentID } = await newFund(service)
    const at = { productID, accountID, investmentID, transactionDate: '2024-02-01' }
    for (const operation of ['Adjustment', 'SetQuantity'])
      await withRule({ operation: `post /biztransaction/${operation}` }, async () => {
        const id = kept(await maker.post(`/BizTransaction/${operation}`, { ...at, quantity: 7 }))
        assert.equal((await approve(id)).status, 200)
      })
    await withRule({ resource: 'BizTransaction', minimumAmount: 1000 }, async () => {
      const deposit = (amount: number) =>
        maker.post('/BizTransaction/Deposit', { ...at, amount, investmentPrice: 1 })
      assert.equal((await deposit(999.99)).status, 200)
      kept(await deposit(1000))
      kept(await maker.post('/BizTransaction/Allotment', { ...at, quantity: 5000 }))
      const list = [
        { ...at, amount: 1, investmentPrice: 1 },
        { ...at, amount: 2000, investmentPrice: 1 },
      ]
      const id = kept(await maker.post('/BizTransaction/Deposit', list))
      assert.equal((await approve(id)).status, 200)
    })
    await withRule({ operation: 'POST /Investment/Price', productIDs: [productID] }, async () => {
      const price = { investmentID, priceDate: '2024-03-01', price: 2 }
      const id = kept(await maker.post('/Investment/Price', price))
      assert.equal((await approve(id)).status, 200)
      const elsewhere = await newFund(service)
      const free = { ...price, investmentID: elsewhere.investmentID }
      assert.equal((await maker.post('/Investment/Price', free)).status, 200)
    })
  })

  it('declaring, paying and taking back', async () => {
    const fund = await fundOf(service, [100])
    await newPaymentDetail(service, fund.accountID)
    await allot(service, fund, [{ accountID: fund.accountID, quantity: 1 }], '2024-01-02')
    const { corporateActionID } = await configure(service, fund, { distributionAmountPerUnit: 0.1 })
    const key = { productID: fund.productID, corporateActionID }
    await withRule({ resource: 'Distribution' }, async () => {
      for (const stage of ['Declare', 'Payment']) {
        const id = kept(await maker.post(`/Distribution/${stage}`, key))
        const done = await approve(id)
        assert.equal(done.status, 200, done.text)
      }
      const back = { ...key, fromStatusID: 3, reason: 'Wrong rate' }
      const id = kept(await maker.post('/Distribution/Reverse', back))
      assert.equal((await approve(id)).status, 200)
    })
  })

  it('opening a period again, and changes of roles', async () => {
    const { productID } = await newFund(service)
    const name = 'Fund'
    const locked = await service.admin.put('/Product', {
      productID,
      name,
      lockedDate: '2024-06-30',
    })
    assert.equal(locked.status, 200, locked.text)
    await withRule({ resource: 'Product', fields: ['lockedDate'] }, async () => {
      const back = { productID, name, lockedDate: '2023-06-30' }
      const id = kept(await maker.put('/Product', back))
      assert.equal((await approve(id)).status, 200)
    })
    const user = {
      username: `raised-${productID}`,
      password: 'a long pass phrase',
      role: 'ReadOnly',
    }
    const { userID } = only(await service.admin.post('/User', user))
    await withRule(
      { resource: 'User', fields: ['role', 'permissions', 'productIDs'] },
      async () => {
        assert.equal((await maker.put('/User', { userID, username: `x-${productID}` })).status, 200)
        const id = kept(await maker.put('/User', { userID, role: 'Administrator' }))
        assert.equal((await approve(id)).status, 200)
        const me = await service.anyone.post('/User/Login', { ...user, username: `x-${productID}` })
        assert.equal(me.status, 200)
      },
    )
  })
})

describe('Rates of withholding tax', () => {
  it('wait as anything else does, and count once they are approved', async () => {
    const read = async () => {
      const { data } = await service.admin.get('/WithholdingRate?PageSize=1000')
      return data.filter(({ validFrom }: { validFrom: string }) => validFrom === '1950-01-01')
    }
    await withRule({ resource: 'Tax' }, async () => {
      const id = kept(
        await maker.post('/WithholdingRate', {
          ...{ rule: 'NoTfn', incomeKind: 'Interest', percentage: 40, rounding: 'Cent' },
          ...{ validFrom: '1950-01-01', validTo: '1950-12-31' },
        }),
      )
      assert.deepEqual(await read(), [])
      assert.equal((await approve(id)).status, 200)
      assert.equal((await read()).length, 1)
    })
  })
})

describe('An import', () => {
  it('does not pass around a rule: it is refused, and may be tried without writing', async () => {
    const { productID } = await newFund(service)
    const content = Buffer.from('securityCode,priceDate,price\nX,2026-01-01,1\n').toString('base64')
    const order = { type: 'Prices', format: 'csv', fileName: 'p.csv', content, productID }
    const bring = (mode: string) => maker.post('/Import', { ...order, mode })
    for (const rule of [{ resource: 'Investment' }, { operation: 'POST /Investment/Price' }])
      await withRule({ ...rule, productIDs: [productID] }, async () => {
        refused(await bring('atomic'), 409, 'approval_needed')
        assert.equal((await bring('validate')).status, 202)
      })
    assert.equal((await bring('continue')).status, 202)
  })
})
