import { useRead } from '../shared/api/products.ts'
import type { InvestmentPrice } from '../shared/api/types.ts'
import { day } from '../shared/format.ts'
import type { Point } from '../shared/view/Chart.tsx'

const most = 1000

/** The prices of a class, oldest first. */
export function usePrices(investmentID: number | null) {
  const { data, error } = useRead<InvestmentPrice[]>(
    '/Investment/Price',
    { InvestmentID: investmentID ?? 0, PageSize: most, Order: 'desc' },
    investmentID !== null,
  )
  const prices = data?.toSorted((a, b) => (a.priceDate ?? '').localeCompare(b.priceDate ?? ''))
  return { prices, error }
}

export const pointsOf = (prices: InvestmentPrice[]): Point[] =>
  prices.map(({ priceDate, price }) => ({ label: day(priceDate), value: price ?? '0' }))
