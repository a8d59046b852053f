import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { entityOf, unique } from '../support/investors.ts'
import { newInvestment, newProduct, only } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let productID: number
before(async () => {
  service = await startService()
  productID = (await newProduct(service)).productID
})
after(() => service.stop())

const post = async (path: string, body: object) => only(await service.admin.post(path, body))
const email = () => `${unique('e')}@example.com`

describe('Blanks around a value', () => {
  it('mean nothing: external ids and contacts are trimmed, an empty one is none', async () => {
    const external = unique('P')
    const name = email()
    const person = await post('/Person', {
      externalPersonId: `  ${external} `,
      communications: [{ communicationTypeID: 1, name: ` ${name} `, externalCommunicationId: ' ' }],
    })
    assert.equal(person.externalPersonId, external)
    const [communication] = person.communications
    assert.deepEqual([communication.name, communication.externalCommunicationId], [name, null])
    const again = { communications: [{ communicationTypeID: 1, name: `${name.toUpperCase()} ` }] }
    refused(await service.admin.post('/Person', again), 409, 'duplicate_email')
    refused(await service.admin.post('/Person', { externalPersonId: `${external} ` }), 409)
    assert.equal((await post('/Person', { externalPersonId: '' })).externalPersonId, null)
  })

  it('mean nothing around the number of an account, given or sought', async () => {
    const number = unique('N')
    const numbered = (accountNumber: string) =>
      entityOf(productID, { accounts: [{ productID, accountNumber }] })
    const { accounts, bizEntityID } = await post('/BizEntity', numbered(` ${number} `))
    assert.equal(accounts[0].accountNumber, number)
    refused(await service.admin.post('/BizEntity', numbered(number)), 409)
    const [one] = (await post('/BizEntity', numbered('  '))).accounts
    assert.match(one.accountNumber, /^\S+$/, 'none is given, and so it gets one')
    for (const asked of ['AccountNumber', 'AccountNumber.in', 'AccountNumber.beginsWith']) {
      const { data } = await service.admin.get(`/BizEntity?${asked}=%20${number}%20`)
      assert.deepEqual(
        data.map((found: { bizEntityID: number }) => found.bizEntityID),
        [bizEntityID],
      )
    }
    // A blank is no number to seek, and not the wish to see them all.
    refused(await service.admin.get('/BizEntity?AccountNumber=%20'), 400)
  })
})

describe('A name', () => {
  const unseen = ['\u200b', '\u00a0\u2060\ufeff', '\u3164', '\u2800', '\u00ad \u200e']

  it('of nothing that can be seen is empty: of investors, products, keys, issuers', async () => {
    const { admin } = service
    for (const name of unseen) {
      for (const [path, body, field] of [
        ['/BizEntity', entityOf(productID, { name }), 'name'],
        ['/Product', { name }, 'name'],
        ['/Product', { name: 'Fund', issuer: { name } }, 'issuer.name'],
        ['/ApiKey', { name, permissions: [] }, 'name'],
        ['/Approval/Reject', { approvalID: 1, reason: name }, 'reason'],
      ] as const) {
        const reply = await admin.post(path, body)
        refused(reply, 400, 'invalid_value')
        assert.deepEqual([fieldsOf(reply), reply.message], [[field], `${field} must not be empty.`])
      }
      const { externalPersonId } = await post('/Person', { externalPersonId: name })
      assert.equal(externalPersonId, null, 'an external id of nothing is none')
    }
    refused(await admin.get(`/Search?Text=${encodeURIComponent('\u200b\u200b')}`), 400, 'required')
  })

  it('stays as it is sent where something in it can be seen', async () => {
    for (const name of ['\u200bAnn', '\u{1f469}\u200d\u{1f4bb}', '\u0634\u200c\u0645', '\u00b7'])
      assert.equal((await post('/BizEntity', entityOf(productID, { name }))).name, name)
  })
})

describe('A communication of type Email', () => {
  it('is an address: one @, no blanks, at most 254 characters', async () => {
    for (const name of ['ann', 'a@b@c', 'a b@c.d', '@b', 'a@', `${'a'.repeat(250)}@b.cd`]) {
      const reply = await service.admin.post('/Person', {
        communications: [{ communicationTypeID: 1, name }],
      })
      refused(reply, 400, 'invalid_value')
      assert.deepEqual(fieldsOf(reply), ['communications[0].name'])
    }
    await post('/Person', { communications: [{ communicationTypeID: 2, name: 'not an address' }] })
  })
})

describe('Codes of states and countries', () => {
  it('come in any letter case and are kept in capitals', async () => {
    const { addresses, birthCountryCode } = await post('/Person', {
      birthCountryCode: 'aus',
      addresses: [{ countryCode: 'au', stateCode: 'nsw', postcode: '2000' }],
    })
    assert.equal(birthCountryCode, 'AUS')
    assert.deepEqual([addresses[0].countryCode, addresses[0].stateCode], ['AU', 'NSW'])
  })
})

