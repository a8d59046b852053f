import { useProduct } from '../shared/api/products.ts'
import { Page } from '../shared/view/Page.tsx'
import { DocumentList } from './DocumentList.tsx'

/** The documents of the product; an investor's own stand on the investor's page. */
export function Documents() {
  const { productID } = useProduct()
  return (
    <Page title="Documents">
      <DocumentList owner={{ productID }} />
    </Page>
  )
}
