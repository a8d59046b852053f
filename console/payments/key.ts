/** What a run is read by, from its page and from what is asked there: it is read once for both. */
export const readBy = (ProductID: number | null, id: number | string | null) => ({
  ProductID,
  PaymentRunID: String(id),
})
