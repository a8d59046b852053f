import { Button, Group } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type Params } from '../shared/api/client.ts'
import { useLookups } from '../shared/api/lookups.ts'
import { useMoney, useUnits } from '../shared/api/money.ts'
import { useProduct } from '../shared/api/products.ts'
import type { BizEvent } from '../shared/api/types.ts'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { day } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { type Filter, readSearch } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { tellFailure } from '../shared/view/Failure.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Status } from '../shared/view/Status.tsx'
import { Board } from './Board.tsx'
import { CancelNotices, SettleNotices } from './Decide.tsx'
import { isPending, OneNotice } from './OneNotice.tsx'

const filters: Filter[] = [
  { key: 'BizEventStatusID', label: 'State', kind: 'lookup', category: 'BizEventStatus' },
  { key: 'BizEventTypeID', label: 'What', kind: 'lookup', category: 'BizEventType' },
  { key: 'AccountNumber', label: 'Account number', kind: 'text' },
]

const pending = 1
const most = 1000

type Deed = { mode: 'settle' | 'cancel'; events: BizEvent[] }

/** The notices of investors and their outcomes. */
export function Notices() {
  const { productID } = useProduct()
  const may = useMay()
  const { name } = useLookups()
  const [chosen, setChosen] = useChosen()
  const [opened, setOpened] = useState<BizEvent>()
  const [deed, setDeed] = useState<Deed>()
  const toggle = (row: BizEvent) => {
    const next = new Map(chosen)
    if (!next.delete(row.bizEventID ?? 0)) next.set(row.bizEventID ?? 0, row)
    setChosen(next)
  }
  /**
   * Chooses all pending notices that match the filters, up to the most that one request settles; or
   * none.
   */
  const toggleAll = async (params: Params) => {
    if (chosen.size > 0) return setChosen(new Map())
    try {
      const { data } = await api.get<BizEvent[]>('/BizEvent', {
        ...{ BizEventStatusID: pending, PageSize: most },
        ...params,
      })
      setChosen(new Map(data.filter(isPending).map((one) => [one.bizEventID ?? 0, one])))
    } catch (error) {
      tellFailure(error)
    }
  }
  const close = () => setDeed(undefined)
  const done = () => {
    close()
    setOpened(undefined)
    setChosen(new Map())
  }
  const canChoose = may('BizEvent.Write') || may('BizTransaction.Write')
  const has = ({ bizEventID }: BizEvent) => chosen.has(bizEventID ?? 0)
  const ofAll = { some: chosen.size > 0, toggleAll: (all: Params) => void toggleAll(all) }
  const one = (mode: Deed['mode']) => () => opened && setDeed({ mode, events: [opened] })
  return (
    <Page title="Notices" actions={<Chosen events={[...chosen.values()]} onDeed={setDeed} />}>
      <Board />
      <ListView<BizEvent>
        id="notices"
        label="Notices"
        path="/BizEvent"
        params={{ ProductID: productID, Order: 'desc' }}
        filters={filters}
        columns={useColumns()}
        onOpen={setOpened}
        {...(canChoose && { chosen: { has, toggle, can: isPending, ...ofAll } })}
        empty={
          <Empty title="No notice yet">
            Deposits, redemptions and allotments that are announced, and not yet posted, stand here.
          </Empty>
        }
      />
      <FormDrawer
        opened={opened !== undefined}
        onClose={() => setOpened(undefined)}
        title={`Notice of ${name('BizEventType', opened?.bizEventTypeID).toLowerCase()}`}
      >
        {opened && <OneNotice listed={opened} onSettle={one('settle')} onCancel={one('cancel')} />}
      </FormDrawer>
      {deed?.mode === 'settle' && (
        <SettleNotices events={deed.events} onDone={done} onClose={close} />
      )}
      {deed?.mode === 'cancel' && (
        <CancelNotices events={deed.events} onDone={done} onClose={close} />
      )}
    </Page>
  )
}

/**
 * The chosen notices belong to the present filters; other filters clear them, since they would be
 * settled out of sight.
 */
function useChosen() {
  const view = JSON.stringify(readSearch(useSearch({ strict: false })))
  const [kept, setKept] = useState({ view, rows: new Map<number, BizEvent>() })
  const chosen = kept.view === view ? kept.rows : new Map<number, BizEvent>()
  return [chosen, (rows: Map<number, BizEvent>) => setKept({ view, rows })] as const
}

type ChosenProps = { events: BizEvent[]; onDeed: (deed: Deed) => void }

function Chosen({ events, onDeed }: ChosenProps) {
  const may = useMay()
  if (events.length === 0) return null
  return (
    <Group gap="xs">
      {may('BizEvent.Write') && (
        <Button variant="default" onClick={() => onDeed({ mode: 'cancel', events })}>
          Cancel {events.length}
        </Button>
      )}
      {may('BizTransaction.Write') && (
        <Button onClick={() => onDeed({ mode: 'settle', events })}>Settle {events.length}</Button>
      )}
    </Group>
  )
}

function useColumns(): Column<BizEvent>[] {
  const { name } = useLookups()
  const money = useMoney()
  const units = useUnits()
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
    { id: 'amount', title: 'Amount', right: true, text: (row) => money(row.amount, row) },
    { id: 'units', title: 'Units', right: true, text: (row) => units(row.quantity, row) },
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
