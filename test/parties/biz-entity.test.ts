import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { entityOf, stateOf, unique } from '../support/investors.ts'
import { newInvestment, newPrice, newProduct, only } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let productID: number
before(async () => {
  service = await startService()
  productID = (await newProduct(service)).productID
})
after(() => service.stop())

const post = (body: unknown) => service.admin.post('/BizEntity', body)
const put = (body: unknown) => service.admin.put('/BizEntity', body)
const create = async (more: object = {}) => only(await post(entityOf(productID, more)))

const scalars =
  `bizEntityID externalBizEntityId bizEntityTypeID bizEntityStatusID name legalName description
  customerCode advisorNumber authorizedNomineePersonID bizEntityTaxOfficeTypeID
  communicationPreferenceCopyParentBizEntity communicationPreferenceID contactPerson controllingPID
  corporateRepresentative customerCategoryID groupedWithBizEntityID investorTypeID
  isDirectorInterest isExecutiveInterest marginLenderOrganisationID powerOfAttorney
  purposeOfInvestmentID salesPersonID salutation signatureParty
  sophisticatedInvestorCertificateDate sophisticatedInvestorComment
  sophisticatedInvestorEligibility sourceOfFundsID specialConditions standingProxy
  taxationCountryCode createdDate`.split(/\s+/)
const arrays =
  'accounts addresses communications paymentDetails bizEntityParties bizEntityParents'.split(' ')

