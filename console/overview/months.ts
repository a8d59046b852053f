import { useProduct, useRead } from '../shared/api/products.ts'
import type { HoldingMonth } from '../shared/api/types.ts'
import { isZero, sum } from '../shared/decimal.ts'
import { day } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import type { Point } from '../shared/view/Chart.tsx'

/** Units, value and money of a product, or of one investor of it, month by month. */
export function useMonths(bizEntityID?: number) {
  const { productID } = useProduct()
  const may = useMay()
  return useRead<HoldingMonth[]>(
    '/BizEntity/Account/Holdings/Months',
    {
      ProductID: productID,
      Months: bizEntityID ? 36 : 13,
      ...(bizEntityID && { BizEntityID: bizEntityID }),
    },
    may('BizTransaction.Read'),
  )
}

/** The days of the months, oldest first, each with the rows of all classes. */
export function byDay(months: HoldingMonth[]): [string, HoldingMonth[]][] {
  const days = new Map<string, HoldingMonth[]>()
  for (const month of months) {
    const date = month.date ?? ''
    days.set(date, [...(days.get(date) ?? []), month])
  }
  return [...days].toSorted(([a], [b]) => a.localeCompare(b))
}

export type Priced = Pick<
  HoldingMonth,
  'investmentID' | 'securityCode' | 'quantity' | 'price' | 'marketValue'
>

/** Units are held of the class, and nobody has said what one of them is worth. */
export const isUnpriced = ({ quantity, price }: Priced) => price === null && !isZero(quantity)

/** What classes come to, of those that have a price; undefined where none of them has. */
export const worth = (rows: Priced[]): string | undefined =>
  rows.length > 0 && rows.every(isUnpriced)
    ? undefined
    : sum(rows.map(({ marketValue }) => marketValue))

/** What it all came to on each day of which that is known. */
export const valuesOf = (months: HoldingMonth[]): Point[] =>
  byDay(months).flatMap(([date, rows]) => {
    const value = worth(rows)
    return value === undefined ? [] : [{ label: day(date), value }]
  })
