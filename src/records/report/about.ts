import sql from 'sql-template-tag'
import type { Sql } from '../../platform/sql/handle.ts'
import type { Subject } from './subject.ts'

export type Label = readonly [string, string]

/** 30 June 2026 */
export function longDate(date: string): string {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number]
  return `${day} ${months[month - 1]} ${year}`
}
const months =
  'January February March April May June July August September October November December'.split(' ')

/** The head of every report: the product, and the class where the report is about one. */
export async function aboutProduct(handle: Sql, subject: Subject): Promise<Label[]> {
  const { productID, investmentID } = subject
  const [row] = await handle.query<{ product: string; class: string | null }>(sql`
    select p.name as product, (
      select concat_ws(' – ', i.security_code, i.name) from investment i
      where i.product_id = p.product_id and i.investment_id = ${investmentID}) as class
    from product p where p.product_id = ${productID}`)
  return [['Product', row!.product], ...(row!.class ? [['Class', row!.class] as const] : [])]
}

/** Explains the minus sign to readers who know investor statements rather than ledgers. */
export const signs: Label = [
  'Signs',
  'What goes out (redemptions, transfers and conversions out) has a minus; a distribution paid ' +
    'to the holder has none and moves no units.',
]

export const asAt = ({ date }: Subject): Label => ['As at', longDate(date)]

export const inPeriod = ({ fromDate, toDate }: Subject): Label => [
  'Period',
  fromDate ? `${longDate(fromDate)} to ${longDate(toDate)}` : `to ${longDate(toDate)}`,
]
