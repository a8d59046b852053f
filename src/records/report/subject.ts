/** The subject of a report, with every id resolved and every date set. */
export type Subject = {
  productID: number
  investmentID: number | null
  corporateActionID: number | null
  bizEntityID: number | null
  accountID: number | null
  date: string
  fromDate: string | null
  /** `forEver` where the order has no last day. */
  toDate: string
  top: number
}

export const forEver = 'infinity'
