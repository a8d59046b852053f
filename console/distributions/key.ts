import type { Distribution } from '../shared/api/types.ts'

/** The key by which the requests of a stage name their distribution. */
export const keyOf = ({ productID, corporateActionID }: Distribution) => ({
  productID,
  corporateActionID,
})

/**
 * The parameters for reading a distribution. The page and its dialogs use the same ones, so that
 * TanStack Query reads the distribution once for both.
 */
export const readBy = (ProductID: number | null, id: number | string | null) => ({
  ProductID,
  CorporateActionID: String(id),
})