describe('POST /BizEntity', () => {
  it('answers with the 35 scalars and the six arrays, in their order', async () => {
    const entity = await create()
    assert.equal(scalars.length, 35)
    assert.deepEqual(Object.keys(entity), [...scalars, ...arrays])
    assert.ok(entity.bizEntityID > 0)
    assert.deepEqual(entity.addresses, [])
    assert.equal(entity.legalName, null)
  })

  it('keeps every field as it was sent', async () => {
    const person = only(await service.admin.post('/Person', { firstName: 'Nominee' }))
    const lender = only(await service.admin.post('/Organisation', { name: 'Lender' }))
    const group = await create()
    const sent = {
      externalBizEntityId: unique('E'),
      name: 'Ünïcode & Söhne',
      legalName: 'Legal',
      description: 'd'.repeat(2000),
      customerCode: 'C',
      advisorNumber: 'A'.repeat(100),
      authorizedNomineePersonID: person.personID,
      bizEntityTaxOfficeTypeID: 1,
      communicationPreferenceCopyParentBizEntity: true,
      communicationPreferenceID: 1,
      contactPerson: 'Contact',
      controllingPID: person.personID,
      corporateRepresentative: 'Rep',
      customerCategoryID: 1,
      groupedWithBizEntityID: group.bizEntityID,
      investorTypeID: 2,
      isDirectorInterest: true,
      isExecutiveInterest: true,
      marginLenderOrganisationID: lender.organisationID,
      powerOfAttorney: 'Poa',
      purposeOfInvestmentID: 1,
      salesPersonID: 12,
      salutation: 'Dear',
      signatureParty: person.personID,
      sophisticatedInvestorCertificateDate: '2026-01-31',
      sophisticatedInvestorComment: 'comment',
      sophisticatedInvestorEligibility: 'Income Test',
      sourceOfFundsID: 1,
      specialConditions: 's'.repeat(2000),
      standingProxy: 'proxy',
      taxationCountryCode: 'AUS',
    }
    const entity = await create(sent)
    for (const [field, value] of Object.entries(sent)) assert.deepEqual(entity[field], value, field)
  })

  it('takes ids and fields in any letter case, and ignores what it does not know', async () => {
    const sent = {
      NAME: 'Upper',
      BizEntityTypeID: 2,
      bizentitystatusid: 1,
      nonsense: [1],
      ...lists(),
    }
    const entity = only(await post(sent))
    assert.deepEqual([entity.name, entity.bizEntityTypeID], ['Upper', 2])
  })
  const lists = () => ({
    accounts: [{ productID }],
    bizEntityParties: [{ person: { lastName: 'B' } }],
  })

  it('refuses with all problems and their paths, and leaves nothing behind', async () => {
    const before = await stateOf(service)
    const reply = await post({
      bizEntityTypeID: 99,
      name: '  ',
      description: 'd'.repeat(2001),
      taxationCountryCode: 'AU',
      accounts: [],
      bizEntityParties: [
        { isSignatory: true },
        { person: { gender: 'Q' } },
        { person: {}, organisation: {} },
      ],
      addresses: [{ countryCode: 'AU', stateCode: 'NSW', postcode: '3000' }],
    })
    refused(reply, 400)
    const told = new Set(fieldsOf(reply))
    for (const field of [
      'bizEntityTypeID',
      'bizEntityStatusID',
      'name',
      'description',
      'taxationCountryCode',
      'accounts',
      'bizEntityParties[0].person',
      'bizEntityParties[1].person.gender',
      'bizEntityParties[2].person',
      'addresses[0].postcode',
    ])
      assert.ok(told.has(field), `${field} in ${[...told]}`)
    assert.equal(await stateOf(service), before)
  })

  it('takes an array whole or not at all, and names the bad item', async () => {
    const before = await stateOf(service)
    const good = entityOf(productID)
    const reply = await post([good, good, { ...good, accounts: [{ productID: 987654 }] }])
    refused(reply, 404, 'not_found')
    assert.deepEqual(fieldsOf(reply), ['[2].accounts[0].productID'])
    assert.equal(await stateOf(service), before)
    const named = ['one', 'two', 'three'].map((name) => entityOf(productID, { name }))
    const created = await post(named)
    assert.equal(created.recordCount, 3)
    assert.deepEqual(
      created.data.map(({ name }: { name: string }) => name),
      ['one', 'two', 'three'],
    )
  })

  it('refuses accounts of two products, and a duplicate external id', async () => {
    const other = await newProduct(service)
    const mixed = [{ productID }, { externalProductId: other.externalProductId }]
    const reply = await post(entityOf(productID, { accounts: mixed }))
    refused(reply, 400, 'other_product')
    assert.deepEqual(fieldsOf(reply), ['accounts[1].productID'])
    const externalBizEntityId = unique('E')
    await create({ externalBizEntityId })
    refused(await post(entityOf(productID, { externalBizEntityId })), 409, 'duplicate')
    const twice = entityOf(productID, { externalBizEntityId: unique('E') })
    refused(await post([twice, twice]), 400, 'given_twice')
  })

  it('gives an account its defaults and a number that is never given again', async () => {
    const yen = await newProduct(service, { currencyID: 8 })
    const entity = only(await post(entityOf(yen.productID)))
    const [account] = entity.accounts
    assert.deepEqual(
      [account.currencyID, account.drpTypeID, account.accountStatusID, account.balance],
      [8, 1, 1, 0],
    )
    const next = String(Number(account.accountNumber) + 1)
    // A client takes the number that would be next, and deletes the account again.
    const taken = await create({ accounts: [{ productID, accountNumber: next }] })
    await service.admin.delete(`/BizEntity?BizEntityID=${taken.bizEntityID}`)
    const later = await create()
    assert.notEqual(later.accounts[0].accountNumber, next)
    // Or gives it to an account that then gets another.
    const soon = String(Number(later.accounts[0].accountNumber) + 1)
    const changing = await create({ accounts: [{ productID, accountNumber: soon }] })
    Object.assign(changing.accounts[0], { accountNumber: 'another' })
    only(await service.admin.put('/BizEntity', changing))
    assert.notEqual((await create()).accounts[0].accountNumber, soon)
    refused(
      await post(
        entityOf(productID, {
          accounts: [{ productID, accountNumber: later.accounts[0].accountNumber }],
        }),
      ),
      409,
      'duplicate',
    )
  })

  it('keeps a drpValue digit for digit, and asks for one where the DRP type needs it', async () => {
    const of = (drpTypeID: number, drpValue: unknown) =>
      JSON.stringify(
        entityOf(productID, { accounts: [{ productID, drpTypeID, drpValue: '#' }] }),
      ).replace('"#"', String(drpValue))
    const { text } = await post(of(4, '123456789012345.678'))
    assert.match(text, /"drpValue":123456789012345\.678,/)
    for (const [type, value] of [
      [3, 'null'],
      [3, '100.01'],
      [3, '-1'],
      [4, 'null'],
      [4, '-0.1'],
    ] as const)
      assert.deepEqual(fieldsOf(await post(of(type, value))), ['accounts[0].drpValue'])
  })

  it('refuses references to persons, organisations and entities that are not there', async () => {
    const reply = await post([
      entityOf(productID, {
        authorizedNomineePersonID: 999999,
        marginLenderOrganisationID: 999998,
        groupedWithBizEntityID: 999997,
      }),
    ])
    refused(reply, 404, 'not_found')
    assert.deepEqual(fieldsOf(reply).sort(), [
      '[0].authorizedNomineePersonID',
      '[0].groupedWithBizEntityID',
      '[0].marginLenderOrganisationID',
    ])
  })
})

