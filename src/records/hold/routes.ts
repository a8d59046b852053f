import { arrayOf, type Endpoint, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import { createHold, deleteHold, updateHold } from './save.ts'
import { Hold, HoldInput, HoldKey, HoldQuery, HoldUpdate } from './schema.ts'
import { readHolds } from './sql.ts'

const shared = { access: 'Hold.Write', resource: 'Hold' } as const

export const holdEndpoints: Endpoint[] = [
  reading({
    operation: 'GET /Hold',
    access: 'Hold.Read',
    summary: 'Read one hold, or list all holds or those of an account page by page.',
    query: HoldQuery,
    data: arrayOf(Hold),
    etag: { by: ['HoldID'] },
    read: ({ query, actor }, handle) => readHolds(handle, actor, query),
  }),
  writing({
    ...shared,
    operation: 'POST /Hold',
    summary: 'Place a hold on units: they cannot be redeemed, transferred or converted.',
    body: HoldInput,
    data: arrayOf(Hold),
    write: ({ body, actor }, tx) => createHold(tx, actor, body),
  }),
  writing({
    ...shared,
    operation: 'PUT /Hold',
    summary: 'Change a hold. Fields that are left out keep their values.',
    body: HoldUpdate,
    data: arrayOf(Hold),
    write: ({ body, actor }, tx) => updateHold(tx, actor, body),
  }),
  writing({
    ...shared,
    operation: 'DELETE /Hold',
    summary: 'Delete a hold.',
    query: HoldKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteHold(tx, actor, query),
  }),
]
