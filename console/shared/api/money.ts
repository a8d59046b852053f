import { money, units } from '../format.ts'
import { useLookups } from './lookups.ts'
import { useInvestments, useProduct } from './products.ts'

/** A record whose money is in a currency of its own, or in that of its class. */
type Of = { currencyID?: number | null; investmentID?: number | null }

/** The currency of a record that says, or whose class does; else of the product. */
export function useCurrencyID() {
  const product = useProduct()
  const investments = useInvestments()
  return (of: Of = {}) => {
    const own = investments.find(({ investmentID }) => investmentID === of.investmentID)
    return of.currencyID ?? own?.currencyID ?? product.currencyID
  }
}

/** How many places money has. */
export function usePlaces() {
  const { places } = useLookups()
  const currencyOf = useCurrencyID()
  return (of?: Of) => places(currencyOf(of))
}

/** What the currency of a record is called. */
export function useCurrency() {
  const { code } = useLookups()
  const product = useProduct()
  const currencyOf = useCurrencyID()
  return (of?: Of) => code('Currency', currencyOf(of)) || product.currency
}

/** The currencies of the product and its classes to choose from, its own first. */
export function useCurrencyOptions() {
  const { code } = useLookups()
  const { currencyID } = useProduct()
  const ids = [currencyID, ...useInvestments().map((one) => one.currencyID)]
  return [...new Set(ids)].flatMap((id) =>
    id ? [{ value: String(id), label: code('Currency', id) }] : [],
  )
}

export type InCurrency<Row> = { currency: string; rows: Row[] }

/** Records by the currency of their money, that of the product first: no sum is of several. */
export function useByCurrency() {
  const product = useProduct()
  const nameOf = useCurrency()
  return <Row extends Of>(rows: Row[]): [InCurrency<Row>, ...InCurrency<Row>[]] => {
    const names = [...new Set(rows.map(nameOf))].toSorted(
      (a, b) => Number(b === product.currency) - Number(a === product.currency),
    )
    const [first = product.currency, ...others] = names
    const of = (currency: string) => ({
      currency,
      rows: rows.filter((row) => nameOf(row) === currency),
    })
    return [of(first), ...others.map(of)]
  }
}

/** How a figure is shown: of the record it stands in, or of the usual one. */
export type Money = (value: string | null | undefined, of?: Of) => string

/** Money with the places of its currency: of the record it stands in, or of the usual one. */
export function useMoney(usual?: Of): Money {
  const places = usePlaces()
  return (value, of = usual) => money(value, places(of))
}

const usualDecimals = 4

/** Units with the decimals of their class: of the record they stand in, or of the usual one. */
export function useUnits(usual?: Of): Money {
  const investments = useInvestments()
  return (value, of = usual) => {
    const own = investments.find(({ investmentID }) => investmentID === of?.investmentID)
    return units(value, own?.unitDecimals ?? usualDecimals)
  }
}
