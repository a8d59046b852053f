import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { entityOf, stateOf, unique } from '../support/investors.ts'
import { newFund, newProduct, only } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let productID: number
before(async () => {
  service = await startService()
  productID = (await newProduct(service)).productID
})
after(() => service.stop())

const post = (body: unknown) => service.admin.post('/Person', body)
const put = (body: unknown) => service.admin.put('/Person', body)
const create = async (more: object = {}) => only(await post({ firstName: 'Ann', ...more }))
const read = async (personID: number) =>
  only(await service.admin.get(`/Person?PersonID=${personID}`))
const years = (count: number, days = 0) => {
  const day = new Date()
  day.setUTCFullYear(day.getUTCFullYear() - count)
  day.setUTCDate(day.getUTCDate() + days)
  return day.toISOString().slice(0, 10)
}

describe('POST /Person', () => {
  it('keeps every field, and masks what is secret', async () => {
    const sent = {
      externalPersonId: unique('P'),
      titleID: 6,
      firstName: 'Zoë',
      middleName: 'M',
      lastName: "O'Neil",
      description: 'd',
      abn: '51824753556',
      birthCountryCode: 'NZ',
      crsfatcaParticipationID: 1,
      customerCode: 'C',
      dateOfBirth: '1980-02-29',
      gender: 'X',
      driversLicenseIssueCountryCode: 'AU',
      driversLicenseNumber: 'D1',
      passportIssueCountryCode: 'NZ',
      passportNumber: 'N1',
      identificationTypeID: 1,
      identificationValue: 'V',
      isDirectorOfCorporateTrustee: true,
      isPEP: true,
      isSophisticatedInvestor: true,
      isTrustee: true,
      pepDescription: 'pep',
      salutation: 'Dear Zoë',
      sharePercentage: 100,
      sophisticatedInvestorCertificateDate: '2026-01-01',
      taxationCountryCode: 'AUS',
      taxationCountryCode2: 'NZ',
      taxationCountryCode3: 'GBR',
      taxationCountryNoTINReason: 'r1',
      taxationCountryNoTINReason2: 'r2',
      taxationCountryNoTINReason3: 'r3',
      tradingName: 'T',
      taxOfficeTypeID: 1,
    }
    const secrets = {
      taxationFileNumber: ['123 456 782', '******782'],
      tin: ['ABCDEF', '***DEF'],
      taxationCountryTIN: ['12', '**'],
      taxationCountryTIN2: ['123', '***'],
      taxationCountryTIN3: ['1234', '*234'],
    }
    const given = Object.fromEntries(Object.entries(secrets).map(([name, [text]]) => [name, text]))
    const person = only(await post({ ...sent, ...given }))
    for (const [field, value] of Object.entries(sent)) assert.deepEqual(person[field], value, field)
    for (const [field, [, mask]] of Object.entries(secrets))
      assert.equal(person[field], mask, field)
    assert.equal(Object.keys(person).length, 46)
    assert.deepEqual(await read(person.personID), person)
  })

  it('shows the numbers of identity papers, which the audit trail blots out', async () => {
    const papers = {
      passportNumber: 'PA1234567',
      driversLicenseNumber: 'DL7654321',
      identificationValue: 'ID-55-44',
    }
    const person = only(await post({ firstName: 'Pat', ...papers }))
    const changed = { ...person, passportNumber: 'PA7777777' }
    assert.equal(only(await put(changed)).passportNumber, 'PA7777777')
    const path = `/Audit?Resource=Person&ResourceID=${person.personID}`
    const { data } = await service.admin.get(path)
    assert.equal((data as object[]).length, 2)
    const told = JSON.stringify(data)
    assert.match(told, /passportNumber/)
    for (const number of [...Object.values(papers), 'PA7777777'])
      assert.ok(!told.includes(number), number)
  })

  it('keeps a text as it is, whatever it would mean to the database', async () => {
    const texts = ['NULL', 'null', 'a"b\\c', '{x,"y"}', '\\', '"', 'a, b', "'; --", '$1', '😀']
    const answer = await post(texts.map((firstName) => ({ firstName, description: firstName })))
    const made = answer.data as { firstName: string; description: string }[]
    assert.deepEqual(
      made.map(({ firstName, description }) => [firstName, description]),
      texts.map((text) => [text, text]),
    )
  })

  it('refuses what breaks a rule of a field, all at once', async () => {
    const reply = await post({
      abn: '1234567890',
      gender: 'm',
      sharePercentage: 101,
      taxationFileNumber: '1234567',
      birthCountryCode: 'XX',
      passportIssueCountryCode: 'AUS',
      titleID: 77,
      customerCode: 'c'.repeat(51),
      dateOfBirth: '2001-02-29',
      isPEP: 'yes',
      addresses: [{ countryCode: 'AU', stateCode: 'ACT', postcode: '2000' }],
      communications: [{ communicationTypeID: 9 }],
    })
    refused(reply, 400)
    assert.deepEqual([...new Set(fieldsOf(reply))].sort(), [
      'abn',
      'addresses[0].postcode',
      'birthCountryCode',
      'communications[0].communicationTypeID',
      'customerCode',
      'dateOfBirth',
      'gender',
      'isPEP',
      'passportIssueCountryCode',
      'sharePercentage',
      'taxationFileNumber',
      'titleID',
    ])
  })

  it('asks for a guardian until the day one is 18', async () => {
    const minor = years(18, 1)
    const guardian = {
      legalGuardianTitleID: 1,
      legalGuardianFirstName: 'G',
      legalGuardianLastName: 'H',
    }
    const reply = await post({ dateOfBirth: minor, legalGuardianFirstName: ' ' })
    refused(reply, 400, 'required')
    assert.deepEqual(fieldsOf(reply).sort(), Object.keys(guardian).sort())
    assert.equal((await post({ dateOfBirth: minor, ...guardian })).status, 200)
    assert.equal((await post({ dateOfBirth: years(18) })).status, 200)
  })

  it('takes an array whole or not at all, and no external id twice', async () => {
    const externalPersonId = unique('P')
    await create({ externalPersonId })
    const before = await stateOf(service)
    const taken = await post([{ firstName: 'A' }, { externalPersonId }])
    refused(taken, 409, 'duplicate')
    assert.deepEqual(fieldsOf(taken), ['[1].externalPersonId'])
    const same = { externalPersonId: unique('P') }
    refused(await post([same, same]), 400, 'given_twice')
    refused(await post([{ firstName: 'A' }, { gender: 'Q' }]), 400)
    refused(await post([]), 400)
    refused(await post(Array.from({ length: 1001 }, () => ({}))), 400)
    assert.equal(await stateOf(service), before)
    const many = await post(Array.from({ length: 1000 }, (_, i) => ({ lastName: `L${i}` })))
    assert.equal(many.recordCount, 1000)
    assert.equal(many.data[999].lastName, 'L999')
  })

  it('of the same external id at the same moment succeeds once', async () => {
    const externalPersonId = unique('P')
    const replies = await Promise.all([1, 2, 3, 4].map(() => post({ externalPersonId })))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409, 409, 409])
  })
})

