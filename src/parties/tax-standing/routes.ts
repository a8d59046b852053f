import { arrayOf, reading } from '../../platform/http/endpoint.ts'
import { readTaxStanding } from './read.ts'
import { TaxStanding, TaxStandingQuery } from './schema.ts'

export const taxStandingEndpoints = [
  reading({
    operation: 'GET /BizEntity/Account/TaxStanding',
    access: 'Tax.Read',
    summary:
      'Read the rule by which tax is withheld from the distributions of an account, and why it ' +
      'applies.',
    query: TaxStandingQuery,
    data: arrayOf(TaxStanding),
    read: ({ query, actor }, handle) => readTaxStanding(handle, actor, query),
  }),
]
