import { useReadAll } from '../shared/api/pages.ts'
import type { InvestmentPrice } from '../shared/api/types.ts'
import { day } from '../shared/format.ts'
import type { Point } from '../shared/view/Chart.tsx'

/**
 * The prices of a class, oldest first. All pages are read, because lists are ordered by when
 * records were created and a price of long ago may have been entered last.
 */
export function usePrices(investmentID: number | null) {
  const { data, isError } = useReadAll<InvestmentPrice>(
    '/Investment/Price',
    { InvestmentID: investmentID ?? 0 },
    investmentID !== null,
  )
  const prices = data?.toSorted((a, b) => (a.priceDate ?? '').localeCompare(b.priceDate ?? ''))
  return { prices, isError }
}

export const pointsOf = (prices: InvestmentPrice[]): Point[] =>
  prices.map(({ priceDate, price }) => ({ label: day(priceDate), value: price ?? '0' }))
