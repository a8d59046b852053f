import { arrayOf, type Endpoint, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import { personParameter } from '../investor/identities.ts'
import type { Vault } from '../sealed/vault.ts'
import { createPersons, deletePerson, updatePerson } from './save.ts'
import { Person, PersonInputs, PersonKey, PersonQuery, PersonReplacement } from './schema.ts'
import { readPersons } from './sql.ts'

export const personEndpoints = (vault: Vault): Endpoint[] => [
  reading({
    operation: 'GET /Person',
    access: 'Person.Read',
    summary: 'Read one person, or list all persons page by page. Tax numbers are masked.',
    query: PersonQuery,
    data: arrayOf(Person),
    etag: { by: personParameter.fields },
    read: ({ query, actor }, handle) => readPersons(handle, actor, query),
  }),
  writing({
    operation: 'POST /Person',
    access: 'Person.Write',
    summary: 'Create persons with their addresses and communications.',
    resource: 'Person',
    body: PersonInputs,
    data: arrayOf(Person),
    write: ({ body, pathOf, actor }, tx) => createPersons(tx, actor, vault, body, pathOf),
  }),
  writing({
    operation: 'PUT /Person',
    access: 'Person.Write',
    summary: 'Replace a person, with all their addresses and communications.',
    description:
      'A masked tax number that is sent back leaves the stored number unchanged. Refused for a ' +
      'person who belongs to an entity with transactions, or to several entities: change such a ' +
      'person with PUT /BizEntity.',
    resource: 'Person',
    body: PersonReplacement,
    data: arrayOf(Person),
    write: ({ body, actor }, tx) => updatePerson(tx, actor, vault, body),
  }),
  writing({
    operation: 'DELETE /Person',
    access: 'Person.Write',
    summary: 'Delete a person who is not linked to any entity or organisation.',
    resource: 'Person',
    query: PersonKey,
    data: nothing,
    write: ({ query, actor }, tx) => deletePerson(tx, actor, query),
  }),
]
