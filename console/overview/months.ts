import { useProduct, useRead } from '../shared/api/products.ts'
import type { HoldingMonth } from '../shared/api/types.ts'
import { isZero, sum } from '../shared/decimal.ts'
import { day } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import type { Point } from '../shared/view/Chart.tsx'

/** Units, value and money of a product, or of one investor in it, month by month. */
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

/** The date of each month, oldest first, with the rows of all classes. */
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

/** Whether units of the class are held but the class has no price. */
export const isUnpriced = ({ quantity, price }: Priced) => price === null && !isZero(quantity)

/** The value of the classes that have a price; undefined if none of them has one. */
export const worth = (rows: Priced[]): string | undefined =>
  rows.length > 0 && rows.every(isUnpriced)
    ? undefined
    : sum(rows.map(({ marketValue }) => marketValue))

/** The total value on each date for which it is known. */
export const valuesOf = (months: HoldingMonth[]): Point[] =>
  byDay(months).flatMap(([date, rows]) => {
    const value = worth(rows)
    return value === undefined ? [] : [{ label: day(date), value }]
  })