describe('The balance of an account', () => {
  it('is units times the latest price, and what is invested where there is no price', async () => {
    const fund = await newProduct(service)
    const priced = await newInvestment(service, fund.productID)
    const unpriced = await newInvestment(service, fund.productID)
    await newPrice(service, priced.investmentID, '2025-01-01', '1.5')
    await newPrice(service, priced.investmentID, '2025-06-01', '2.345')
    await newPrice(service, priced.investmentID, '2999-01-01', '9')
    const entity = only(await post(entityOf(fund.productID)))
    const { accountID } = entity.accounts[0]
    const common = { productID: fund.productID, accountID, transactionDate: '2025-07-01' }
    const deposits = [
      { ...common, investmentID: priced.investmentID, amount: 100, quantity: 10.01 },
      { ...common, investmentID: unpriced.investmentID, amount: '33.33', quantity: 7 },
    ]
    const posted = await service.admin.post('/BizTransaction/Deposit', deposits)
    assert.equal(posted.status, 200, posted.text)
    const read = only(await service.admin.get(`/BizEntity?BizEntityID=${entity.bizEntityID}`))
    assert.equal(read.accounts[0].balance, 56.8) // round(10.01 × 2.345, 2) + 33.33
    const all = await service.admin.get(`/BizEntity?InvestmentID=${priced.investmentID}`)
    assert.deepEqual(
      all.data.map(({ bizEntityID }: { bizEntityID: number }) => bizEntityID),
      [entity.bizEntityID],
    )
    const { bizTransactionID } = posted.data[0]
    const undone = await service.admin.put('/BizTransaction/Rollback', { bizTransactionID })
    assert.equal(undone.status, 200, undone.text)
    const none = await service.admin.get(`/BizEntity?InvestmentID=${priced.investmentID}`)
    assert.deepEqual(none.data, [])
    refused(
      await put({ ...read, accounts: [{ productID: fund.productID }] }),
      409,
      'has_transactions',
    )
    refused(
      await put({ ...read, accounts: [{ ...read.accounts[0], currencyID: 3 }] }),
      409,
      'has_transactions',
    )
    refused(
      await service.admin.delete(`/BizEntity?BizEntityID=${entity.bizEntityID}`),
      409,
      'has_transactions',
    )
  })
})

describe('Notices and entitlements', () => {
  it('keep an account from being removed, and its entity while they are open', async () => {
    const fund = await newProduct(service)
    const { investmentID } = await newInvestment(service, fund.productID)
    const entity = only(await post(entityOf(fund.productID)))
    const { bizEntityID } = entity
    const [{ accountID }] = entity.accounts
    const notice = { productID: fund.productID, accountID, investmentID, amount: 5 }
    const event = only(
      await service.admin.post('/BizEvent/NoticeOfDeposit', {
        ...notice,
        transactionDate: '2026-01-01',
      }),
    )
    const without = { ...entity, accounts: [{ productID: fund.productID }] }
    refused(await put(without), 409, 'has_events')
    const remove = () => service.admin.delete(`/BizEntity?BizEntityID=${bizEntityID}`)
    refused(await remove(), 409, 'has_events')
    const { bizEventID } = event
    assert.equal((await service.admin.put('/BizEvent/Cancel', { bizEventID })).status, 200)
    refused(await put(without), 409, 'has_events')
    await rowsOf(
      service.connection,
      `insert into entitlement (product_id, corporate_action_id, account_id, investment_id, units,
         gross_amount, component_amounts, drp_amount, cash_amount)
       values ($1, 1, $2, $3, 0, 0, '{}', 0, 0)`,
      [fund.productID, accountID, investmentID],
    )
    refused(await put(without), 409, 'has_entitlements')
    refused(await remove(), 409, 'has_entitlements')
    await rowsOf(service.connection, 'delete from entitlement')
    assert.equal((await remove()).status, 200)
  })
})

