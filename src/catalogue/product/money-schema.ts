import { Type } from 'typebox'
import {
  decimal,
  document,
  Flag,
  Id,
  optional,
  requiredText,
  text,
} from '../../platform/shape/fields.ts'
import type { Check } from '../../platform/shape/keywords.ts'
import { incomeKinds } from './income-kinds.ts'

export const Withholding = {
  ...Flag,
  description: 'Whether Payment withholds tax by the rates of GET /WithholdingRate.',
}
export const IncomeKindName = Type.Unsafe<(typeof incomeKinds)[number]>({
  type: 'string',
  enum: incomeKinds,
  description: 'What the income is for tax, which tells the rate.',
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
      'What the tax components of distributions are for tax, by their names. The names of ' +
      'the specification are known without.',
  }),
)

export const CoolOff = Type.Integer({
  minimum: 0,
  maximum: 365,
  default: 0,
  description:
    'How many days ago the bank details of a payee must have been changed last for a payment run ' +
    'to pay them; 0: whenever.',
})

/** The month and day of a date that every year has: not 29 February. */
const dayOfEveryYear =
  '^((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)' +
  '|02-(0[1-9]|1[0-9]|2[0-8]))$'
export const FinancialYearEnd = Type.String({
  pattern: dayOfEveryYear,
  must: 'must be the month and the day of a day that every year has, like 06-30',
  default: '06-30',
  description: 'The last day of the financial year, by which annual tax statements are made.',
})
export const CompanyTax = decimal(
  { minimum: '0', maximum: '99' },
  {
    default: '30',
    description:
      'The rate of company tax, in percent, that franked dividends carry a credit for, as ' +
      'statements show it.',
  },
)

const Colour = Type.String({
  pattern: '^#[0-9A-Fa-f]{6}$',
  must: 'must be a colour like #1f4e79',
  description: 'The colour of titles and lines.',
})
/** The issuer shown on documents to investors; without it they show only the product's name. */
export const Issuer = document(
  Type.Object(
    {
      name: requiredText(200),
      abn: optional(text(20)),
      address: optional(text(500)),
      phone: optional(text(50)),
      email: optional(text(254)),
      website: optional(text(200)),
      logoDocumentID: optional({
        ...Id,
        description: 'A document of this product that is an image, PNG or JPEG.',
      }),
      accentColour: optional(Colour),
      statementNote: optional(
        text(2000, { description: 'What stands at the end of every statement.' }),
      ),
    },
    { description: 'Who stands on everything that goes to an investor.' },
  ),
)
