import type { ReactNode } from 'react'
import { useProduct } from '../api/products.ts'
import { PageLink } from './PageLink.tsx'

type Props = { number: string | null; children?: ReactNode }

/** Links an account to its investor where only the account number is known. */
export function AccountLink({ number, children = number }: Props) {
  const { slug } = useProduct()
  const filter = new URLSearchParams({ 'AccountNumber.contains': number ?? '' })
  return <PageLink to={`/${slug}/investors?${filter}`}>{children}</PageLink>
}
