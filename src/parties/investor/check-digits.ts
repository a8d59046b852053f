/**
 * Check digits of Australian numbers. A number with a wrong one is stored all the same, since
 * registers that were taken over contain such numbers; the answer reports it.
 */

const weighted = (digits: string, weights: readonly number[]) =>
  weights.reduce((sum, weight, i) => sum + weight * Number(digits[i]), 0)

const nineDigits = [1, 4, 3, 7, 5, 8, 6, 9, 10]
/** The weights of eight-digit numbers, which are not the first eight of the nine. */
const eightDigits = [10, 7, 8, 4, 6, 3, 5, 1]

/** A tax file number of 8 or 9 digits. */
export const isTfn = (tfn: string) =>
  weighted(tfn, tfn.length === 8 ? eightDigits : nineDigits) % 11 === 0

/** Codes that investors quote instead of a number: why they have none, or need not state it. */
const exemptions = new Set([
  '111111111', // applied for
  '333333333', // under 16
  '444444444', // pensioner
  '444444441', // pensions
  '444444442',
  '555555555', // need not lodge
  '777777777', // finance business
  '888888888', // non-resident
  '987654321', // unusable number
])
export const isTfnExemption = (tfn: string) => exemptions.has(tfn)

export const isAbn = (abn: string) =>
  (weighted(abn, [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) - 10) % 89 === 0

export const isAcn = (acn: string) =>
  (10 - (weighted(acn, [8, 7, 6, 5, 4, 3, 2, 1]) % 10)) % 10 === Number(acn[8])
