import { money } from '../format.ts'
import { useLookups } from './lookups.ts'
import { useInvestments, useProduct } from './products.ts'

/** A record whose money is in a currency of its own, or in that of its class. */
type Of = { currencyID?: number | null; investmentID?: number | null }

/** How many places money has: of a record that says, or whose class does; else of the product. */
export function usePlaces() {
  const { places } = useLookups()
  const product = useProduct()
  const investments = useInvestments()
  return (of: Of = {}) => {
    const own = investments.find(({ investmentID }) => investmentID === of.investmentID)
    return places(of.currencyID ?? own?.currencyID ?? product.currencyID)
  }
}

export type Money = (value: string | null | undefined, of?: Of) => string

/** Money with the places of its currency: of the record it stands in, or of the usual one. */
export function useMoney(usual?: Of): Money {
  const places = usePlaces()
  return (value, of = usual) => money(value, places(of))
}
