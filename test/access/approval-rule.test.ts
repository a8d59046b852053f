import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { configure, fundOf, oneComponent } from '../support/distribution.ts'
import { entityOf } from '../support/investors.ts'
import {
  newAccounts,
  newFund,
  newInvestment,
  newPrice,
  newProduct,
  only,
} from '../support/ledger.ts'
import { newKey } from '../support/personas.ts'
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

  it('hold back what goes with its owner, left out or deleted, and nothing else', async () => {
    const { productID } = await newProduct(service)
    const nested = {
      paymentDetails: [{ bsb: '062-000', accountNumber: '12345678' }],
      addresses: [{ addressLine: '1 High St' }],
    }
    const given = entityOf(productID, nested)
    const entity = only(await service.admin.post('/BizEntity', given))
    const bare = only(await service.admin.post('/BizEntity', entityOf(productID)))
    const address = { addressLine: '2 Low St' }
    const owner = { firstName: 'Ann', addresses: [address] }
    const { personID } = only(await service.admin.post('/Person', owner))
    const rules = await Promise.all(
      ['PaymentDetail', 'Address'].map((resource) =>
        service.admin.post('/ApprovalRule', { resource }),
      ),
    )
    const { paymentDetails: _gone, ...without } = entity
    const held = [
      await service.admin.put('/BizEntity', without),
      await service.admin.delete(`/BizEntity?BizEntityID=${entity.bizEntityID}`),
      await service.admin.put('/Person', { personID, firstName: 'Ann' }),
      await service.admin.delete(`/Person?PersonID=${personID}`),
    ]
    for (const reply of held) assert.equal(reply.status, 202, reply.text)
    only(await service.admin.put('/BizEntity', { ...entity, name: 'Another name' }))
    only(await service.admin.post('/BizEntity', entityOf(productID, { paymentDetails: [] })))
    const deleted = await service.admin.delete(`/BizEntity?BizEntityID=${bare.bizEntityID}`)
    assert.equal(deleted.status, 200, deleted.text)
    for (const { approvalRuleID } of rules.map(only))
      await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
  })

  it('in any letter case keep imports from passing around them', async () => {
    const operation = 'post /investment/price'
    const { approvalRuleID } = only(await service.admin.post('/ApprovalRule', { operation }))
    const content = Buffer.from('securityCode,priceDate,price\nX,2026-01-01,1\n').toString('base64')
    const order = { type: 'Prices', mode: 'atomic', fileName: 'p.csv', content }
    refused(await service.admin.post('/Import', order), 409, 'approval_needed')
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
  })

  it('about other operations than an import does let it through', async () => {
    const rules = []
    for (const operation of ['PUT /BizTransaction/Rollback', 'PUT /BizTransaction'])
      rules.push(only(await service.admin.post('/ApprovalRule', { operation })))
    const order = { type: 'Transactions', mode: 'atomic', fileName: 't.csv' }
    const bring = (row: string) => {
      const content = Buffer.from(`operation,accountID,quantity\n${row}\n`).toString('base64')
      return service.admin.post('/Import', { ...order, content })
    }
    assert.equal((await bring('Allotment,1,1')).status, 202)
    const operation = 'POST /BizTransaction/Transfer'
    rules.push(only(await service.admin.post('/ApprovalRule', { operation })))
    refused(await bring('Allotment,1,2'), 409, 'approval_needed')
    for (const { approvalRuleID } of rules)
      await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
  })

  it('on a field hold back a change of it in either entry of one who is listed twice', async () => {
    const { personID } = only(await service.admin.post('/Person', { firstName: 'Ann' }))
    const as = (relationshipTypeID: number, isSignatory = false) => ({
      personID,
      relationshipTypeID,
      isSignatory,
    })
    const own = { name: 'Company', associatedPersons: [as(1), as(2)] }
    const { organisationID } = only(await service.admin.post('/Organisation', own))
    const rule = { resource: 'Organisation', fields: ['relationshipTypeID'] }
    const { approvalRuleID } = only(await service.admin.post('/ApprovalRule', rule))
    const changed = { ...own, organisationID, associatedPersons: [as(3), as(2, true)] }
    const put = await service.admin.put('/Organisation', changed)
    assert.equal(put.status, 202, put.text)
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
  })

  it('about documents let no file pass, which cannot wait', async () => {
    const { productID } = await newProduct(service)
    const about = { documentTypeID: 1, name: 'Deed', productID }
    const { documentID } = (await service.admin.post('/Document', about)).data
    const send = (method: 'post' | 'put', content: string) =>
      service.admin[method]('/Document/File', { documentID, fileName: 'deed', content })
    const rule = { resource: 'Document', productIDs: [productID] }
    const { approvalRuleID } = only(await service.admin.post('/ApprovalRule', rule))
    refused(await send('post', 'AAAA'), 409, 'approval_needed')
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
    assert.equal((await send('post', 'AAAA')).status, 200)
    const ofOthers = { ...rule, fields: ['ordinal'] }
    only(await service.admin.post('/ApprovalRule', ofOthers))
    assert.equal((await send('put', 'AAAB')).status, 200, 'of a field that a file does not change')
  })

  it('on fields hold back what goes to another owner, to whom all of it is new', async () => {
    const { productID } = await newProduct(service)
    const paid = { paymentDetails: [{ bsb: '062-000', accountNumber: '12345678' }] }
    const [mine, theirs] = await Promise.all(
      [paid, {}].map(async (more) =>
        only(await service.admin.post('/BizEntity', entityOf(productID, more))),
      ),
    )
    const rule = { resource: 'PaymentDetail', fields: ['accountNumber'], productIDs: [productID] }
    only(await service.admin.post('/ApprovalRule', rule))
    const [detail] = mine.paymentDetails
    const put = (more: object) => service.admin.put('/PaymentDetail', { ...detail, ...more })
    const moved = await put({ bizEntityID: theirs.bizEntityID, externalBizEntityId: undefined })
    assert.equal(moved.status, 202, moved.text)
    assert.equal((await put({ comments: 'Stays where it is' })).status, 200)
  })

  it('on what answers hide hold it back inside an entity, whatever changes with it', async () => {
    const { productID } = await newProduct(service)
    const taxed = { firstName: 'Ann', lastName: 'Example', taxationFileNumber: '123456782' }
    const given = entityOf(productID, {
      bizEntityParties: [{ person: taxed }],
      paymentDetails: [{ bsb: '062-000', accountNumber: '12345678', accountName: 'Ann' }],
    })
    const entity = only(await service.admin.post('/BizEntity', given))
    const office = { name: 'Office', associatedPersons: [{ person: taxed, relationshipTypeID: 1 }] }
    const { organisationID, associatedPersons } = only(
      await service.admin.post('/Organisation', office),
    )
    for (const rule of [
      { resource: 'PaymentDetail', fields: ['accountNumber'] },
      { resource: 'Person', fields: ['taxationFileNumber'] },
    ])
      only(await service.admin.post('/ApprovalRule', rule))
    const [detail] = entity.paymentDetails
    const pay = (more: object, client = service.admin) =>
      client.put('/BizEntity', { ...entity, paymentDetails: [{ ...detail, ...more }] })
    only(await pay({ comments: 'only this' }))
    const both = await pay({ comments: 'and the account', accountNumber: '66666666' })
    assert.equal(both.status, 202, both.text)
    const { from, to } = both.data.changes.paymentDetails
    assert.deepEqual([from[0].accountNumber, to[0].accountNumber], ['***', '*** (changed)'])
    // One who sees masks alone, and a number that has the mask of the one before.
    const permissions = ['BizEntity.Read', 'BizEntity.Write', 'PaymentDetail.Write']
    const blind = await service.userWith({ permissions })
    const alike = await pay({ comments: 'x', accountNumber: '99999678' }, blind)
    assert.equal(alike.status, 202, alike.text)
    const person = { ...entity.bizEntityParties[0].person, taxationFileNumber: '876543782' }
    const taxes = { ...entity, bizEntityParties: [{ person }] }
    assert.equal((await service.admin.put('/BizEntity', taxes)).status, 202)
    const { personID } = associatedPersons[0].person
    const other = { ...taxed, personID, taxationFileNumber: '876543782' }
    const inside = { person: other, relationshipTypeID: 1 }
    const kept = { organisationID, name: 'Office', associatedPersons: [inside] }
    const reply = await service.admin.put('/Organisation', kept)
    assert.equal(reply.status, 202, reply.text)
  })

  it('about users hold back a new password of another, and not one’s own', async () => {
    const user = { username: 'second-person', password: 'their own pass phrase', role: 'Operator' }
    const { userID } = only(await service.admin.post('/User', user))
    const maker = await service.userWith({ role: 'Administrator' })
    const own = await service.anyone.signIn(user.username, user.password)
    const signIn = (password: string) => service.anyone.post('/User/Login', { ...user, password })
    const rule = only(await service.admin.post('/ApprovalRule', { resource: 'User' }))
    const reset = { userID, newPassword: 'another pass phrase' }
    const asked = await maker.put('/User/Password', reset)
    assert.equal(asked.status, 202, asked.text)
    refused(await signIn(reset.newPassword), 401)
    const { approvalID } = asked.data
    refused(await maker.post('/Approval/Approve', { approvalID }), 403, 'own_request')
    refused(await own.post('/Approval/Approve', { approvalID }), 403, 'permission_missing')
    const mine = { currentPassword: user.password, newPassword: 'a pass phrase of my own' }
    assert.equal((await own.put('/User/Password', mine)).status, 200)
    const { resourceIDs } = only(await service.admin.post('/Approval/Approve', { approvalID }))
    assert.deepEqual(resourceIDs, [userID])
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
    assert.equal((await signIn(reset.newPassword)).status, 200)
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

  it('from an amount on hold back units that move for no money', async () => {
    const { productID } = await newProduct(service)
    const { investmentID } = await newInvestment(service, productID)
    const accounts = await newAccounts(service, productID, 2)
    const [fromAccountID, toAccountID] = accounts.map(({ accountID }) => accountID)
    const on = { productID, investmentID, transactionDate: '2026-01-05' }
    const post = (kind: string, body: object) =>
      service.admin.post(`/BizTransaction/${kind}`, { ...on, ...body })
    only(await post('Adjustment', { accountID: fromAccountID, quantity: 500 }))
    const minimumAmount = 1000
    const rule = { resource: 'BizTransaction', minimumAmount, productIDs: [productID] }
    only(await service.admin.post('/ApprovalRule', rule))
    const held = [
      await post('Transfer', { fromAccountID, toAccountID, quantity: 400, costBasis: 'Carry' }),
      await post('Adjustment', { accountID: fromAccountID, quantity: -400 }),
    ]
    for (const reply of held) assert.equal(reply.status, 202, reply.text)
    await newPrice(service, investmentID, '2026-01-05', 1)
    const priced = await post('Adjustment', { accountID: fromAccountID, quantity: -400 })
    assert.equal(priced.status, 200, 'below the amount')
    refused(await post('Adjustment', { accountID: fromAccountID, quantity: 0 }), 400)
  })
})

