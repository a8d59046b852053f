import type { ReactNode } from 'react'
import { useInvestments, useProduct } from '../api/products.ts'
import { useMay } from '../permission.ts'
import { PageLink } from './PageLink.tsx'

/** Asks to create a class first where the product has none yet. */
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