describe('GET /Person', () => {
  it('reads one by either id, a page of all without, and nobody for an unknown id', async () => {
    const person = await create({ externalPersonId: unique('P') })
    const by = (query: string) => service.admin.get(`/Person?${query}`)
    assert.deepEqual((await by(`ExternalPersonId=${person.externalPersonId}`)).data, [person])
    // The native id wins, whatever stands beside it.
    assert.deepEqual((await by(`PersonID=${person.personID}&ExternalPersonId=x`)).data, [person])
    assert.deepEqual((await by('PersonID=999999')).data, [])
    const page = await by('PageSize=2&PageNumber=2')
    assert.equal(page.recordCount, 2)
    refused(await by('PageNumber=0'), 400)
  })
})

describe('PUT /Person', () => {
  it('replaces the whole record, with its addresses and communications', async () => {
    const person = await create({
      lastName: 'L',
      taxationFileNumber: '12345677',
      addresses: [{ suburb: 'Old' }, { suburb: 'Goes' }],
      communications: [{ communicationTypeID: 2, name: '1' }],
    })
    const [kept] = person.addresses
    const reply = await put({
      personID: person.personID,
      firstName: 'New',
      addresses: [{ addressID: kept.addressID, suburb: 'Changed' }],
    })
    const changed = only(reply)
    assert.ok(reply.message)
    assert.deepEqual(
      [changed.firstName, changed.lastName, changed.taxationFileNumber, changed.communications],
      ['New', null, null, []],
    )
    assert.deepEqual([changed.addresses.length, changed.addresses[0].suburb], [1, 'Changed'])
    assert.equal(changed.addresses[0].addressID, kept.addressID)
    const bare = only(await put({ personID: person.personID }))
    assert.deepEqual([bare.firstName, bare.addresses], [null, []])
  })

  it('finds the record by its native id, which is required', async () => {
    const externalPersonId = unique('P')
    const { personID } = await create({ externalPersonId })
    refused(await put({ externalPersonId, lastName: 'B' }), 400, 'required')
    refused(await put({ lastName: 'B' }), 400, 'required')
    refused(await put({ personID: 999999 }), 404, 'not_found')
    const other = await create({ externalPersonId: unique('P') })
    refused(await put({ personID, externalPersonId: other.externalPersonId }), 409, 'duplicate')
  })

  it('is refused for a person of an entity with transactions, or of its organisation', async () => {
    const fund = await newFund(service, { accounts: 0 })
    const entity = only(
      await service.admin.post(
        '/BizEntity',
        entityOf(fund.productID, {
          bizEntityParties: [
            { person: { firstName: 'Party' } },
            { organisation: { associatedPersons: [{ person: { firstName: 'Director' } }] } },
          ],
        }),
      ),
    )
    const [{ person }, { organisation }] = entity.bizEntityParties
    const director = organisation.associatedPersons[0].person
    for (const one of [person, director]) assert.equal((await put(one)).status, 200)
    const deposit = await service.admin.post('/BizTransaction/Deposit', {
      productID: fund.productID,
      accountID: entity.accounts[0].accountID,
      investmentID: fund.investmentID,
      amount: 1,
      transactionDate: '2026-01-01',
    })
    assert.equal(deposit.status, 200, deposit.text)
    for (const one of [person, director]) refused(await put(one), 409, 'has_transactions')
    // Through the entity it still can be changed.
    const parties = [{ person: { personID: person.personID, firstName: 'Changed' } }]
    only(await service.admin.put('/BizEntity', { ...entity, bizEntityParties: parties }))
    assert.equal((await read(person.personID)).firstName, 'Changed')
  })

  it('is refused for a person of more than one entity', async () => {
    const person = await create({ externalPersonId: unique('P') })
    const entity = entityOf(productID, { bizEntityParties: [{ personID: person.personID }] })
    only(await service.admin.post('/BizEntity', entity))
    assert.equal((await put(person)).status, 200)
    only(await service.admin.post('/BizEntity', entity))
    refused(await put(person), 409, 'in_use')
  })
})

describe('DELETE /Person', () => {
  it('is refused while linked, and removes what the person owns', async () => {
    const remove = (personID: number) => service.admin.delete(`/Person?PersonID=${personID}`)
    const [party, associated, nominee, free] = await Promise.all([1, 2, 3, 4].map(() => create()))
    only(
      await service.admin.post(
        '/BizEntity',
        entityOf(productID, {
          bizEntityParties: [{ personID: party.personID }],
          authorizedNomineePersonID: nominee.personID,
        }),
      ),
    )
    const list = [{ personID: associated.personID }]
    only(await service.admin.post('/Organisation', { associatedPersons: list }))
    for (const one of [party, associated, nominee])
      refused(await remove(one.personID), 409, 'in_use')
    const address = only(await service.admin.post('/Address', { personID: free.personID }))
    assert.equal((await remove(free.personID)).status, 200)
    refused(await service.admin.get(`/Address?AddressID=${address.addressID}`), 404)
    refused(await remove(free.personID), 404, 'not_found')
    refused(await service.admin.delete('/Person'), 400, 'required')
  })
})
