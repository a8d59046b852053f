import { Button, Stack } from '@mantine/core'
import { useState } from 'react'
import { useUnits } from '../shared/api/money.ts'
import { useProduct, useRead } from '../shared/api/products.ts'
import type { Account, BizEntity, Hold } from '../shared/api/types.ts'
import type { Column } from '../shared/list/columns.ts'
import { useMay } from '../shared/permission.ts'
import { Failure } from '../shared/view/Failure.tsx'
import { Card, Empty, Loading } from '../shared/view/Page.tsx'
import { Rows } from '../shared/view/Rows.tsx'
import { HoldDrawer, type Opened } from './HoldDrawer.tsx'
import { holdColumns } from './words.tsx'

/** The holds on an investor's units, account by account. */
export const InvestorHolds = ({ entity }: { entity: BizEntity }) => (
  <Stack>
    {entity.accounts.map((account) => (
      <OfAccount key={account.accountID} account={account} />
    ))}
  </Stack>
)

function OfAccount({ account: { accountID, accountNumber } }: { account: Account }) {
  const may = useMay()
  const { today } = useProduct()
  const units = useUnits()
  const [opened, setOpened] = useState<Opened>()
  const id = accountID ?? 0
  const { data, error } = useRead<Hold[]>('/Hold', { AccountID: id, PageSize: 1000 })
  if (error) return <Failure error={error} />
  if (!data) return <Loading />
  const canWrite = may('Hold.Write')
  const columns: Column<Hold>[] = [
    ...holdColumns(today(), units).filter((column) => column.id !== 'account'),
    ...(canWrite ? [changeColumn(setOpened)] : []),
  ]
  return (
    <Card
      title={`Holds on account ${accountNumber}`}
      padded={false}
      actions={
        canWrite && (
          <Button size="xs" variant="default" onClick={() => setOpened({ newFor: id })}>
            Hold units back
          </Button>
        )
      }
    >
      {data.length === 0 ? (
        <Empty title="Nothing is held back">All units of this account can be moved.</Empty>
      ) : (
        <Rows label="Holds" columns={columns} rows={data} keyOf={({ holdID }) => holdID ?? 0} />
      )}
      <HoldDrawer opened={opened} onClose={() => setOpened(undefined)} />
    </Card>
  )
}

const changeColumn = (open: (hold: Hold) => void): Column<Hold> => ({
  id: 'change',
  title: 'Change',
  text: () => '',
  cell: (hold) => (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Change the hold for ${hold.reason}`}
      onClick={() => open(hold)}
    >
      Change
    </Button>
  ),
})
