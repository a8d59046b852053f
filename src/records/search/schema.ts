import { type Static, Type } from 'typebox'
import { decimal, LongId, requiredText, shown, trimmed } from '../../platform/shape/fields.ts'

/** The most records that a search returns. */
export const mostFound = 50
/** The fewest characters that a search text may have. */
export const leastAsked = 2

export const SearchQuery = Type.Object({
  Text: requiredText(200, {
    minLength: leastAsked,
    must: `must have at least ${leastAsked} characters`,
    conformed: trimmed,
    description:
      'A name, e-mail address, phone number, account number, external id or complete tax file ' +
      'number. Names are also found if you type them without accents.',
  }),
})
export const SearchResult = shown(
  'SearchResult',
  {
    resource: Type.String({ description: 'The kind of record found: BizEntity, Person, …' }),
    id: LongId,
    title: Type.String(),
    subtitle: Type.String(),
    score: decimal(
      {},
      { description: 'How well the record matches, from 0 to 1; 1 is an exact match.' },
    ),
  },
  { resource: 'Person', id: 7, title: 'Ann Example', subtitle: 'PER-1', score: 0.9 },
)

export type SearchQuery = Static<typeof SearchQuery>
