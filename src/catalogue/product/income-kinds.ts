/** The kinds of income that a component of a distribution can be for tax. */
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
/** Whether no tax is withheld from income of a kind, whoever receives it. */
export const isExempt = (kind: string) => exempt.includes(kind)

/** The kinds of the component names in the specification, unless the product says otherwise. */
export const usualKinds: Readonly<Record<string, IncomeKind>> = {
  australianfrankeddividends: 'FrankedDividend',
  australianincomedividendsfranked: 'FrankedDividend',
  australianunfrankeddividends: 'UnfrankedDividend',
  australianincomedividendsunfrankedpercentage: 'UnfrankedDividend',
  capitalgains: 'CapitalGain',
  capitalgainscapital: 'CapitalGain',
}
export const usualKind = (taxComponentName: string): IncomeKind | undefined => {
  const name = taxComponentName.trim().toLowerCase()
  return Object.hasOwn(usualKinds, name) ? usualKinds[name] : undefined
}
