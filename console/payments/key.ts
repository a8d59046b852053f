/**
 * The parameters for reading a payment run. The page and its dialogs use the same ones, so that
 * TanStack Query reads the run once for both.
 */
export const readBy = (ProductID: number | null, id: number | string | null) => ({
  ProductID,
  PaymentRunID: String(id),
})
