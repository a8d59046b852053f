import type { Product } from '../shared/api/types.ts'

const lastKey = 'registry.product'

/** The product of an address; for pages without a product the one last looked at, or the first. */
export function productOf(path: string, products: Product[]): Product | undefined {
  const slug = /^\/(?:console\/)?(\d+)(?:\/|$)/.exec(path)?.[1]
  if (slug) localStorage.setItem(lastKey, slug)
  const wanted = slug ?? localStorage.getItem(lastKey)
  return products.find(({ productID }) => String(productID) === wanted) ?? products[0]
}
