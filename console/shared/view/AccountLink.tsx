import type { ReactNode } from 'react'
import { useProduct } from '../api/products.ts'
import { PageLink } from './PageLink.tsx'

type Props = { number: string | null; children?: ReactNode }

/** Leads from an account to whose it is, where only its number is known. */
export function AccountLink({ number, children = number }: Props) {
  const { slug } = useProduct()
  return <PageLink to={`/${slug}/investors?AccountNumber.contains=${number}`}>{children}</PageLink>
}
