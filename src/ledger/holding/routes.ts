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
    summary: 'Positions with their value, cost and gains, now or as at the end of a day.',
    query: HoldingQuery,
    data: arrayOf(Holding),
    read: ({ query, actor }, handle) => readHoldings(handle, actor, query),
  }),
  reading({
    operation: 'GET /BizEntity/Account/Holdings/Explain',
    name: 'explainHolding',
    access: 'BizTransaction.Read',
    summary: 'Each transaction of one position, with its effect on units, cost and gain.',
    query: ExplainQuery,
    data: arrayOf(PositionStep),
    read: ({ query, actor }, handle) => explainPosition(handle, actor, query),
  }),
  reading({
    operation: 'GET /BizEntity/Account/Holdings/Months',
    name: 'listHoldingMonths',
    access: 'BizTransaction.Read',
    summary: 'Units, value and money in and out of a product or an investor, month by month.',
    query: HoldingMonthQuery,
    data: arrayOf(HoldingMonth),
    read: ({ query, actor }, handle) => readMonths(handle, actor, query),
  }),
]
