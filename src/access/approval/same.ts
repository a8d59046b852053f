import { plainDecimal } from '../../platform/shape/decimal.ts'
import { parseJson } from '../../platform/shape/json.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { isAmount, isChange } from './match.ts'

/** What changes by itself, and is nobody's to approve. */
const passing = new Set(['balance', 'balances', 'updatedDate', 'failureCount', 'lastLoginDate'])

/**
 * Whether a write would change more than was shown when it was asked for, something that is not any
 * more as it was shown, or come to another sum: who approves has seen none of it. What a field
 * becomes follows from the request and from what it was, but for the numbers that new records get.
 */
export function changesElse(shown: unknown, now: unknown): boolean {
  const before = new Map(startsOf(shown))
  return startsOf(now).some(([path, from]) => before.get(path) !== from)
}

/** What each field that changes is now, what goes, and each sum that is told, by the way to it. */
function startsOf(changes: unknown, path = ''): [string, string][] {
  if (typeof changes !== 'object' || changes === null) return []
  return Object.entries(changes).flatMap(([name, value]): [string, string][] => {
    if (passing.has(name)) return []
    const own = `${path}.${name}`
    if (isChange(value)) return [[own, textOf(value.from)]]
    const isWhole = isAmount(name) || name.startsWith('deleted')
    return isWhole ? [[own, textOf(value)]] : startsOf(value, own)
  })
}

const textOf = (value: unknown) =>
  JSON.stringify(value, (name, inner) => (passing.has(name) ? undefined : inner))

/** The fields by which a record says whose it is, and the money that it moves. */
const telling = [
  'parentBizEntityID',
  'bizEntityID',
  'personID',
  'organisationID',
  'accountID',
  'investmentID',
  'amount',
  'drpInvestmentID',
  'productID',
]

/**
 * Which records a write is about or links to, by their own numbers, and which money it moves. Who
 * approves sees external ids and units: by then the id may be another record's, and the price
 * another. What is made has a new number each time, by which its own record begins.
 */
export function subjectOf(written: Written, isOfNew: boolean): string[] {
  const { json, ids, linked = [] } = written
  const answer: unknown = parseJson(json)
  const records = (Array.isArray(answer) ? answer : [answer]).map((record) =>
    Object.entries(Object(record) as object),
  )
  const fields = records.flatMap((entries) => (isOfNew ? entries.slice(1) : entries))
  const told = fields.flatMap(([name, value]) =>
    telling.includes(name) && value !== null ? `${name} ${plainDecimal(value)}` : [],
  )
  const isProduct = records[0]?.[0]?.[0] === 'productID'
  const own = isOfNew ? productsOf(isProduct ? {} : written) : ids.map((id) => `id ${id}`)
  return [...told, ...linked, ...own].sort()
}

/** The products that new records are put into, which a request may name by external ids, too. */
function productsOf({ productID, shares }: Pick<Written, 'productID' | 'shares'>) {
  const ids = new Set(shares ? shares.map((share) => share.productID) : [productID])
  return [...ids].flatMap((id) => (id === undefined ? [] : `${ofProduct}${id}`))
}
const ofProduct = 'product '

/** What earlier versions did not keep. */
const later = [ofProduct, 'productID ', 'drpInvestmentID ']

/**
 * Whether a write is about something else than was kept with it. What an earlier version kept tells
 * nothing of products and of where is reinvested, or nothing at all.
 */
export function isElsewhere(kept: readonly string[] | undefined, now: readonly string[]): boolean {
  if (!kept) return false
  const untold = later.filter((name) => !kept.some((one) => one.startsWith(name)))
  const told = now.filter((one) => !untold.some((name) => one.startsWith(name)))
  return kept.join() !== told.join()
}
