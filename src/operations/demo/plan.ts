/** The made-up manager's products, from which the demonstration is generated. */
export type ClassPlan = {
  code: string
  name: string
  /** The price at the start, in ten-thousandths of a dollar. */
  startPrice: number
  /**
   * How far the price may move in a week, and by how much it tends to grow, in ten-thousandths of
   * itself.
   */
  swing: number
  drift: number
}

export type ProductPlan = {
  externalProductId: string
  name: string
  description: string
  investors: number
  classes: ClassPlan[]
  /** A distribution every so many quarters; the rate is in dollars per unit. */
  everyQuarters: number
  rate: string
  components: { taxComponentName: string; percentage: string }[]
}

export const manager = 'Kurrajong Funds Management'
export const years = 3

export const products: ProductPlan[] = [
  {
    externalProductId: 'KIF',
    name: 'Kurrajong Income Fund',
    description: 'Short-dated credit and mortgages; pays quarterly.',
    investors: 900,
    classes: [
      { code: 'KIFA', name: 'Class A', startPrice: 10_000, swing: 18, drift: 1 },
      { code: 'KIFW', name: 'Wholesale class', startPrice: 10_120, swing: 18, drift: 2 },
    ],
    everyQuarters: 1,
    rate: '0.0135',
    components: [
      { taxComponentName: 'AustralianUnfrankedDividends', percentage: '82.5' },
      { taxComponentName: 'AustralianFrankedDividends', percentage: '12.5' },
      { taxComponentName: 'CapitalGains', percentage: '5' },
    ],
  },
  {
    externalProductId: 'KGF',
    name: 'Kurrajong Growth Fund',
    description: 'Listed Australian shares; pays twice a year.',
    investors: 650,
    classes: [
      { code: 'KGFA', name: 'Class A', startPrice: 14_350, swing: 140, drift: 18 },
      { code: 'KGFB', name: 'Class B', startPrice: 14_100, swing: 140, drift: 20 },
    ],
    everyQuarters: 2,
    rate: '0.0310',
    components: [
      { taxComponentName: 'AustralianFrankedDividends', percentage: '70' },
      { taxComponentName: 'CapitalGains', percentage: '30' },
    ],
  },
  {
    externalProductId: 'KPT',
    name: 'Kurrajong Property Trust',
    description: 'Unlisted offices and warehouses; pays quarterly.',
    investors: 450,
    classes: [{ code: 'KPT', name: 'Ordinary units', startPrice: 18_200, swing: 45, drift: 3 }],
    everyQuarters: 1,
    rate: '0.0225',
    components: [
      { taxComponentName: 'AustralianUnfrankedDividends', percentage: '60' },
      { taxComponentName: 'CapitalGains', percentage: '40' },
    ],
  },
]
