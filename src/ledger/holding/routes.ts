import { arrayOf, reading } from '../../platform/http/endpoint.ts'
import { Holding, HoldingQuery } from './schema.ts'
import { readHoldings } from './sql.ts'

export const holdingEndpoints = [
  reading({
    operation: 'GET /BizEntity/Account/Holdings',
    name: 'listHoldings',
    access: 'BizEntity.Read',
    summary: 'Positions with their value, cost and gains, now or as at the end of a day.',
    query: HoldingQuery,
    data: arrayOf(Holding),
    read: ({ query, actor }, handle) => readHoldings(handle, actor, query),
  }),
]
