import { Type } from 'typebox'
import {
  decimal,
  document,
  Flag,
  Id,
  optional,
  requiredText,
  text,
  trimmed,
} from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'
import { incomeKinds } from './income-kinds.ts'

export const Withholding = {
  ...Flag,
  description:
    'Whether the payment of a distribution withholds tax, at the rates of GET /WithholdingRate.',
}
export const IncomeKindName = Type.Unsafe<(typeof incomeKinds)[number]>({
  type: 'string',
  enum: incomeKinds,
  description: 'The kind of income for tax purposes. It decides the rate of withholding tax.',
})
/** Each name has one kind; names are the same regardless of letter case and of outer blanks. */
const oneKindEach: Check = (value) => {
  const names = (Array.isArray(value) ? value : [])
    .map((item) => item?.taxComponentName)
    .filter((name) => typeof name === 'string')
  const bare = names.map((name) => name.trim().toLowerCase())
  const repeated = names.filter((_, i) => bare.indexOf(bare[i]!) < i)
  return repeated.map((name) => ({
    code: 'given_twice',
    words: `has ${JSON.stringify(name)} already, in whatever letter case or with blanks`,
  }))
}
export const TaxComponentKinds = document(
  Type.Array(Type.Object({ taxComponentName: requiredText(100), incomeKind: IncomeKindName }), {
    maxItems: 100,
    check: oneKindEach,
    description:
      'The kind of income that each tax component of distributions is, by the name of the ' +
      'component. The component names of the specification need no entry.',
  }),
)

export const CoolOff = Type.Integer({
  minimum: 0,
  maximum: 365,
  default: 0,
  description:
    'The number of days that must have passed since the bank details of a payee were last ' +
    'changed before a payment run pays to them. 0: no waiting period.',
})

/** The month and day of a date that every year has: not 29 February. */
const dayOfEveryYear =
  '^((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)' +
  '|02-(0[1-9]|1[0-9]|2[0-8]))$'
export const FinancialYearEnd = Type.String({
  pattern: dayOfEveryYear,
  must: 'must be the month and the day of a day that every year has, like 06-30',
  default: '06-30',
  description:
    'The last day of the financial year, which decides the period of annual tax statements.',
})
export const CompanyTax = decimal(
  { minimum: '0', maximum: '99' },
  {
    default: '30',
    description:
      'The rate of company tax, in percent, that is used for the franking credits shown on ' +
      'statements.',
  },
)

const Colour = Type.String({
  pattern: '^#[0-9A-Fa-f]{6}$',
  must: 'must be a colour like #1f4e79',
  description: 'The colour of titles and lines in the documents.',
})
/** The issuer shown on documents to investors; without it they show only the product's name. */
export const Issuer = document(
  Type.Object(
    {
      name: requiredText(200),
      abn: optional(text(20)),
      address: optional(text(500)),
      phone: optional(text(50)),
      email: optional(text(254, { conformed: trimmed })),
      website: optional(text(200)),
      logoDocumentID: optional({
        ...Id,
        description: 'The id of a document of this product that is a PNG or JPEG image.',
      }),
      accentColour: optional(Colour),
      statementNote: optional(
        text(2000, { description: 'A note that is printed at the end of every statement.' }),
      ),
    },
    { description: 'The issuer that is named on every document for investors.' },
  ),
)
