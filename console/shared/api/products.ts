import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { beside, today } from '../format.ts'
import { useMay } from '../permission.ts'
import { api, type Params } from './client.ts'
import { useLookups } from './lookups.ts'
import { allOf } from './pages.ts'
import type { Investment, Product } from './types.ts'

/**
 * Empty for users who may not read products, because the frame around every page needs the list.
 */
export const productQuery = (isAllowed: boolean) => ({
  queryKey: ['products', isAllowed],
  queryFn: () => (isAllowed ? allOf<Product>('/Product', {}) : []),
})

export const useProducts = (): Product[] =>
  useSuspenseQuery(productQuery(useMay()('Product.Read'))).data

/** Options for choosing a product. */
export const useProductOptions = () =>
  useProducts().map(({ productID, name }) => ({ value: String(productID), label: name ?? '' }))

/** Names of products, limited to those the user may see; null stands for all. */
export function useProductNames() {
  const products = useProducts()
  const nameOf = (id: number) =>
    products.find(({ productID }) => productID === id)?.name ?? `product ${id}`
  return (ids: readonly number[] | null) => (ids ? beside(ids.map(nameOf), ', ') || 'None' : 'All')
}

/** The product that the address names. */
export function useProduct() {
  const { product = '' } = useParams({ strict: false }) as { product?: string }
  const found = useProducts().find(({ productID }) => String(productID) === product)
  if (!found) throw new Error('There is no such product, or you may not see it.')
  const { code } = useLookups()
  // The first field of a record is its own id, which every stored record has.
  const productID = found.productID as number
  return {
    ...found,
    productID,
    slug: product,
    /** Today in the time zone of the product, wherever the browser is. */
    today: () => today(found.timeZone),
    currency: code('Currency', found.currencyID) || 'AUD',
  }
}

/** The classes of the product in the address; empty for users who may not read them. */
export function useInvestments(): Investment[] {
  const { productID } = useProduct()
  const isAllowed = useMay()('Investment.Read')
  return useSuspenseQuery({
    queryKey: ['investments', productID, isAllowed],
    queryFn: () => (isAllowed ? allOf<Investment>('/Investment', { ProductID: productID }) : []),
  }).data
}

/** Options for choosing a class, by the code or name that people use. */
export const useClassOptions = () =>
  useInvestments().map(({ investmentID, securityCode, name }) => ({
    value: String(investmentID),
    label: securityCode ?? name ?? String(investmentID),
  }))

/** The cached query for an API read that is not a list. */
export const readQuery = <T>(path: string, params: Params) => ({
  queryKey: ['read', path, params],
  queryFn: async () => (await api.get<T>(path, params)).data,
})

export const useRead = <T>(path: string, params: Params, enabled = true) =>
  useQuery({ ...readQuery<T>(path, params), enabled })

export const useReadNow = <T>(path: string, params: Params): T =>
  useSuspenseQuery(readQuery<T>(path, params)).data
