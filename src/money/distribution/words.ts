import { invalid } from '../../platform/refusal.ts'
import { decimalDigits, isTooLong } from '../../platform/shape/decimal.ts'

/** 1 account, 2 accounts */
export const accountsInWords = (count: number) => `${count} account${count === 1 ? '' : 's'}`

/** Refuses totals of a stage with more digits than the registry accepts anywhere. */
export function refuseTooLarge(what: 'amounts' | 'units', figure: string, field: string) {
  if (isTooLong(figure))
    throw invalid('out_of_range', `The ${what} come to more than ${decimalDigits} digits.`, field)
}