describe('A security code', () => {
  it('is unique in its product regardless of case', async () => {
    const code = unique('sc')
    const { investmentID } = await newInvestment(service, productID, { securityCode: code })
    const other = { productID, securityCode: code.toUpperCase() }
    refused(await service.admin.post('/Investment', other), 409, 'duplicate')
    const { data } = await service.admin.get(`/Investment?InvestmentID=${investmentID}`)
    const renamed = { ...data[0], securityCode: code.toUpperCase() }
    assert.equal(
      only(await service.admin.put('/Investment', renamed)).securityCode,
      other.securityCode,
    )
  })

  it('alone deletes no investment, and the answer says what would', async () => {
    const reply = await service.admin.delete(`/Investment?SecurityCode=X&ProductID=${productID}`)
    refused(reply, 400)
    assert.equal(reply.message, 'Either InvestmentID or ExternalInvestmentId must be provided!')
  })
})

describe('A guardian', () => {
  it('is asked of the person as stored, not of the fragment that a request brings', async () => {
    const externalPersonId = unique('P')
    const guardian = {
      legalGuardianTitleID: 1,
      legalGuardianFirstName: 'Gil',
      legalGuardianLastName: 'Dean',
    }
    const child = { externalPersonId, dateOfBirth: '2020-01-01' }
    await post('/Person', { ...child, ...guardian })
    const entity = (person: object) => entityOf(productID, { bizEntityParties: [{ person }] })
    await post('/BizEntity', entity({ ...child, firstName: 'Kim' }))
    const adult = unique('P')
    await post('/Person', { externalPersonId: adult, firstName: 'Al' })
    const reply = await service.admin.post(
      '/BizEntity',
      entity({ externalPersonId: adult, dateOfBirth: '2020-01-01', legalGuardianFirstName: ' ' }),
    )
    refused(reply, 400, 'required')
    assert.equal(fieldsOf(reply)[0], 'bizEntityParties[0].person.legalGuardianTitleID')
  })
})

describe('Check digits', () => {
  it('of numbers that fit are not mentioned; exemption codes are no numbers', async () => {
    for (const taxationFileNumber of ['123456782', '876 543 210', '37118629', '333333333']) {
      const reply = await service.admin.post('/Person', { taxationFileNumber, abn: '51824753556' })
      assert.equal(reply.message, null, taxationFileNumber)
    }
    const { message } = await service.admin.post('/Organisation', { acn: '004085616' })
    assert.equal(message, null)
  })

  it('that are wrong are told, and the number is stored', async () => {
    const body = { taxationFileNumber: '123456789', abn: '51824753557' }
    const reply = await service.admin.post('/Person', [{}, body])
    assert.match(String(reply.message), /\[1\]\.taxationFileNumber, \[1\]\.abn/)
    assert.doesNotMatch(String(reply.message), /123456789/)
    assert.equal(reply.data[1].taxationFileNumber, '******789')
    const { personID } = reply.data[1]
    const put = await service.admin.put('/Person', { personID, taxationFileNumber: '12345679' })
    assert.match(String(put.message), /taxationFileNumber/)
  })

  it('of nothing but zeros are refused, and so are branches that cannot be', async () => {
    const refusals: [string, object][] = [
      ['/Person', { taxationFileNumber: '000000000' }],
      ['/Person', { abn: '00000000000' }],
      ['/Organisation', { acn: '000000000' }],
    ]
    for (const [path, body] of refusals) refused(await service.admin.post(path, body), 400)
    const { bizEntityID } = await post('/BizEntity', entityOf(productID))
    for (const bsb of ['000-000', '999999'])
      refused(await service.admin.post('/PaymentDetail', { bizEntityID, bsb }), 400)
    for (const accountNumber of ['12/34', '１２３', 'a;b'])
      refused(await service.admin.post('/PaymentDetail', { bizEntityID, accountNumber }), 400)
    refused(await service.admin.post('/Person', { dateOfBirth: '2999-01-01' }), 400)
  })
})

describe('Bank numbers', () => {
  it('are masked without PaymentDetail.Read; a mask sent back changes nothing', async () => {
    const entity = await post(
      '/BizEntity',
      entityOf(productID, { paymentDetails: [{ bsb: '062-000', accountNumber: '12-345678' }] }),
    )
    const editor = await service.userWith({ permissions: ['BizEntity.Read', 'BizEntity.Write'] })
    const path = `/BizEntity?BizEntityID=${entity.bizEntityID}`
    const seen = (await editor.get(path)).data[0]
    assert.equal(seen.paymentDetails[0].accountNumber, '******678')
    const put = await editor.put('/BizEntity', { ...seen, name: 'Renamed' })
    assert.equal(put.data[0].paymentDetails[0].accountNumber, '******678', put.text)
    const kept = (await service.admin.get(path)).data[0].paymentDetails[0]
    assert.equal(kept.accountNumber, '12-345678')
    seen.paymentDetails[0].accountNumber = '*****1678'
    refused(await editor.put('/BizEntity', seen), 400, 'masked_value')
    const { data } = await service.admin.get(`/PaymentDetail?BizEntityID=${entity.bizEntityID}`)
    assert.deepEqual(
      data.map((one: { accountNumber: string }) => one.accountNumber),
      ['12-345678'],
    )
  })
})

