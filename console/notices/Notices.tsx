import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { useLookups } from '../shared/api/lookups.ts'
import { useProduct } from '../shared/api/products.ts'
import type { BizEvent } from '../shared/api/types.ts'
import { day, money, units } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import type { Filter } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Status } from '../shared/view/Status.tsx'
import { CancelNotices, SettleNotices } from './Decide.tsx'

const pending = 1

const filters: Filter[] = [
  { key: 'BizEventStatusID', label: 'State', kind: 'lookup', category: 'BizEventStatus' },
  { key: 'BizEventTypeID', label: 'What', kind: 'lookup', category: 'BizEventType' },
  { key: 'AccountNumber', label: 'Account number', kind: 'text' },
]

/** What investors have announced, and what becomes of it. */
export function Notices() {
  const { productID } = useProduct()
  const may = useMay()
  const [chosen, setChosen] = useState<Map<number, BizEvent>>(new Map())
  const [mode, setMode] = useState<'settle' | 'cancel'>()
  const toggle = (row: BizEvent) => {
    const next = new Map(chosen)
    if (!next.delete(row.bizEventID ?? 0)) next.set(row.bizEventID ?? 0, row)
    setChosen(next)
  }
  const done = () => {
    setMode(undefined)
    setChosen(new Map())
  }
  const events = [...chosen.values()]
  const actions = events.length > 0 && (
    <Group gap="xs">
      {may('BizEvent.Write') && (
        <Button variant="default" onClick={() => setMode('cancel')}>
          Cancel {events.length}
        </Button>
      )}
      {may('BizTransaction.Write') && (
        <Button onClick={() => setMode('settle')}>Settle {events.length}</Button>
      )}
    </Group>
  )
  return (
    <Page title="Notices" actions={actions}>
      <ListView<BizEvent>
        id="notices"
        label="Notices"
        path="/BizEvent"
        params={{ ProductID: productID, Order: 'desc' }}
        filters={filters}
        columns={useColumns()}
        onOpen={toggle}
        chosen={{
          has: ({ bizEventID }) => chosen.has(bizEventID ?? 0),
          toggle,
          can: ({ bizEventStatusID }) => bizEventStatusID === pending,
        }}
        empty={
          <Empty title="No notice here">
            Deposits, redemptions and conversions that are announced, and not yet posted, stand
            here.
          </Empty>
        }
      />
      {mode === 'settle' && (
        <SettleNotices events={events} onDone={done} onClose={() => setMode(undefined)} />
      )}
      {mode === 'cancel' && (
        <CancelNotices events={events} onDone={done} onClose={() => setMode(undefined)} />
      )}
    </Page>
  )
}

function useColumns(): Column<BizEvent>[] {
  const { name } = useLookups()
  return [
    {
      id: 'investor',
      title: 'Investor',
      text: (row) => row.bizEntityName ?? '',
      width: 'minmax(180px, 2fr)',
    },
    { id: 'account', title: 'Account', text: (row) => row.accountNumber ?? '' },
    { id: 'what', title: 'What', text: (row) => name('BizEventType', row.bizEventTypeID) },
    { id: 'class', title: 'Class', text: (row) => row.securityCode ?? '', width: '70px' },
    { id: 'day', title: 'For', text: (row) => day(row.bizEventDate) },
    { id: 'amount', title: 'Amount', right: true, text: (row) => money(row.amount) },
    { id: 'units', title: 'Units', right: true, text: (row) => units(row.quantity) },
    {
      id: 'state',
      title: 'State',
      text: (row) => name('BizEventStatus', row.bizEventStatusID),
      cell: (row) => <Status category="BizEventStatus" id={row.bizEventStatusID} />,
      width: '90px',
    },
    {
      id: 'external',
      title: 'External id',
      text: (row) => row.externalTransactionId ?? '',
      spare: true,
    },
    { id: 'comment', title: 'Comment', text: (row) => row.comment ?? '', spare: true },
  ]
}
