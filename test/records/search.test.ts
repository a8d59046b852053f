import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { folded } from '../../src/records/search/folded.ts'
import type { Client } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { entityOf, unique } from '../support/investors.ts'
import { all, newFund, newProduct, only, poster } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let productID: number
before(async () => {
  service = await startService()
  productID = (await newProduct(service)).productID
})
after(() => service.stop())

type Found = { resource: string; id: number; title: string; subtitle: string; score: number }
const search = async (text: string, client: Client = service.admin): Promise<Found[]> => {
  const reply = await client.get(`/Search?Text=${encodeURIComponent(text)}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.data
}
const names = (found: Found[]) => found.map(({ resource, id }) => `${resource} ${id}`)

const startsWith = (word: string) => (text: string) => text.startsWith(`${word} `)

describe('GET /Search', () => {
  it('finds an investor by name, contact, account number and external ids', async () => {
    const word = unique('zebra').replaceAll('-', '')
    const entity = only(
      await service.admin.post(
        '/BizEntity',
        entityOf(productID, {
          name: `The ${word} Trust`,
          externalBizEntityId: unique('Ent'),
          accounts: [{ productID, accountNumber: `N${word}`, externalAccountId: unique('Acc') }],
          communications: [{ communicationTypeID: 1, name: `${word}@mail.example` }],
          bizEntityParties: [
            {
              person: {
                firstName: 'Zoe',
                lastName: `Q${word}`,
                externalPersonId: unique('Per'),
                communications: [{ communicationTypeID: 2, name: `04 ${word}` }],
              },
            },
            { organisation: { name: `${word} Pty Ltd`, externalOrganisationId: unique('Org') } },
          ],
        }),
      ),
    )
    const [person, organisation] = entity.bizEntityParties
    const investor = `BizEntity ${entity.bizEntityID}`
    for (const text of [
      `${word} trust`,
      `n${word}`.toUpperCase(),
      `${word}@mail.ex`,
      entity.externalBizEntityId,
      entity.accounts[0].externalAccountId,
    ])
      assert.deepEqual(names(await search(text)), [investor], text)
    for (const text of [`zoe q${word}`, `04 ${word}`, person.externalPersonId])
      assert.deepEqual(names(await search(text)), [`Person ${person.personID}`], text)
    const ids = names(await search(word))
    assert.ok(ids.includes(`Organisation ${organisation.organisationID}`))
    assert.equal(ids.length, 3)
    const [first] = await search(`The ${word} Trust`)
    assert.deepEqual(
      [first!.title, first!.subtitle, first!.score],
      [entity.name, entity.accounts[0].accountNumber, 1],
    )
  })

  it('finds a name without its accents, and one that has none by one with', async () => {
    const word = unique('q').replaceAll('-', '')
    const made = async (name: string, firstName: string) =>
      only(
        await service.admin.post(
          '/BizEntity',
          entityOf(productID, {
            name,
            bizEntityParties: [
              { person: { firstName, lastName: word } },
              { organisation: { name: `${name} Pty` } },
            ],
          }),
        ),
      )
    const accented = await made(`M\u00fcller ${word} S\u00f8nner \u0141\u00f3d\u017a`, 'Jose\u0301')
    const bare = await made(`Muller ${word} Sonner Lodz`, 'Jose')
    // Of each kind of record the one whose letters are those that were asked for is first.
    for (const [text, first, second] of [
      [`Muller ${word} Sonner Lodz`, bare, accented],
      [`M\u00dcLLER ${word} s\u00f8nner \u0142`, accented, bare],
      [`ller ${word} sonner l`, bare, accented],
    ] as const) {
      const found = names(await search(text))
      const investors = [first, second].map(({ bizEntityID }) => `BizEntity ${bizEntityID}`)
      assert.deepEqual(found.filter(startsWith('BizEntity')), investors, text)
      const organisations = [first, second].map(
        ({ bizEntityParties }) => `Organisation ${bizEntityParties[1].organisationID}`,
      )
      assert.deepEqual(found.filter(startsWith('Organisation')), organisations, text)
    }
    const persons = [bare, accented].map(
      ({ bizEntityParties }) => `Person ${bizEntityParties[0].personID}`,
    )
    assert.deepEqual(names(await search(`jose ${word}`)), persons)
    // One letter with its accent, where the name has two: neither is just that.
    assert.deepEqual(names(await search(`jos\u00e9 ${word}`)), persons.toReversed())
    const scores = (await search(`muller ${word} sonner lodz`)).map(({ score }) => score)
    assert.deepEqual(scores, [1, 0.95, 0.9, 0.85])
  })

  it('finds a name with either apostrophe by who types the other', async () => {
    const word = unique('q').replaceAll('-', '')
    const signs = ["'", '\u2019']
    const made: { bizEntityID: number; bizEntityParties: [{ personID: number }] }[] = []
    for (const sign of signs) {
      const name = `Sin\u00e9ad O${sign}Brien ${word}`
      const party = { person: { firstName: `D${sign}Arcy`, lastName: word } }
      const entity = entityOf(productID, { name, bizEntityParties: [party] })
      made.push(only(await service.admin.post('/BizEntity', entity)))
    }
    for (const [i, sign] of [...signs, '\u2018', '\u02bc'].entries()) {
      const investors = names(await search(`sinead o${sign}brien ${word}`))
      const ids = made.map(({ bizEntityID }) => `BizEntity ${bizEntityID}`)
      assert.deepEqual(investors.toSorted(), ids.toSorted(), sign)
      const persons = names(await search(`D${sign}Arcy ${word}`))
      const own = made.map(({ bizEntityParties: [one] }) => `Person ${one.personID}`)
      assert.deepEqual(persons.toSorted(), own.toSorted(), sign)
      if (i < signs.length) assert.equal(persons[0], own[i], 'as it was typed comes first')
    }
  })

  it('finds nobody by accents alone, and folds as the database does', async () => {
    for (const text of ['\u0301\u0301', '\u00b4\u00b4', 'a\u0301'])
      assert.deepEqual(await search(text), [], text)
    const letters =
      '\u00e9\u00fc\u0142\u00f8\u0111\u00f0\u0127\u0131\u00df\u00e6\u0153\ufb01\u0439\u4e2d'
    const [row] = await rowsOf(service.connection, 'select folded($1) as text', [letters])
    assert.equal(folded(letters), row!.text)
    assert.equal(row!.text, 'euloddhissaeoefi\u0438\u4e2d')
  })

  it('finds a phone however it is spaced, an Australian one with 0 or +61', async () => {
    const nine = String(400_000_000 + Math.floor(Math.random() * 99_999_999))
    const [a, b, c] = [nine.slice(0, 3), nine.slice(3, 6), nine.slice(6)]
    const abroad = `44 20 ${b} ${c} 7`
    const phone = (name: string) => [{ communicationTypeID: 2, name }]
    const entity = only(
      await service.admin.post(
        '/BizEntity',
        entityOf(productID, {
          communications: phone(`+61 ${a} ${b} ${c}`),
          bizEntityParties: [
            { person: { firstName: 'Al', communications: phone(`(0${a}) ${b}-${c}`) } },
            { organisation: { name: 'Al Ltd', communications: phone(`+${abroad}`) } },
          ],
        }),
      ),
    )
    const [{ personID }, { organisationID }] = entity.bizEntityParties
    const both = [`BizEntity ${entity.bizEntityID}`, `Person ${personID}`]
    for (const text of [`61${nine}`, `0${nine}`, `+61 (0)${a} ${b}${c}`, `0${a}-${b}-${c}`])
      assert.deepEqual(names(await search(text)).sort(), both, text)
    const found = names(await search(`+${abroad.replaceAll(' ', '')}`))
    assert.deepEqual(found, [`Organisation ${organisationID}`])
    const elsewhere = { role: 'Operator', productIDs: [(await newProduct(service)).productID] }
    assert.deepEqual(await search(`0${nine}`, await service.userWith(elsewhere)), [])
  })

  it('puts what is asked for exactly before what begins so, and that before the rest', async () => {
    const word = unique('yak').replaceAll('-', '')
    for (const lastName of [`x${word}`, `${word}son`, word])
      only(await service.admin.post('/Organisation', { name: lastName }))
    const found = await search(word)
    assert.deepEqual(
      found.map(({ title }) => title),
      [word, `${word}son`, `x${word}`],
    )
    // More begin with the number than are ranked; the account that has it is first all the same.
    const accounts = [...Array.from({ length: 250 }, (_, n) => `${word}1${n}`), `${word}1`]
    const input = (accountNumber: string) =>
      entityOf(productID, { accounts: [{ productID, accountNumber }] })
    const made = all(await service.admin.post('/BizEntity', accounts.map(input)))
    const [exact] = await search(`${word}1`)
    assert.deepEqual([exact!.id, exact!.score], [made.at(-1).bizEntityID, 1])
    const begun = names(await search(word.slice(0, 2)))
    assert.ok(begun.length >= 2 && begun.length <= 50)
  })

  it('finds transactions and distributions by their external ids', async () => {
    const fund = await newFund(service, {})
    const external = unique('TX')
    const posted = only(
      await poster(() => service.admin)('Deposit', {
        accountID: fund.accountID,
        investmentID: fund.investmentID,
        transactionDate: '2026-01-01',
        amount: 10,
        externalBizTransactionId: external,
      }),
    )
    assert.deepEqual(names(await search(external)), [`BizTransaction ${posted.bizTransactionID}`])
  })

  it('finds a document by name and external id, where the caller sees what it is of', async () => {
    const word = unique('quokka').replaceAll('-', '')
    const other = await newProduct(service)
    const paper = { documentTypeID: 1, name: `Deed of the ${word}`, productID: other.productID }
    const externalDocumentId = unique('Doc')
    const made = await service.admin.post('/Document', { ...paper, externalDocumentId })
    const found = [`Document ${[made.data].flat()[0].documentID}`]
    assert.deepEqual(names(await search(word.slice(1))), found)
    assert.deepEqual(names(await search('deed of the')), found)
    assert.deepEqual(names(await search(externalDocumentId)), found)
    const here = await service.userWith({ role: 'ReadOnly', productIDs: [productID] })
    assert.deepEqual(await search(word, here), [])
  })

  it('finds the holder of a tax file number, given whole, and by nothing less', async () => {
    const taxationFileNumber = '876543210'
    const person = only(
      await service.admin.post('/Person', { firstName: 'T', lastName: 'N', taxationFileNumber }),
    )
    const organisation = only(
      await service.admin.post('/Organisation', { name: 'TN', taxationFileNumber }),
    )
    const both = [`Organisation ${organisation.organisationID}`, `Person ${person.personID}`]
    for (const text of ['876543210', '876 543 210', '876-543-210'])
      assert.deepEqual(names(await search(text)).sort(), both, text)
    for (const text of ['87654321', '******210', '76543210'])
      assert.deepEqual(await search(text), [], text)
    const { personID } = person
    const replaced = { personID, firstName: 'T', lastName: 'N', taxationFileNumber: '******210' }
    assert.equal((await service.admin.put('/Person', replaced)).status, 200)
    assert.deepEqual(names(await search('876543210')).sort(), both)
    const cleared = { ...replaced, taxationFileNumber: null }
    assert.equal((await service.admin.put('/Person', cleared)).status, 200)
    assert.deepEqual(names(await search('876543210')), [both[0]])
  })

  it('finds tax file numbers from before there were digests, after the next start', async () => {
    const { personID } = only(
      await service.admin.post('/Person', { firstName: 'T', taxationFileNumber: '87654321' }),
    )
    const count = async () => {
      const rows = await rowsOf(
        service.connection,
        'select from person where person_id = $1 and taxation_file_number_digest is not null',
        [personID],
      )
      return rows.length
    }
    assert.equal(await count(), 1)
    await rowsOf(
      service.connection,
      `update person set taxation_file_number_digest = null, taxation_file_number_doubt = null`,
    )
    assert.deepEqual(await search('87654321'), [])
    const next = await startService({}, service.connection)
    await until('the digest is made', async () => (await count()) === 1)
    assert.deepEqual(names(await search('87654321')), [`Person ${personID}`])
    await next.stop()
  })

  it('finds nobody by a code in the place of a number, which is an exemption', async () => {
    const person = { firstName: 'Pia', taxationFileNumber: '444444444', taxationCountryCode: 'AU' }
    const bizEntityParties = [{ person }]
    const entity = only(
      await service.admin.post('/BizEntity', entityOf(productID, { bizEntityParties })),
    )
    const path = `/BizEntity/Account/TaxStanding?AccountID=${entity.accounts[0].accountID}`
    const standing = async () => {
      const { rule, parties } = only(await service.admin.get(path))
      return [rule, parties[0].isQuoted, parties[0].quotedBy]
    }
    assert.deepEqual(await standing(), ['None', true, 'Exemption'])
    assert.deepEqual(await search('444 444 444'), [])
    const { personID } = entity.bizEntityParties[0].person
    // As a register of before has it, once it is migrated.
    await rowsOf(
      service.connection,
      `update person set taxation_file_number_digest = 'of before',
         taxation_file_number_doubt = null where person_id = $1`,
      [personID],
    )
    assert.deepEqual(await standing(), ['None', true, 'TaxFileNumber'])
    const next = await startService({}, service.connection)
    await until('it is looked at', async () => (await standing())[2] === 'Exemption')
    await next.stop()
  })

  it('gives what the caller may read, and nothing of other products', async () => {
    const word = unique('gnu').replaceAll('-', '')
    const { bizEntityID } = only(
      await service.admin.post('/BizEntity', entityOf(productID, { name: word })),
    )
    const other = (await newProduct(service)).productID
    const stranger = await service.userWith({ role: 'ReadOnly', productIDs: [other] })
    assert.deepEqual(await search(word, stranger), [])
    const own = await service.userWith({ role: 'ReadOnly', productIDs: [productID] })
    assert.deepEqual(names(await search(word, own)), [`BizEntity ${bizEntityID}`])
    const clerk = await service.userWith({ permissions: ['Product.Read'] })
    assert.deepEqual(await search(word, clerk), [])
    const { anyone } = service
    refused(await anyone.get('/Search?Text=abc'), 401)
    refused(await service.admin.get('/Search?Text=a'), 400)
    refused(await service.admin.get('/Search'), 400)
    assert.deepEqual(await search('100%_x'), [])
  })
})
