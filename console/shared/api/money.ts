import { money, units } from '../format.ts'
import { useLookups } from './lookups.ts'
import { useInvestments, useProduct } from './products.ts'

/** A record with a currency of its own, or a class that has one. */
type Of = { currencyID?: number | null; investmentID?: number | null }

/** The currency of a record, else of its class, else of the product. */
export function useCurrencyID() {
  const product = useProduct()
  const investments = useInvestments()
  return (of: Of = {}) => {
    const own = investments.find(({ investmentID }) => investmentID === of.investmentID)
    return of.currencyID ?? own?.currencyID ?? product.currencyID
  }
}

/** The decimals of money. */
export function usePlaces() {
  const { places } = useLookups()
  const currencyOf = useCurrencyID()
  return (of?: Of) => places(currencyOf(of))
}

/** The code of the currency of a record. */
export function useCurrency() {
  const { code } = useLookups()
  const product = useProduct()
  const currencyOf = useCurrencyID()
  return (of?: Of) => code('Currency', currencyOf(of)) || product.currency
}

/** Options for the currencies of the product and its classes, the product's own first. */
export function useCurrencyOptions() {
  const { code } = useLookups()
  const { currencyID } = useProduct()
  const ids = [currencyID, ...useInvestments().map((one) => one.currencyID)]
  return [...new Set(ids)].flatMap((id) =>
    id ? [{ value: String(id), label: code('Currency', id) }] : [],
  )
}

export type InCurrency<Row> = { currency: string; rows: Row[] }

/**
 * Groups records by currency, the product's first, since amounts in several currencies have no sum.
 */
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

/** Formats a figure of the given record, or of the usual one. */
export type Money = (value: string | null | undefined, of?: Of) => string

/** Formats money with the decimals of its currency, from the given record or the usual one. */
export function useMoney(usual?: Of): Money {
  const places = usePlaces()
  return (value, of = usual) => money(value, places(of))
}

const usualDecimals = 4

/** Formats units with the decimals of their class, from the given record or the usual one. */
export function useUnits(usual?: Of): Money {
  const investments = useInvestments()
  return (value, of = usual) => {
    const own = investments.find(({ investmentID }) => investmentID === of?.investmentID)
    return units(value, own?.unitDecimals ?? usualDecimals)
  }
}
