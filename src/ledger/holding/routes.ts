import { arrayOf, reading } from '../../platform/http/endpoint.ts'
import { ExplainQuery, explainPosition, PositionStep } from './explain.ts'
import { HoldingMonth, HoldingMonthQuery, readMonths } from './months.ts'
import { Holding, HoldingQuery } from './schema.ts'
import { readHoldings } from './sql.ts'

export const holdingEndpoints = [
  reading({
    operation: 'GET /BizEntity/Account/Holdings',
    name: 'listHoldings',
    access: 'BizEntity.Read',
    summary: 'List positions with their value, cost and gains, now or as at the end of a day.',
    query: HoldingQuery,
    data: arrayOf(Holding),
    read: ({ query, actor }, handle) => readHoldings(handle, actor, query),
  }),
  reading({
    operation: 'GET /BizEntity/Account/Holdings/Explain',
    name: 'explainHolding',
    access: 'BizTransaction.Read',
    summary: 'List the transactions of one position, each with its effect on units, cost and gain.',
    query: ExplainQuery,
    data: arrayOf(PositionStep),
    read: ({ query, actor }, handle) => explainPosition(handle, actor, query),
  }),
  reading({
    operation: 'GET /BizEntity/Account/Holdings/Months',
    name: 'listHoldingMonths',
    access: 'BizTransaction.Read',
    summary:
      'List the units, their value and the money paid in and out, month by month, for a product ' +
      'or an investor.',
    query: HoldingMonthQuery,
    data: arrayOf(HoldingMonth),
    read: ({ query, actor }, handle) => readMonths(handle, actor, query),
  }),
]
