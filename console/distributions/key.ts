import type { Distribution } from '../shared/api/types.ts'

/** What a stage names its distribution by. */
export const keyOf = ({ productID, corporateActionID }: Distribution) => ({
  productID,
  corporateActionID,
})

/** What it is read by, from its page and from what is asked there: it is read once for both. */
export const readBy = (ProductID: number | null, id: number | string | null) => ({
  ProductID,
  CorporateActionID: String(id),
})
