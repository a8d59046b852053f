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
      'By name, e-mail, phone, account number, external id or whole tax file number; ' +
      'documents by name or external id, transactions and distributions by external id. ' +
      `The best first, at most ${mostFound}, of what the caller may read.`,
    query: SearchQuery,
    data: arrayOf(SearchResult),
    read: ({ query, actor }, handle) => search(handle, actor, vault, query),
  }),
]
