import { arrayOf, reading } from '../../platform/http/endpoint.ts'
import { readTaxStanding } from './read.ts'
import { TaxStanding, TaxStandingQuery } from './schema.ts'

export const taxStandingEndpoints = [
  reading({
    operation: 'GET /BizEntity/Account/TaxStanding',
    access: 'Tax.Read',
    summary: 'By which rule tax is withheld from what an account gets, and why.',
    query: TaxStandingQuery,
    data: arrayOf(TaxStanding),
    read: ({ query, actor }, handle) => readTaxStanding(handle, actor, query),
  }),
]
