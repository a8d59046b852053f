import { lookups } from '../../platform/lookup/lookups.ts'

const types = lookups.BizTransactionType
type Name = keyof typeof types

/**
 * What a kind of transaction is. A new kind is a row of the table below, an id among the lookups,
 * and whatever rules only it has.
 */
type Kind = {
  /** Its movementReasonCode. */
  code: string
  /** Which way units go; `either` is told by the sign, `none` moves money alone. */
  units: 'in' | 'out' | 'either' | 'none'
  /** Which price counts where none is given: the plain one is that of units that change hands. */
  price: 'application' | 'redemption' | 'bySign' | 'plain' | 'none'
  /** It brings money into an investment, which one that is inactive refuses. */
  takesMoney: boolean
  /** It brings new money into the product, which one that is inactive refuses. */
  newMoney?: true
  /** Without a price its money is nothing, rather than unknown. */
  worthNothing?: true
  /** It is the second leg of what that kind began, and takes its figures from there. */
  follows?: Name
  /** It is made by a stage of a distribution, and changed by none but it. */
  ofDistribution?: true
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
  },
} as const satisfies Record<Name, Kind>

export type KindID = (typeof types)[Name]
export type Known = Kind & { id: KindID; name: Name }

const kinds: readonly Known[] = Object.entries(table).map(([name, kind]) => ({
  ...(kind as Kind),
  name: name as Name, // the keys of the table are the names, as `satisfies` holds
  id: types[name as Name],
}))

const byID = new Map<number, Known>(kinds.map((kind) => [kind.id, kind]))

/** Every id that a row of the ledger can have is in the table. */
export function kindOf(id: number): Known {
  const kind = byID.get(id)
  if (!kind) throw new Error(`There is no kind of transaction ${id}.`)
  return kind
}

/** The ids of the kinds for which something holds, as SQL has them after `in`. */
export const idsWhere = (test: (kind: Known) => boolean) =>
  `(${kinds
    .filter(test)
    .map(({ id }) => id)
    .join(', ')})`

/** The ids of kinds by their names. */
export const idsOf = (...names: Name[]) => idsWhere(({ name }) => names.includes(name))

/** Of something that every kind has: its value for the kind whose id a column holds, in SQL. */
export const ofKind = (column: string, of: (kind: Known) => string) => {
  const ordered = kinds.toSorted((a, b) => a.id - b.id)
  if (ordered.some(({ id }, place) => id !== place + 1)) throw new Error('Ids must have no gaps.')
  return `(array[${ordered.map((kind) => `'${of(kind)}'`).join(', ')}])[${column}]`
}
