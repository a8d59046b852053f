import { arrayOf, type Endpoint, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import { ApiKey, ApiKeyEnd, ApiKeyInput, ApiKeyQuery, NewApiKey } from './schema.ts'
import { createKey, deleteKey, readKeys } from './sql.ts'

const shared = { access: 'signed-in', resource: 'ApiKey', peopleOnly: true } as const

export const apiKeyEndpoints: Endpoint[] = [
  reading({
    operation: 'GET /ApiKey',
    access: 'signed-in',
    peopleOnly: true,
    summary: 'List your API keys. With User.Read you can also list those of other users.',
    query: ApiKeyQuery,
    data: arrayOf(ApiKey),
    read: ({ query, actor }, handle) => readKeys(handle, actor, query),
  }),
  writing({
    ...shared,
    operation: 'POST /ApiKey',
    summary:
      'Create an API key for a program that acts on your behalf. The key is shown only in this ' +
      'answer.',
    body: ApiKeyInput,
    data: arrayOf(NewApiKey),
    secret: true,
    write: ({ body, actor }, tx) => createKey(tx, actor, body),
  }),
  writing({
    ...shared,
    operation: 'DELETE /ApiKey',
    summary:
      'Revoke one of your API keys. With User.Write you can also revoke those of other users.',
    query: ApiKeyEnd,
    data: nothing,
    write: ({ query, actor }, tx) => deleteKey(tx, actor, query),
  }),
]
