import { lookups } from '../../platform/lookup/lookups.ts'

const types = lookups.BizTransactionType
type Name = keyof typeof types

/**
 * The rules of a kind of transaction. A new kind needs a row in the table below, an id among the
 * lookups, and code for the rules that only it has.
 */
type Kind = {
  /** Its movementReasonCode. */
  code: string
  /** Which way units go; with `either` the sign decides, `none` moves only money. */
  units: 'in' | 'out' | 'either' | 'none'
  /** The price used where none is given; `plain` is for units that pass to another account. */
  price: 'application' | 'redemption' | 'bySign' | 'plain' | 'none'
  /** It brings money into an investment; an inactive investment refuses it. */
  takesMoney: boolean
  /** It brings new money into the product; an inactive product refuses it. */
  newMoney?: true
  /** Without a price its amount is 0 rather than unknown. */
  worthNothing?: true
  /** The kind of the first leg, if this is a second leg: it takes its figures from the first. */
  follows?: Name
  /** Only operations on distributions make and change it. */
  ofDistribution?: true
  /** Can be rolled back, even in a closed account, if it belongs to no distribution. */
  goesBackAlone?: true
}

const table = {
  Deposit: { code: 'DEP', units: 'in', price: 'application', takesMoney: true, newMoney: true },
  Allotment: { code: 'ALT', units: 'in', price: 'application', takesMoney: true, newMoney: true },
  Redemption: { code: 'RED', units: 'out', price: 'redemption', takesMoney: false },
  'Conversion out': { code: 'CNO', units: 'out', price: 'redemption', takesMoney: false },
  'Conversion in': {
    code: 'CNI',
    units: 'in',
    price: 'application',
    takesMoney: true,
    follows: 'Conversion out',
  },
  Adjustment: {
    code: 'ADJ',
    units: 'either',
    price: 'bySign',
    takesMoney: false,
    worthNothing: true,
  },
  'Set quantity': {
    code: 'SET',
    units: 'either',
    price: 'bySign',
    takesMoney: false,
    worthNothing: true,
  },
  'Transfer out': { code: 'TRO', units: 'out', price: 'plain', takesMoney: false },
  'Transfer in': {
    code: 'TRI',
    units: 'in',
    price: 'plain',
    takesMoney: false,
    follows: 'Transfer out',
  },
  'Distribution payment': {
    code: 'DST',
    units: 'none',
    price: 'none',
    takesMoney: false,
    ofDistribution: true,
  },
  'DRP allotment': {
    code: 'DRP',
    units: 'in',
    price: 'none',
    takesMoney: true,
    ofDistribution: true,
  },
  'Withholding tax': {
    code: 'WHT',
    units: 'none',
    price: 'none',
    takesMoney: false,
    ofDistribution: true,
  },
  'Residual payment': {
    code: 'RSD',
    units: 'none',
    price: 'none',
    takesMoney: false,
    ofDistribution: true,
    goesBackAlone: true,
  },
} as const satisfies Record<Name, Kind>

export type KindID = (typeof types)[Name]
export type Known = Kind & { id: KindID; name: Name }

const kinds: readonly Known[] = Object.entries(table).map(([name, kind]) => ({
  ...(kind as Kind),
  name: name as Name, // `satisfies` checks that the keys are the names
  id: types[name as Name],
}))

const byID = new Map<number, Known>(kinds.map((kind) => [kind.id, kind]))

/** The kind of an id: the table has every id that a transaction can have. */
export function kindOf(id: number): Known {
  const kind = byID.get(id)
  if (!kind) throw new Error(`There is no kind of transaction ${id}.`)
  return kind
}

/** The ids of the kinds that pass a test, as an SQL list to follow `in`. */
export const idsWhere = (test: (kind: Known) => boolean) =>
  `(${kinds
    .filter(test)
    .map(({ id }) => id)
    .join(', ')})`

/** The ids of kinds by their names. */
export const idsOf = (...names: Name[]) => idsWhere(({ name }) => names.includes(name))

/** An SQL expression for a property of the kind whose id is in a column. */
export const ofKind = (column: string, of: (kind: Known) => string) => {
  const ordered = kinds.toSorted((a, b) => a.id - b.id)
  if (ordered.some(({ id }, place) => id !== place + 1)) throw new Error('Ids must have no gaps.')
  return `(array[${ordered.map((kind) => `'${of(kind)}'`).join(', ')}])[${column}]`
}
