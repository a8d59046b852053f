import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { errorsOf, imported, importFor } from '../support/imports.ts'
import { entityOf, unique } from '../support/investors.ts'
import { newFund, only } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

const env = { REGISTRY_DATA_DIR: temporaryFolder() }
let service: Service
let productID: number
let stop: () => Promise<void>
before(async () => {
  service = await startService(env)
  ;({ productID } = await newFund(service))
  stop = await importFor(service, env)
})
after(async () => {
  await stop()
  await service.stop()
})

type Row = Record<string, unknown>

/** Investors who share a person and a company; each row has other data about the two. */
function rowsFor(person: string, company: string): Row[] {
  const mail = (name: string) => [{ communicationTypeID: 1, name: `${name}@${person}.example` }]
  const row = (more: object) => entityOf(productID, { externalBizEntityId: unique('E'), ...more })
  const of = (...bizEntityParties: object[]) => row({ bizEntityParties })
  const known = { externalPersonId: person }
  const firm = { externalOrganisationId: company }
  return [
    of({ person: { ...known, firstName: 'Ann', lastName: 'Lee', communications: mail('old') } }),
    of({ person: { ...known, lastName: 'Leigh', communications: mail('new') } }),
    of(known),
    of({
      organisation: {
        ...firm,
        name: 'A',
        associatedPersons: [{ ...known, relationshipTypeID: 1 }],
      },
    }),
    of({ organisation: { ...firm, name: 'B' } }, { person: { ...known, firstName: 'Anna' } }),
    of(firm),
  ]
}

const seen = async (person: string, company: string) => {
  const found = only(await service.admin.get(`/Person?ExternalPersonId=${person}`))
  const firm = only(await service.admin.get(`/Organisation?ExternalOrganisationId=${company}`))
  const mails = found.communications.map(({ name }: { name: string }) => name.split('@')[0])
  return [found.firstName, found.lastName, mails, firm.name, firm.associatedPersons.length]
}

/** Investors whose rows name a person and a company by their ids or by their external ids. */
async function rowsByEither(person: string, company: string): Promise<Row[]> {
  const row = (...bizEntityParties: object[]) =>
    entityOf(productID, { externalBizEntityId: unique('E'), bizEntityParties })
  const [known, firm] = [{ externalPersonId: person }, { externalOrganisationId: company }]
  const organisation = { ...firm, name: 'First', associatedPersons: [] }
  const { bizEntityParties } = only(
    await service.admin.post(
      '/BizEntity',
      row({ person: { ...known, firstName: 'Ann', lastName: 'Lee' } }, { organisation }),
    ),
  )
  const [{ personID }, { organisationID }] = bizEntityParties
  const mail = [{ communicationTypeID: 1, name: `new@${person}.example` }]
  return [
    row({ person: { personID, lastName: 'Leigh' } }, { organisation: { ...firm, name: 'Second' } }),
    row({ person: { ...known, lastName: 'Li', communications: mail } }),
    row({ organisation: { organisationID, name: 'Third', associatedPersons: [{ personID }] } }),
    row({ organisation: { ...firm, name: 'Fourth' } }, { person: { personID, firstName: 'Anna' } }),
    // A row may give the person another external id, by which a later row names it.
    row({ person: { personID, externalPersonId: `${person}-new`, firstName: 'Anne' } }),
    row({ person: { externalPersonId: `${person}-new`, lastName: 'Last' } }),
    row({ person: { personID, externalPersonId: person, firstName: 'Anna' } }),
  ]
}

const namesOf = () => [unique('P'), unique('O')] as const

describe('Rows that have a person in common', () => {
  it('become what requests of the same become, whatever else is in the file', async () => {
    for (const [rowsOf, names] of [
      [rowsFor, ['Anna', 'Leigh']],
      [rowsByEither, ['Anna', 'Last']],
    ] as const) {
      const posted = namesOf()
      for (const row of await rowsOf(...posted)) only(await service.admin.post('/BizEntity', row))
      const expected = await seen(...posted)
      assert.deepEqual(expected.slice(0, 2), names)
      const bad = entityOf(999_999)
      for (const [mode, more] of [
        ['atomic', []],
        ['continue', []],
        ['continue', [bad]],
      ] as const) {
        const names = namesOf()
        const own = await rowsOf(...names)
        const text = [...own, ...more].map((row) => `${JSON.stringify(row)}\n`).join('')
        const terms = { type: 'Investors', mode }
        const end = await imported(service.admin, terms, text, 'rows.jsonl')
        const refused = end.rowsRefused > 0 ? String(await errorsOf(service.admin, end)) : ''
        const counts = [end.rowsAccepted, end.rowsRefused]
        assert.deepEqual(counts, [own.length, more.length], refused)
        assert.deepEqual(await seen(...names), expected)
      }
    }
  })
})
