import { Button } from '@mantine/core'
import { useState } from 'react'
import { useUnits } from '../shared/api/money.ts'
import { useClassOptions, useProduct } from '../shared/api/products.ts'
import type { Hold } from '../shared/api/types.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { HoldDrawer, type Opened } from './HoldDrawer.tsx'
import { holdColumns } from './words.tsx'

/** The holds of the product. */
export function Holds() {
  const { productID, today } = useProduct()
  const may = useMay()
  const [opened, setOpened] = useState<Opened>()
  const options = useClassOptions()
  const units = useUnits()
  const canWrite = may('Hold.Write')
  const add = canWrite && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpened('new')}>
      New hold
    </Button>
  )
  return (
    <Page title="Holds" actions={add}>
      <ListView<Hold>
        id="holds"
        label="Holds"
        path="/Hold"
        params={{ ProductID: productID, Order: 'desc' }}
        filters={[{ key: 'InvestmentID', label: 'Class', kind: 'choice', options }]}
        columns={holdColumns(today(), units)}
        {...(canWrite && { onOpen: setOpened })}
        empty={
          <Empty title="Nothing is held back">
            A hold keeps units in their account, for a court order or a pledge: no redemption,
            transfer or conversion takes them.
          </Empty>
        }
      />
      <HoldDrawer opened={opened} onClose={() => setOpened(undefined)} />
    </Page>
  )
}
