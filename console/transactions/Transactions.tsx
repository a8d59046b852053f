import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { neededFor } from '../frame/pages.ts'
import { useMoney, useUnits } from '../shared/api/money.ts'
import { useClassOptions, useProduct } from '../shared/api/products.ts'
import type { BizTransaction } from '../shared/api/types.ts'
import { PastControl, pastParams, usePast } from '../shared/form/Past.tsx'
import type { Filter } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { ClassFirst } from '../shared/view/ClassFirst.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { transactionColumns } from './columns.tsx'
import { TransactionDrawer } from './TransactionDrawer.tsx'

/** The ledger of the product. */
export function Transactions() {
  const { productID, slug } = useProduct()
  const may = useMay()
  const [opened, setOpened] = useState<BizTransaction>()
  const [past, setPast] = usePast()
  const params = { product: slug }
  const mayAdd = may(neededFor('/$product/transactions/new'))
  const add = mayAdd && (
    <>
      <Button
        variant="default"
        renderRoot={(props) => (
          <Link to="/$product/transactions/paste" params={params} {...props} />
        )}
      >
        Paste many
      </Button>
      <Button
        leftSection={<Icon name="plus" size={16} />}
        renderRoot={(props) => <Link to="/$product/transactions/new" params={params} {...props} />}
      >
        New transaction
      </Button>
    </>
  )
  return (
    <Page title="Transactions" aside={<PastControl past={past} onChange={setPast} />} actions={add}>
      <ListView<BizTransaction>
        id="transactions"
        label="Transactions"
        path="/BizTransaction"
        params={{ ProductID: productID, Order: 'desc', ...pastParams(past) }}
        filters={useFilters()}
        columns={transactionColumns(useMoney(), useUnits())}
        onOpen={setOpened}
        empty={
          <Empty title="No transaction yet">
            Deposits, redemptions and everything else that changes a holding stand here.{' '}
            <ClassFirst>{mayAdd && 'Enter the first one.'}</ClassFirst>
          </Empty>
        }
      />
      <TransactionDrawer transaction={opened} onClose={() => setOpened(undefined)} />
    </Page>
  )
}

function useFilters(): Filter[] {
  const options = useClassOptions()
  const states = ['Complete', 'Updated', 'RolledBack'].map((value) => ({ value, label: value }))
  return [
    { key: 'BizTransactionTypeID', label: 'What', kind: 'lookup', category: 'BizTransactionType' },
    { key: 'TransactionDate.greaterThanOrEqual', label: 'From', kind: 'date' },
    { key: 'TransactionDate.lessThanOrEqual', label: 'Until', kind: 'date' },
    { key: 'InvestmentID', label: 'Class', kind: 'choice', options },
    { key: 'AccountNumber', label: 'Account number', kind: 'text' },
    { key: 'Status', label: 'State', kind: 'choice', options: states },
    { key: 'ExternalBizTransactionId', label: 'External id', kind: 'text' },
    { key: 'BizTransactionID', label: 'Number', kind: 'text' },
  ]
}
