import { plainDecimal } from '../../platform/shape/decimal.ts'
import { parseJson } from '../../platform/shape/json.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { isAmount, isChange } from './match.ts'

/** Fields that change by themselves and that nobody approves. */
const passing = new Set(['balance', 'balances', 'updatedDate', 'failureCount', 'lastLoginDate'])

/**
 * Whether a write would now do something that its approvers have not seen: change more than was
 * shown when it was asked for, start from another value, or come to another sum. A field's new
 * value needs no comparison: it follows from the request and the old value, except for the numbers
 * that new records get.
 */
export function changesElse(shown: unknown, now: unknown): boolean {
  const before = new Map(startsOf(shown))
  return startsOf(now).some(([path, from]) => before.get(path) !== from)
}

/**
 * By path: the present value of each field that changes, the values of deleted records, and each
 * sum.
 */
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

/** The fields that name a record's owner, and the money that it moves. */
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
 * Which records a write is about or links to, by their native ids, and which money it moves.
 * Approvers see external ids and units: by the time of approval an external id may belong to
 * another record, and the price may be another. New records get a new id each time, so the first
 * field of each record, its own id, is left out.
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

/** The products of new records: the request may have named them by external ids as well. */
function productsOf({ productID, shares }: Pick<Written, 'productID' | 'shares'>) {
  const ids = new Set(shares ? shares.map((share) => share.productID) : [productID])
  return [...ids].flatMap((id) => (id === undefined ? [] : `${ofProduct}${id}`))
}
const ofProduct = 'product '

/** Subjects that earlier versions did not keep with a request. */
const later = [ofProduct, 'productID ', 'drpInvestmentID ']

/**
 * Whether a write is now about other records than those kept with the request. Subjects that an
 * earlier version did not keep (products, the class that is reinvested into, or all of them) are
 * not compared.
 */
export function isElsewhere(kept: readonly string[] | undefined, now: readonly string[]): boolean {
  if (!kept) return false
  const untold = later.filter((name) => !kept.some((one) => one.startsWith(name)))
  const told = now.filter((one) => !untold.some((name) => one.startsWith(name)))
  return kept.join() !== told.join()
}
