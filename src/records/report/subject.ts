/** What a report is about, every id resolved and every date set. */
export type Subject = {
  productID: number
  investmentID: number | null
  corporateActionID: number | null
  bizEntityID: number | null
  accountID: number | null
  date: string
  fromDate: string | null
  toDate: string
  top: number
}
