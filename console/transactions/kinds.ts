import type { Conversion, Deposit, Transfer } from '../../src/ledger/biz-transaction/schema.ts'

type Body = Deposit & Conversion & Transfer
/** The label of a figure, and the value used where it is left empty. */
type Words = { label: string; placeholder?: string }

/** Every figure that a posting can have, by its name in the API. */
export const figures = {
  amount: { label: 'Amount', placeholder: 'by the units' },
  quantity: { label: 'Units', placeholder: 'by the amount' },
  investmentPrice: { label: 'Price', placeholder: 'of the day' },
  entryFeePercentage: { label: 'Entry fee, %', placeholder: 'none' },
  entryFeeDiscountPercentage: { label: 'Discount on the fee, %', placeholder: 'none' },
  entryFeeAmount: { label: 'Or the fee as an amount', placeholder: 'none' },
  fromInvestmentPrice: { label: 'Price they go out at', placeholder: 'of the day' },
  toInvestmentPrice: { label: 'Price they come in at', placeholder: 'of the day' },
  conversionFactor: { label: 'New units for each old one' },
} satisfies Partial<Record<keyof Body, Words>>

export type Figure = keyof typeof figures

/** A kind of posting as users enter it; there are seven. */
export type Kind = {
  path: string
  label: string
  hint: string
  /** The figures of the kind, in the rows of the form. */
  rows: Figure[][]
  /** The figures that the kind requires. */
  needs: Figure[]
  /** Labels of figures that differ from the usual ones. */
  words?: Partial<Record<Figure, Words>>
  /**
   * How the units change: in, out, by a signed quantity, set to a quantity, or moved between two
   * holdings.
   */
  way: 'in' | 'out' | 'signed' | 'set' | 'transfer' | 'conversion'
}

export const kinds: Record<string, Kind> = {
  Deposit: {
    path: '/BizTransaction/Deposit',
    label: 'Deposit',
    hint: 'Money in; units at the application price of the day, less the entry fee.',
    rows: [
      ['amount', 'quantity', 'investmentPrice'],
      ['entryFeePercentage', 'entryFeeDiscountPercentage', 'entryFeeAmount'],
    ],
    needs: ['amount'],
    way: 'in',
  },
  Allotment: {
    path: '/BizTransaction/Allotment',
    label: 'Allotment',
    hint: 'Units given out: by their number, or for an amount at a price.',
    rows: [['quantity', 'amount', 'investmentPrice']],
    needs: [],
    way: 'in',
  },
  Redemption: {
    path: '/BizTransaction/Redemption',
    label: 'Redemption',
    hint: 'Units taken back: by their number or for an amount.',
    rows: [['quantity', 'amount', 'investmentPrice']],
    needs: [],
    way: 'out',
  },
  Transfer: {
    path: '/BizTransaction/Transfer',
    label: 'Transfer',
    hint: 'Units from one account to another of the same product.',
    rows: [['quantity', 'amount', 'investmentPrice']],
    needs: ['quantity'],
    way: 'transfer',
  },
  Conversion: {
    path: '/BizTransaction/Conversion',
    label: 'Conversion',
    hint: 'Units of one class into units of another, at two prices or by a factor.',
    rows: [['quantity', 'amount']],
    needs: [],
    way: 'conversion',
  },
  Adjustment: {
    path: '/BizTransaction/Adjustment',
    label: 'Adjustment',
    hint:
      'Units added, or taken with a minus before them. Taken for no amount they go with their ' +
      'cost, and nothing is realised.',
    rows: [['quantity', 'amount', 'investmentPrice']],
    needs: ['quantity'],
    way: 'signed',
  },
  SetQuantity: {
    path: '/BizTransaction/SetQuantity',
    label: 'Set quantity',
    hint:
      'The units the holding is to have at the end of that day; the difference is posted. Units ' +
      'that go out for no amount go with their cost, and nothing is realised.',
    rows: [['quantity', 'amount', 'investmentPrice']],
    needs: ['quantity'],
    words: {
      quantity: { label: 'Units the holding is to have' },
      amount: { label: 'Amount of the change', placeholder: 'by the units' },
    },
    way: 'set',
  },
}

/** The figures by which a conversion derives the units that come in from those that go out. */
const converted: Record<Values['conversionMethod'], Figure[]> = {
  Price: ['fromInvestmentPrice', 'toInvestmentPrice'],
  Factor: ['conversionFactor', 'fromInvestmentPrice'],
}

/** The figures of a kind, with those that depend on the chosen conversion method. */
export const rowsOf = (kind: Kind, { conversionMethod }: Values): Figure[][] =>
  kind.way === 'conversion' ? [...kind.rows, converted[conversionMethod]] : kind.rows

export const isNeeded = (kind: Kind, figure: Figure) =>
  kind.needs.includes(figure) || figure === 'conversionFactor'

export const wordsOf = (kind: Kind, figure: Figure): Words =>
  kind.words?.[figure] ?? figures[figure]

// Safe cast: the keys of `figures` are exactly the figures.
const noFigures = Object.fromEntries(Object.keys(figures).map((figure) => [figure, ''])) as Record<
  Figure,
  string
>

export const blank = {
  ...noFigures,
  transactionDate: '',
  accountID: null as number | null,
  toAccountID: null as number | null,
  investmentID: null as number | null,
  toInvestmentID: null as number | null,
  costBasis: 'Market' as 'Market' | 'Carry',
  conversionMethod: 'Price' as 'Price' | 'Factor',
  externalBizTransactionId: '',
  toExternalBizTransactionId: '',
  comment: '',
}

export type Values = typeof blank

/** The request body, with only the fields of the kind. */
export function bodyOf(kind: Kind, values: Values, productID: number): object {
  const { accountID, investmentID, toAccountID, toInvestmentID } = values
  const { transactionDate, comment, externalBizTransactionId } = values
  const given = rowsOf(kind, values).flatMap((row) => row.map((figure) => [figure, values[figure]]))
  const body = { productID, transactionDate, comment, ...Object.fromEntries(given) }
  if (kind.way === 'transfer')
    return {
      ...body,
      externalBizTransactionId,
      investmentID,
      fromAccountID: accountID,
      toAccountID,
      costBasis: values.costBasis,
    }
  if (kind.way === 'conversion')
    return {
      ...body,
      accountID,
      fromInvestmentID: investmentID,
      toInvestmentID,
      conversionMethod: values.conversionMethod,
      fromExternalBizTransactionId: externalBizTransactionId,
      toExternalBizTransactionId: values.toExternalBizTransactionId,
    }
  return { ...body, externalBizTransactionId, accountID, investmentID }
}
