import type { Vault } from '../../parties/sealed/vault.ts'
import { arrayOf, type Endpoint, reading } from '../../platform/http/endpoint.ts'
import { mostFound, SearchQuery, SearchResult } from './schema.ts'
import { search } from './sql.ts'

export const searchEndpoints = (vault: Vault): Endpoint[] => [
  reading({
    operation: 'GET /Search',
    access: 'signed-in',
    summary: 'Find investors, persons, organisations, documents, transactions and distributions.',
    description:
      'Finds investors, persons and organisations by name, e-mail address, phone number, ' +
      'account number, external id or complete tax file number, documents by name or external ' +
      'id, and transactions and distributions by external id. The answer has at most ' +
      `${mostFound} records that the caller may read, best matches first.`,
    query: SearchQuery,
    data: arrayOf(SearchResult),
    read: ({ query, actor }, handle) => search(handle, actor, vault, query),
  }),
]
