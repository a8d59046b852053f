import { arrayOf, nothing, reading, writing } from '../../platform/http/endpoint.ts'
import {
  WithholdingRate,
  WithholdingRateInput,
  WithholdingRateKey,
  WithholdingRateQuery,
  WithholdingRateUpdate,
} from './schema.ts'
import { createRate, deleteRate, readRates, updateRate } from './sql.ts'

const change = { access: 'Tax.Write', resource: 'Tax' } as const

export const withholdingRateEndpoints = [
  reading({
    operation: 'GET /WithholdingRate',
    access: 'Tax.Read',
    summary: 'List the rates of withholding tax.',
    query: WithholdingRateQuery,
    data: arrayOf(WithholdingRate),
    etag: { by: ['RateID'] },
    read: ({ query }, handle) => readRates(handle, query),
  }),
  writing({
    operation: 'POST /WithholdingRate',
    summary: 'Add a rate of withholding tax for a period.',
    ...change,
    body: WithholdingRateInput,
    data: arrayOf(WithholdingRate),
    write: ({ body, actor }, tx) => createRate(tx, actor, body),
  }),
  writing({
    operation: 'PUT /WithholdingRate',
    summary: 'Replace a rate of withholding tax. Tax that was already withheld does not change.',
    ...change,
    body: WithholdingRateUpdate,
    data: arrayOf(WithholdingRate),
    write: ({ body, actor }, tx) => updateRate(tx, actor, body),
  }),
  writing({
    operation: 'DELETE /WithholdingRate',
    summary: 'Delete a rate of withholding tax. Tax that was already withheld does not change.',
    ...change,
    query: WithholdingRateKey,
    data: nothing,
    write: ({ query, actor }, tx) => deleteRate(tx, actor, query),
  }),
]
