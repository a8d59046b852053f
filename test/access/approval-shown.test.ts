import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { allot, configure, fundOf, keyOf } from '../support/distribution.ts'
import { entityOf } from '../support/investors.ts'
import { newFund, newProduct, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let approver: Client
let productID: number
let investmentID: number

before(async () => {
  service = await startService()
  approver = await service.userWith({ role: 'Administrator' })
  ;({ productID, investmentID } = await newFund(service))
  only(await service.admin.post('/ApprovalRule', { resource: 'PaymentDetail' }))
})
after(() => service.stop())

type Given = Record<string, unknown>

/** Sends a write that must be kept for approval; returns the approval id. */
async function ask(path: string, body: Given): Promise<number> {
  const reply = await service.admin.put(path, body)
  assert.equal(reply.status, 202, reply.text)
  return reply.data.approvalID
}
const approve = (approvalID: number) => approver.post('/Approval/Approve', { approvalID })
const read = async (path: string) => only(await service.admin.get(path))

/** Creates an investor with a bank account; only the bank account meets the rule. */
async function newInvestor() {
  const bank = { bsb: '062-000', accountNumber: '12345678', accountName: 'A' }
  const asked = await service.admin.post(
    '/BizEntity',
    entityOf(productID, { paymentDetails: [bank] }),
  )
  const { resourceIDs } = only(await approve(asked.data.approvalID))
  return read(`/BizEntity?BizEntityID=${resourceIDs[0]}`)
}

const signs = (person: Given) => ({ ...person, relationshipTypeID: 1 })

describe('What is approved', () => {
  it('takes back nothing that was changed meanwhile, and that nobody was shown', async () => {
    const investor = await newInvestor()
    const path = `/BizEntity?BizEntityID=${investor.bizEntityID}`
    const [bank] = investor.paymentDetails
    const renamed = { ...investor, paymentDetails: [{ ...bank, accountName: 'B' }] }
    const id = await ask('/BizEntity', renamed)
    const meanwhile = { ...investor, name: 'Married', addresses: [{ addressLine: '9 New St' }] }
    only(await service.admin.put('/BizEntity', meanwhile))
    refused(await approve(id), 412, 'changed_meanwhile')
    const stored = await read(path)
    assert.deepEqual([stored.name, stored.addresses.length], ['Married', 1])
    assert.equal((await read(`/Approval?ApprovalID=${id}`)).state, 'Pending')
    const again = await ask('/BizEntity', { ...stored, paymentDetails: renamed.paymentDetails })
    only(await approve(again))
    assert.equal((await read(path)).paymentDetails[0].accountName, 'B')
  })

  it('puts no earlier bank account back where a comment was asked for', async () => {
    const { paymentDetails } = await newInvestor()
    const [{ paymentDetailID }] = paymentDetails
    const path = `/PaymentDetail?PaymentDetailID=${paymentDetailID}`
    const detail = await read(path)
    const comment = await ask('/PaymentDetail', { ...detail, comments: 'Called.' })
    const other = await ask('/PaymentDetail', { ...detail, accountNumber: '87654321' })
    only(await approve(other))
    refused(await approve(comment), 412, 'changed_meanwhile')
    assert.equal((await read(path)).accountNumber, '87654321')
  })

  it('comes to the sum that was shown', async () => {
    const fund = await fundOf(service, [1000, 1000])
    const distribution = await configure(service, fund, { distributionAmountPerUnit: 1 })
    const operation = 'POST /Distribution/Declare'
    const rule = only(await service.admin.post('/ApprovalRule', { operation }))
    const declare = async () =>
      (await service.admin.post('/Distribution/Declare', keyOf(distribution))).data
    const { approvalID, changes } = await declare()
    assert.equal(changes.total, '2000')
    const more = { accountID: fund.accountID, quantity: 9000 }
    await allot(service, fund, [more], '2024-01-01')
    refused(await approve(approvalID), 412, 'changed_meanwhile')
    const again = await declare()
    assert.equal(again.changes.total, '11000')
    only(await approve(again.approvalID))
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
  })

  it('goes to the account that was meant, not to who has its external id by then', async () => {
    const [from, meant, other] = [await newInvestor(), await newInvestor(), await newInvestor()]
    const named = async ({ bizEntityID }: Given, externalAccountId: string) => {
      const stored = await read(`/BizEntity?BizEntityID=${bizEntityID}`)
      const accounts = [{ ...stored.accounts[0], externalAccountId }]
      only(await service.admin.put('/BizEntity', { ...stored, accounts }))
    }
    const posting = { productID, investmentID, transactionDate: '2026-01-10', quantity: 5 }
    const { accountID } = from.accounts[0]
    only(await service.admin.post('/BizTransaction/Allotment', { ...posting, accountID }))
    await named(meant, 'PAYEE')
    const operation = 'POST /BizTransaction/Transfer'
    const rule = only(await service.admin.post('/ApprovalRule', { operation }))
    const transfer = { ...posting, fromAccountID: accountID, toExternalAccountId: 'PAYEE' }
    const asked = await service.admin.post('/BizTransaction/Transfer', transfer)
    await named(meant, 'PAYEE-OLD')
    await named(other, 'PAYEE')
    refused(await approve(asked.data.approvalID), 412, 'changed_meanwhile')
    await named(other, 'OTHER')
    await named(meant, 'PAYEE')
    only(await approve(asked.data.approvalID))
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
    const held = await read(`/BizEntity/Account/Holdings?BizEntityID=${meant.bizEntityID}`)
    assert.equal(held.quantity, 5)
  })

  it('is of the persons, parents and products that were meant, by whatever id', async () => {
    const people = async (firstName: string) =>
      only(await service.admin.post('/Person', { firstName, lastName: 'Named' })) as Given
    const [meant, other] = [await people('Meant'), await people('Other')]
    const named = async (person: Given, externalPersonId: string) =>
      only(await service.admin.put('/Person', { ...person, externalPersonId }))
    await named(meant, 'PERSON')
    const plain = async (): Promise<Given> =>
      only(await service.admin.post('/BizEntity', entityOf(productID)))
    const [head, stranger] = [await plain(), await plain()]
    const called = async (entity: Given, externalBizEntityId: string) =>
      only(await service.admin.put('/BizEntity', { ...entity, externalBizEntityId }))
    await called(head, 'HEAD')
    const rule = only(await service.admin.post('/ApprovalRule', { operation: 'POST /BizEntity' }))
    const bound = async (
      more: Given,
      swap: () => Promise<unknown>,
      back: () => Promise<unknown>,
    ) => {
      const asked = await service.admin.post('/BizEntity', { ...entityOf(productID), ...more })
      await swap()
      refused(await approve(asked.data.approvalID), 412, 'changed_meanwhile')
      await back()
      const { resourceIDs } = only(await approve(asked.data.approvalID))
      return read(`/BizEntity?BizEntityID=${resourceIDs[0]}`)
    }
    const swapped = async () => {
      await named(meant, 'PERSON-OLD')
      await named(other, 'PERSON')
    }
    const asBefore = async () => {
      await named(other, 'OTHER-PERSON')
      await named(meant, 'PERSON')
    }
    const parties = [{ externalPersonId: 'PERSON' }]
    const linked = await bound({ bizEntityParties: parties }, swapped, asBefore)
    assert.equal(linked.bizEntityParties[0].personID, meant.personID)
    const [fund, another] = [await newProduct(service), await newProduct(service)]
    const priced = (product: Given, externalProductId: string) =>
      service.admin.put('/Product', { ...product, externalProductId })
    await priced(fund, 'FUND')
    const opened = await bound(
      { accounts: [{ externalProductId: 'FUND' }] },
      async () => {
        await priced(fund, 'FUND-OLD')
        await priced(another, 'FUND')
      },
      async () => {
        await priced(another, 'ANOTHER')
        await priced(fund, 'FUND')
      },
    )
    assert.equal(opened.accounts[0].productID, fund.productID)
    const company = { name: 'A company', associatedPersons: parties.map(signs) }
    await bound({ bizEntityParties: [{ organisation: company }] }, swapped, asBefore)
    const links = [{ parentExternalBizEntityId: 'HEAD', activeFrom: '2026-01-01' }]
    const child = await bound(
      { bizEntityParents: links },
      async () => {
        await called(head, 'HEAD-OLD')
        await called(stranger, 'HEAD')
      },
      async () => {
        await called(stranger, 'STRANGER')
        await called(head, 'HEAD')
      },
    )
    assert.equal(child.bizEntityParents[0].parentBizEntityID, head.bizEntityID)
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
  })

  it('moves an investor to the product that was meant, not to who has its id by then', async () => {
    const entity = only(await service.admin.post('/BizEntity', entityOf(productID)))
    const [meant, other] = [await newProduct(service), await newProduct(service)]
    const called = async (product: Given, externalProductId: string) =>
      only(await service.admin.put('/Product', { ...product, externalProductId }))
    await called(meant, 'TARGET')
    const rule = only(await service.admin.post('/ApprovalRule', { operation: 'PUT /BizEntity' }))
    const id = await ask('/BizEntity', { ...entity, accounts: [{ externalProductId: 'TARGET' }] })
    await called(meant, 'TARGET-OLD')
    await called(other, 'TARGET')
    refused(await approve(id), 412, 'changed_meanwhile')
    await called(other, 'OTHER-TARGET')
    await called(meant, 'TARGET')
    only(await approve(id))
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
    const { accounts } = await read(`/BizEntity?BizEntityID=${entity.bizEntityID}`)
    assert.equal(accounts[0].productID, meant.productID)
  })

  it('deletes the record that was shown, not one that has its external id by then', async () => {
    const [meant, other] = [await newInvestor(), await newInvestor()]
    const named = async (investor: Given, externalPaymentDetailId: string) => {
      const [detail] = investor.paymentDetails as Given[]
      only(await approve(await ask('/PaymentDetail', { ...detail, externalPaymentDetailId })))
    }
    await named(meant, 'BANK')
    const asked = await service.admin.delete('/PaymentDetail?ExternalPaymentDetailId=BANK')
    await named(meant, 'BANK-OLD')
    await named(other, 'BANK')
    refused(await approve(asked.data.approvalID), 412, 'changed_meanwhile')
    const left = await service.admin.get(`/PaymentDetail?BizEntityID=${other.bizEntityID}`)
    assert.equal(left.data.length, 1)
  })

  it('pays for units what they were worth when it was asked for', async () => {
    const fund = await newFund(service)
    const posting = { ...fund, transactionDate: '2026-01-10' }
    only(await service.admin.post('/BizTransaction/Allotment', { ...posting, quantity: 1000 }))
    const operation = 'POST /BizTransaction/Redemption'
    const rule = only(await service.admin.post('/ApprovalRule', { operation }))
    const redeem = async () =>
      (await service.admin.post('/BizTransaction/Redemption', { ...posting, quantity: 100 })).data
    const { approvalID } = await redeem()
    const price = { ...fund, priceDate: '2026-01-10', price: 7 }
    only(await service.admin.post('/Investment/Price', [price]))
    refused(await approve(approvalID), 412, 'changed_meanwhile')
    only(await approve((await redeem()).approvalID))
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
  })

  it('is done where what changed meanwhile is not what it changes', async () => {
    const investor = await newInvestor()
    const { accountID } = investor.accounts[0]
    const bank = { bsb: '083-004', accountNumber: '555', accountName: 'C' }
    const account = { ...investor.accounts[0], accountStatusID: 2 }
    const both = { ...investor, accounts: [account], paymentDetails: [bank] }
    const id = await ask('/BizEntity', both)
    const posting = { productID, accountID, investmentID, transactionDate: '2026-01-10' }
    only(await service.admin.post('/BizTransaction/Allotment', { ...posting, quantity: 5 }))
    only(await approve(id))
    const stored = await read(`/BizEntity?BizEntityID=${investor.bizEntityID}`)
    assert.deepEqual([stored.paymentDetails[0].bsb, stored.accounts[0].balance], ['083-004', 5])
  })
})
