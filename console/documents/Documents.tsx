import { useProduct } from '../shared/api/products.ts'
import { Page } from '../shared/view/Page.tsx'
import { DocumentList } from './DocumentList.tsx'

/** The documents of the product; documents of an investor are on the investor's page as well. */
export function Documents() {
  const { productID } = useProduct()
  return (
    <Page title="Documents">
      <DocumentList owner={{ productID }} />
    </Page>
  )
}