describe('DELETE /BizEntity', () => {
  it('removes the entity and what it owns, and leaves its persons and organisations', async () => {
    const externalPersonId = unique('P')
    const entity = await create({
      externalBizEntityId: unique('E'),
      addresses: [{ suburb: 'X' }],
      communications: [{ communicationTypeID: 2, name: '1' }],
      paymentDetails: [{ bsb: '062000' }],
      bizEntityParties: [{ person: { externalPersonId, firstName: 'Stays' } }],
    })
    const id = entity.bizEntityID
    const reply = await service.admin.delete(
      `/BizEntity?ExternalBizEntityId=${entity.externalBizEntityId}`,
    )
    assert.deepEqual([reply.status, reply.data, reply.recordCount], [200, null, 0])
    assert.deepEqual((await service.admin.get(`/BizEntity?BizEntityID=${id}`)).data, [])
    assert.equal(
      only(await service.admin.get(`/Person?ExternalPersonId=${externalPersonId}`)).firstName,
      'Stays',
    )
    const rows = await rowsOf(
      service.connection,
      `select from address where biz_entity_id = $1 union all
       select from payment_detail where biz_entity_id = $1 union all
       select from account where biz_entity_id = $1`,
      [id],
    )
    assert.equal(rows.length, 0)
    refused(await service.admin.delete(`/BizEntity?BizEntityID=${id}`), 404, 'not_found')
    refused(await service.admin.delete('/BizEntity'), 400, 'required')
  })
})

describe('GET /BizEntity by id', () => {
  it('shows what the list shows, of one alone and of many asked for together', async () => {
    const parent = await create()
    const company = await create({ bizEntityParties: [{ organisation: { name: 'Trust Co' } }] })
    const link = { parentBizEntityID: parent.bizEntityID, activeFrom: '2024-01-01' }
    const child = await create({ bizEntityParents: [link] })
    const plain = await Promise.all(Array.from({ length: 8 }, () => create()))
    const wanted = [parent, company, child, ...plain]
    const read = async ({ bizEntityID }: { bizEntityID: number }) =>
      only(await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`))
    for (const one of wanted) assert.deepEqual(await read(one), one)
    assert.deepEqual(await Promise.all(wanted.map(read)), wanted)
    const list = await service.admin.get(`/BizEntity?ProductID=${productID}&PageSize=1000`)
    const listed = new Map(list.data.map((one: { bizEntityID: number }) => [one.bizEntityID, one]))
    for (const one of wanted) assert.deepEqual(listed.get(one.bizEntityID), one)
  })
})

describe('GET /BizEntity by a part of its accounts', () => {
  it('finds each entity once, on every page, beside the other filters', async () => {
    const [mark, elsewhere] = [unique('FIND'), await newProduct(service)]
    const accountsOf = (own: number, ...names: string[]) =>
      names.map((name) => ({ productID: own, externalAccountId: `${mark}-${name}` }))
    const both = await create({ accounts: accountsOf(productID, 'A1', 'A2') })
    const single = await create({ accounts: accountsOf(productID, 'A3') })
    const { productID: another } = elsewhere
    const other = only(await post({ ...entityOf(another), accounts: accountsOf(another, 'A4') }))
    await create({ accounts: accountsOf(productID, 'B1') })
    const ids = [both, single, other].map(({ bizEntityID }) => bizEntityID)
    const part = `/BizEntity?ExternalAccountId.beginsWith=${mark}-A`
    const found = async (path: string) => {
      const answer = await service.admin.get(path)
      const entities: { bizEntityID: number }[] = answer.data
      const { totalCount, nextCursor } = JSON.parse(answer.text)
      return { totalCount, nextCursor, ids: entities.map(({ bizEntityID }) => bizEntityID) }
    }
    const whole = await found(`${part}&IncludeTotal=true`)
    assert.deepEqual([whole.ids, whole.totalCount], [ids, 3])
    assert.deepEqual((await found(`${part}&Order=desc`)).ids, ids.toReversed())
    assert.deepEqual((await found(`${part}&ProductID=${productID}`)).ids, ids.slice(0, 2))
    const first = await found(`${part}&PageSize=1`)
    assert.deepEqual(first.ids, ids.slice(0, 1))
    const rest = await found(`${part}&PageSize=2&Cursor=${encodeURIComponent(first.nextCursor)}`)
    assert.deepEqual(rest.ids, ids.slice(1))
    assert.deepEqual((await found(`${part}&PageSize=1&PageNumber=3`)).ids, ids.slice(2))
    const scoped = await service.userWith({ role: 'ReadOnly', productIDs: [another] })
    assert.deepEqual((await scoped.get(part)).data, [
      only(await service.admin.get(`/BizEntity?BizEntityID=${other.bizEntityID}`)),
    ])
  })
})
