import type { Distribution } from '../shared/api/types.ts'

/** What a stage names its distribution by. */
export const keyOf = ({ productID, corporateActionID }: Distribution) => ({
  productID,
  corporateActionID,
})
