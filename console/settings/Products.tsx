import { Button } from '@mantine/core'
import { useState } from 'react'
import { useLookups } from '../shared/api/lookups.ts'
import type { Product } from '../shared/api/types.ts'
import { Edited } from '../shared/form/Edited.tsx'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { useGo } from '../shared/form/leave.ts'
import { moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Active } from '../shared/view/Status.tsx'
import { ProductForm } from './ProductForm.tsx'

/** All products that the user may see. */
export function Products() {
  const may = useMay()
  const go = useGo()
  const [edited, setEdited] = useState<Product | 'new'>()
  const close = () => setEdited(undefined)
  const add = may('Product.Write') && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setEdited('new')}>
      New product
    </Button>
  )
  return (
    <Page title="Products" actions={add}>
      <ListView<Product>
        id="products"
        label="Products"
        path="/Product"
        params={{}}
        filters={[]}
        columns={useColumns()}
        onOpen={setEdited}
        empty={
          <Empty title="No product yet">
            A product is a fund or a company whose units are on this register. Make the first one,
            then its classes and its investors.
          </Empty>
        }
      />
      <FormDrawer
        opened={edited !== undefined}
        onClose={close}
        size="lg"
        title={edited === 'new' ? 'New product' : 'Product'}
      >
        {edited === 'new' && (
          <ProductForm
            onKept={close}
            onDone={({ productID }) => {
              close()
              go(`/${productID}`)
            }}
          />
        )}
        {edited && edited !== 'new' && (
          <Edited<Product> path="/Product" params={{ ProductID: edited.productID }}>
            {(tagged) => <ProductForm tagged={tagged} onDone={close} onKept={close} />}
          </Edited>
        )}
      </FormDrawer>
    </Page>
  )
}

function useColumns(): Column<Product>[] {
  const { code } = useLookups()
  return [
    { id: 'name', title: 'Name', text: ({ name }) => name ?? '', width: 'minmax(220px, 2fr)' },
    { id: 'external', title: 'External id', text: (row) => row.externalProductId ?? '' },
    { id: 'currency', title: 'Currency', text: (row) => code('Currency', row.currencyID) },
    {
      id: 'state',
      title: 'State',
      text: ({ isActive }) => (isActive ? 'Active' : 'Inactive'),
      cell: ({ isActive }) => <Active on={isActive} />,
    },
    {
      id: 'created',
      title: 'Created',
      text: ({ createdDate }) => moment(createdDate),
      width: 'minmax(140px, 1fr)',
    },
    { id: 'id', title: 'Product id', text: ({ productID }) => String(productID), spare: true },
  ]
}
