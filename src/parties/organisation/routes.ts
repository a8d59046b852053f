import { arrayOf, type Endpoint, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import { organisationParameter } from '../investor/identities.ts'
import type { Vault } from '../sealed/vault.ts'
import { createOrganisations, deleteOrganisation, updateOrganisation } from './save.ts'
import {
  Organisation,
  OrganisationInputs,
  OrganisationKey,
  OrganisationQuery,
  OrganisationUpdate,
} from './schema.ts'
import { readOrganisations } from './sql.ts'

export const organisationEndpoints = (vault: Vault): Endpoint[] => [
  reading({
    operation: 'GET /Organisation',
    access: 'Organisation.Read',
    summary:
      'Read one organisation, or list all organisations page by page. Tax numbers are masked.',
    query: OrganisationQuery,
    data: arrayOf(Organisation),
    etag: { by: organisationParameter.fields },
    read: ({ query, actor }, handle) => readOrganisations(handle, actor, query),
  }),
  writing({
    operation: 'POST /Organisation',
    access: 'Organisation.Write',
    summary: 'Create organisations with their persons, addresses and communications.',
    resource: 'Organisation',
    body: OrganisationInputs,
    data: arrayOf(Organisation),
    write: ({ body, pathOf, actor }, tx) => createOrganisations(tx, actor, vault, body, pathOf),
  }),
  writing({
    operation: 'PUT /Organisation',
    access: 'Organisation.Write',
    summary: 'Replace an organisation with its associated persons, addresses and communications.',
    resource: 'Organisation',
    body: OrganisationUpdate,
    data: arrayOf(Organisation),
    write: ({ body, actor }, tx) => updateOrganisation(tx, actor, vault, body),
  }),
  writing({
    operation: 'DELETE /Organisation',
    access: 'Organisation.Write',
    summary: 'Delete an organisation that nothing depends on.',
    description:
      'Refused if the organisation is a corporate trustee, has an active licence, or is linked ' +
      'to an entity. Its addresses, communications and links to persons are deleted too.',
    resource: 'Organisation',
    query: OrganisationKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteOrganisation(tx, actor, query),
  }),
]
