import { Type } from 'typebox'
import { document, Flag, requiredText } from '../../platform/shape/fields.ts'
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
export const TaxComponentKinds = document(
  Type.Array(Type.Object({ taxComponentName: requiredText(100), incomeKind: IncomeKindName }), {
    maxItems: 100,
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
