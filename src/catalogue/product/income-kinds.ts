/** What a component of a distribution can be, in the eyes of the tax office. */
export const incomeKinds = [
  'FrankedDividend',
  'UnfrankedDividend',
  'ConduitForeignIncome',
  'Interest',
  'Royalty',
  'FundPayment',
  'ForeignIncome',
  'CapitalGain',
  'TaxDeferred',
  'ReturnOfCapital',
] as const
export type IncomeKind = (typeof incomeKinds)[number]

const exempt: readonly string[] = ['FrankedDividend', 'TaxDeferred', 'ReturnOfCapital']
/** Of these nothing is withheld, whoever gets them. */
export const isExempt = (kind: string) => exempt.includes(kind)

/** What the names of the specification stand for, unless the product says otherwise. */
export const usualKinds: Readonly<Record<string, IncomeKind>> = {
  australianfrankeddividends: 'FrankedDividend',
  australianincomedividendsfranked: 'FrankedDividend',
  australianunfrankeddividends: 'UnfrankedDividend',
  australianincomedividendsunfrankedpercentage: 'UnfrankedDividend',
  capitalgains: 'CapitalGain',
  capitalgainscapital: 'CapitalGain',
}
export const usualKind = (taxComponentName: string): IncomeKind | undefined =>
  usualKinds[taxComponentName.trim().toLowerCase()]
