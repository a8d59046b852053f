import { useProduct } from '../shared/api/products.ts'
import { Page } from '../shared/view/Page.tsx'

export function Overview() {
  const product = useProduct()
  return <Page title={product.name ?? 'Overview'}>{null}</Page>
}
