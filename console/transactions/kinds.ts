/** The seven ways to change a holding, as one enters them. */
export type Kind = {
  path: string
  label: string
  hint: string
  fields: ('amount' | 'quantity' | 'price' | 'fee')[]
  /** Units come in, go out, are set, or move between two. */
  way: 'in' | 'out' | 'signed' | 'set' | 'transfer' | 'conversion'
}

export const kinds: Record<string, Kind> = {
  Deposit: {
    path: '/BizTransaction/Deposit',
    label: 'Deposit',
    hint: 'Money in; units at the application price of the day, less the entry fee.',
    fields: ['amount', 'price', 'fee'],
    way: 'in',
  },
  Allotment: {
    path: '/BizTransaction/Allotment',
    label: 'Allotment',
    hint: 'Units given out: by their number, or for an amount at a price.',
    fields: ['quantity', 'amount', 'price'],
    way: 'in',
  },
  Redemption: {
    path: '/BizTransaction/Redemption',
    label: 'Redemption',
    hint: 'Units taken back: by their number or for an amount.',
    fields: ['quantity', 'amount', 'price'],
    way: 'out',
  },
  Transfer: {
    path: '/BizTransaction/Transfer',
    label: 'Transfer',
    hint: 'Units from one account to another of the same product.',
    fields: ['quantity', 'price'],
    way: 'transfer',
  },
  Conversion: {
    path: '/BizTransaction/Conversion',
    label: 'Conversion',
    hint: 'Units of one class into units of another, at the two prices of the day.',
    fields: ['quantity'],
    way: 'conversion',
  },
  Adjustment: {
    path: '/BizTransaction/Adjustment',
    label: 'Adjustment',
    hint: 'Units added, or taken with a minus before them.',
    fields: ['quantity', 'amount'],
    way: 'signed',
  },
  SetQuantity: {
    path: '/BizTransaction/SetQuantity',
    label: 'Set quantity',
    hint: 'The units the holding is to have on that day; the difference is posted.',
    fields: ['quantity'],
    way: 'set',
  },
}

export const blank = {
  transactionDate: '',
  accountID: null as number | null,
  toAccountID: null as number | null,
  investmentID: null as number | null,
  toInvestmentID: null as number | null,
  amount: '',
  quantity: '',
  investmentPrice: '',
  entryFeePercentage: '',
  externalBizTransactionId: '',
  comment: '',
}

export type Values = typeof blank

/** What is sent: only the fields of the kind. */
export function bodyOf(kind: Kind, values: Values, productID: number): object {
  const { accountID, investmentID, toAccountID, toInvestmentID, ...rest } = values
  const { amount, quantity, investmentPrice, entryFeePercentage, ...common } = rest
  const { externalBizTransactionId, ...plain } = common
  const has = (field: Kind['fields'][number]) => kind.fields.includes(field)
  const figures = {
    ...(has('amount') && { amount }),
    ...(has('quantity') && { quantity }),
    ...(has('price') && { investmentPrice }),
    ...(has('fee') && { entryFeePercentage }),
  }
  const body = { productID, ...plain, ...figures }
  if (kind.way === 'transfer')
    return {
      ...body,
      externalBizTransactionId,
      investmentID,
      fromAccountID: accountID,
      toAccountID,
    }
  if (kind.way === 'conversion')
    return {
      ...body,
      accountID,
      fromInvestmentID: investmentID,
      toInvestmentID,
      conversionMethod: 'Price',
      fromExternalBizTransactionId: externalBizTransactionId,
    }
  return { ...body, externalBizTransactionId, accountID, investmentID }
}
