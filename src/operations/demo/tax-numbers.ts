import type { Chance } from './chance.ts'

const weighted = (digits: readonly number[], weights: readonly number[]) =>
  digits.reduce((sum, digit, i) => sum + digit * weights[i]!, 0)

const tfnWeights = [1, 4, 3, 7, 5, 8, 6, 9, 10]
const abnWeights = [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]

const digitsOf = (chance: Chance, length: number) =>
  Array.from({ length }, (_, i) => (i === 0 ? chance.between(1, 9) : chance.below(10)))

/** A tax file number with a valid check digit; drawn again if the first eight digits allow none. */
export function tfn(chance: Chance): string {
  const digits = digitsOf(chance, 8)
  for (let last = 0; last < 10; last++)
    if (weighted([...digits, last], tfnWeights) % 11 === 0) return [...digits, last].join('')
  return tfn(chance)
}

/** A business number: the first two digits are the check of the other nine. */
export function abn(chance: Chance): string {
  const rest = digitsOf(chance, 9)
  for (let check = 10; check < 100; check++) {
    const digits = [Math.floor(check / 10), check % 10, ...rest]
    const reduced = [digits[0]! - 1, ...digits.slice(1)]
    if (weighted(reduced, abnWeights) % 89 === 0) return digits.join('')
  }
  return abn(chance)
}