describe('An account', () => {
  it('shows its balance in its own currency, and every currency beside', async () => {
    const fund = await newProduct(service)
    const aud = await newInvestment(service, fund.productID)
    const jpy = await newInvestment(service, fund.productID, { currencyID: 8 })
    const entity = await post('/BizEntity', entityOf(fund.productID))
    const { accountID } = entity.accounts[0]
    const deposit = (investmentID: number, amount: number) =>
      post('/BizTransaction/Deposit', {
        accountID,
        investmentID,
        amount,
        transactionDate: '2026-01-01',
        investmentPrice: 1,
      })
    await deposit(aud.investmentID, 100)
    await deposit(jpy.investmentID, 100000)
    const path = `/BizEntity?BizEntityID=${entity.bizEntityID}`
    const [account] = (await service.admin.get(path)).data[0].accounts
    assert.equal(account.balance, 100)
    assert.deepEqual(account.balances, [
      { currencyID: 1, amount: 100 },
      { currencyID: 8, amount: 100000 },
    ])
  })

  it('is not closed with units left, by its own status or its entity’s', async () => {
    const fund = await newProduct(service)
    const { investmentID, securityCode } = await newInvestment(service, fund.productID)
    const entity = await post('/BizEntity', entityOf(fund.productID))
    const [account] = entity.accounts
    const { accountID } = account
    const post100 = { accountID, investmentID, transactionDate: '2026-01-01', investmentPrice: 1 }
    await post('/BizTransaction/Deposit', { ...post100, amount: 100 })
    const put = (more: object) => service.admin.put('/BizEntity', { ...entity, ...more })
    const own = await put({ accounts: [{ ...account, accountStatusID: 3 }] })
    refused(own, 409, 'has_units')
    assert.deepEqual(fieldsOf(own), ['accounts[0].accountStatusID'])
    assert.match(String(own.message), new RegExp(`100 units of ${securityCode}`))
    refused(await put({ bizEntityStatusID: 4 }), 409, 'has_units')
    await post('/BizTransaction/Redemption', { ...post100, quantity: 100 })
    assert.equal((await put({ bizEntityStatusID: 4 })).status, 200)
    const closed = only(await put({ accounts: [{ ...account, accountStatusID: 3 }] }))
    assert.equal(closed.accounts[0].accountStatusID, 3)
  })
})

describe('Values exchanged inside one request', () => {
  it('are judged by the final state: e-mails, external ids, account numbers', async () => {
    const [one, two] = [email(), email()]
    const contact = (name: string) => ({ communicationTypeID: 1, name })
    const entity = await post(
      '/BizEntity',
      entityOf(productID, {
        accounts: [
          { productID, externalAccountId: unique('A') },
          { productID, externalAccountId: unique('A') },
        ],
        communications: [contact(one), contact(two)],
        bizEntityParties: [
          { person: { externalPersonId: unique('P') } },
          { person: { externalPersonId: unique('P') } },
        ],
      }),
    )
    const swap = (a: Record<string, unknown>, b: Record<string, unknown>, field: string) => {
      const kept = a[field]
      a[field] = b[field]
      b[field] = kept
    }
    swap(entity.communications[0], entity.communications[1], 'name')
    swap(entity.accounts[0], entity.accounts[1], 'externalAccountId')
    swap(entity.accounts[0], entity.accounts[1], 'accountNumber')
    const [first, second] = entity.bizEntityParties
    for (const party of [first, second])
      for (const id of ['personID', 'externalPersonId']) delete party[id]
    swap(first.person, second.person, 'externalPersonId')
    const reply = await service.admin.put('/BizEntity', entity)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(
      reply.data[0].communications.map(({ name }: { name: string }) => name),
      [two, one],
    )
    assert.equal(reply.data[0].accounts[0].accountNumber, entity.accounts[0].accountNumber)
  })
})

describe('A list of records', () => {
  it('is refused at the item that is at fault', async () => {
    const taken = email()
    await post('/Person', { communications: [{ communicationTypeID: 1, name: taken }] })
    const investor = (name: string) =>
      entityOf(productID, { communications: [{ communicationTypeID: 1, name }] })
    const list = [investor(email()), investor(email()), investor(taken.toUpperCase())]
    const reply = await service.admin.post('/BizEntity', list)
    refused(reply, 409, 'duplicate_email')
    assert.deepEqual(fieldsOf(reply), ['[2].communications[0].name'])
    const number = unique('N')
    const accounts = [{ productID, accountNumber: number }]
    const twice = [entityOf(productID, { accounts }), entityOf(productID, { accounts })]
    const second = await service.admin.post('/BizEntity', twice)
    refused(second, 409, 'duplicate')
    assert.deepEqual(fieldsOf(second), ['[1].accounts[0].accountNumber'])
    const external = unique('E')
    await post('/BizEntity', entityOf(productID, { externalBizEntityId: external }))
    const third = [entityOf(productID), entityOf(productID, { externalBizEntityId: external })]
    const known = await service.admin.post('/BizEntity', third)
    refused(known, 409, 'duplicate')
    assert.deepEqual(fieldsOf(known), ['[1].externalBizEntityId'])
  })
})