describe('A rule from an amount on', () => {
  it('holds back what lowers an amount from there, as it does its rollback', async () => {
    const { productID, accountID, investmentID } = await newFund(service)
    const on = { productID, accountID, investmentID, transactionDate: '2026-01-05' }
    const deposit = async (amount: number) =>
      only(await service.admin.post('/BizTransaction/Deposit', { ...on, amount })).bizTransactionID
    const [large, small] = [await deposit(5000), await deposit(500)]
    const rule = { resource: 'BizTransaction', minimumAmount: 1000, productIDs: [productID] }
    only(await service.admin.post('/ApprovalRule', rule))
    const lower = (bizTransactionID: number) =>
      service.admin.put('/BizTransaction', { bizTransactionID, amount: 1 })
    assert.deepEqual([(await lower(large)).status, (await lower(small)).status], [202, 200])
  })
})

describe('What waits', () => {
  it('is done by the rights of the key that asked, and not once that has ended', async () => {
    const { productID } = await newProduct(service)
    const rule = only(await service.admin.post('/ApprovalRule', { operation: 'POST /Webhook' }))
    const permissions = ['Webhook.Write', 'Event.Read', 'Product.Read'] as const
    const key = await newKey(service.admin, { permissions, productIDs: [productID] })
    const { apiKeyID } = (await key.get('/User/Me')).data
    const ask = async () => {
      const reply = await key.post('/Webhook', { url: 'https://hooks.example.com/' })
      assert.equal(reply.status, 202, reply.text)
      return reply.data.approvalID
    }
    const other = await service.userWith({ role: 'Administrator' })
    const approve = async (approvalID: number) => other.post('/Approval/Approve', { approvalID })
    const { resourceIDs } = only(await approve(await ask()))
    const hook = only(await other.get(`/Webhook?WebhookID=${resourceIDs[0]}`))
    assert.deepEqual([hook.apiKeyID, hook.productIDs], [apiKeyID, [productID]])
    const late = await ask()
    await service.admin.delete(`/ApiKey?ApiKeyID=${apiKeyID}`)
    refused(await approve(late), 409, 'maker_may_not')
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
  })

  it('tells the records it is about while it waits, and what it made when it is done', async () => {
    const owner = { firstName: 'Ann', addresses: [{ addressLine: '1 High St' }] }
    const { personID, addresses } = only(await service.admin.post('/Person', owner))
    const { addressID } = addresses[0]
    const rule = only(await service.admin.post('/ApprovalRule', { resource: 'Address' }))
    const address = { personID, addressLine: '2 Low St' }
    const kept = await service.admin.put('/Address', { ...address, addressID })
    const made = await service.admin.post('/Address', address)
    const idsOf = async ({ data }: typeof kept) =>
      only(await service.admin.get(`/Approval?ApprovalID=${data.approvalID}`)).resourceIDs
    assert.deepEqual([await idsOf(kept), await idsOf(made)], [[addressID], []])
    const other = await service.userWith({ role: 'Administrator' })
    const { approvalID } = made.data
    const { resourceIDs } = only(await other.post('/Approval/Approve', { approvalID }))
    assert.equal(resourceIDs.length, 1)
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
  })

  it('tells the record that it is about where it raises no event', async () => {
    const { webhookID } = only(
      await service.admin.post('/Webhook', { url: 'https://hooks.example.com/' }),
    )
    const rule = only(await service.admin.post('/ApprovalRule', { resource: 'Webhook' }))
    const { approvalID } = (await service.admin.post('/Webhook/Test', { webhookID })).data
    const waiting = only(await service.admin.get(`/Approval?ApprovalID=${approvalID}`))
    assert.deepEqual(waiting.resourceIDs, [webhookID])
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
  })

  it('about users is seen by those alone who have a permission for them', async () => {
    const rule = only(await service.admin.post('/ApprovalRule', { operation: 'POST /User' }))
    const given = { username: 'who-waits', password: 'a password for it', role: 'Operator' }
    const { approvalID } = (await service.admin.post('/User', given)).data
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
    const seenBy = async (rights: object) =>
      (await (await service.userWith(rights)).get(`/Approval?ApprovalID=${approvalID}`)).recordCount
    assert.equal(await seenBy({ role: 'ReadOnly' }), 0)
    assert.equal(await seenBy({ permissions: ['Approval.Read', 'User.Read'] }), 1)
    const operator = await service.userWith({ role: 'Operator' })
    refused(await operator.post('/Approval/Approve', { approvalID }), 403)
  })

  it('is listed by who asked for it', async () => {
    const { productID } = await newProduct(service)
    const rule = only(await service.admin.post('/ApprovalRule', { operation: 'PUT /Product' }))
    const asked: Record<string, number> = {}
    for (const name of ['One', 'Other']) {
      const user = await service.userWith({ role: 'Administrator' })
      const { userID } = [(await user.get('/User/Me')).data].flat()[0]
      const kept = await user.put('/Product', { productID, name })
      assert.equal(kept.status, 202, kept.text)
      asked[userID] = kept.data.approvalID
    }
    for (const [userID, approvalID] of Object.entries(asked)) {
      const found = only(await service.admin.get(`/Approval?UserID=${userID}&State=Pending`))
      assert.equal(found.approvalID, approvalID)
    }
    await service.admin.delete(`/ApprovalRule?ApprovalRuleID=${rule.approvalRuleID}`)
  })
})
