import { arrayOf, type Endpoint, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import { ApiKey, ApiKeyEnd, ApiKeyInput, ApiKeyQuery, NewApiKey } from './schema.ts'
import { createKey, deleteKey, readKeys } from './sql.ts'

const shared = { access: 'signed-in', resource: 'ApiKey', peopleOnly: true } as const

export const apiKeyEndpoints: Endpoint[] = [
  reading({
    operation: 'GET /ApiKey',
    access: 'signed-in',
    peopleOnly: true,
    summary: 'Read your API keys, or with User.Read those of others.',
    query: ApiKeyQuery,
    data: arrayOf(ApiKey),
    read: ({ query, actor }, handle) => readKeys(handle, actor, query),
  }),
  writing({
    ...shared,
    operation: 'POST /ApiKey',
    summary: 'Make a key for a program that works for you; it is shown this once.',
    body: ApiKeyInput,
    data: arrayOf(NewApiKey),
    secret: true,
    write: ({ body, actor }, tx) => createKey(tx, actor, body),
  }),
  writing({
    ...shared,
    operation: 'DELETE /ApiKey',
    summary: 'End a key of yours, or with User.Write that of another.',
    query: ApiKeyEnd,
    data: nothing,
    write: ({ query, actor }, tx) => deleteKey(tx, actor, query),
  }),
]
