import type { ReactNode } from 'react'
import { useInvestments, useProduct } from '../api/products.ts'
import { useMay } from '../permission.ts'
import { PageLink } from './PageLink.tsx'

/** What to do first: where the product has no class yet, that comes before anything else. */
export function ClassFirst({ children }: { children: ReactNode }) {
  const { slug } = useProduct()
  const may = useMay()
  const isThere = useInvestments().length > 0 || !may('Investment.Read')
  if (isThere) return children
  return (
    <>
      Begin with a class of units under{' '}
      <PageLink to={`/${slug}/classes`} underline="always">
        Classes and prices
      </PageLink>
      , then add investors.
    </>
  )
}
