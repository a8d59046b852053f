import { Drawer } from '@mantine/core'
import { useState } from 'react'
import type { Approval } from '../shared/api/types.ts'
import { moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import type { Filter } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { deedOf } from '../shared/view/deeds.ts'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Tag, type Tone } from '../shared/view/Status.tsx'
import { Decide } from './Decide.tsx'

const tones: { [state: string]: Tone } = { Pending: 'waits', Approved: 'good', Rejected: 'wrong' }

/** Changes that wait for a second person, and what became of earlier ones. */
export function Approvals() {
  const [opened, setOpened] = useState<Approval>()
  const close = () => setOpened(undefined)
  return (
    <Page title="Approvals">
      <ListView<Approval>
        id="approvals"
        label="Approvals"
        path="/Approval"
        params={{ Order: 'desc' }}
        filters={filters}
        columns={columns}
        onOpen={setOpened}
        empty={
          <Empty title="Nothing waits">
            Where a rule asks for it, a change waits here until somebody else has approved it.
          </Empty>
        }
      />
      <Drawer
        opened={opened !== undefined}
        onClose={close}
        size="xl"
        title={deedOf(opened?.operation ?? null)}
      >
        {opened && <Decide approval={opened} onDone={close} />}
      </Drawer>
    </Page>
  )
}

const states = ['Pending', 'Approved', 'Rejected', 'Cancelled', 'Expired']

const filters: Filter[] = [
  {
    key: 'State',
    label: 'State',
    kind: 'choice',
    options: states.map((value) => ({ value, label: value })),
  },
]

const columns: Column<Approval>[] = [
  {
    id: 'what',
    title: 'What',
    text: ({ operation }) => deedOf(operation),
    width: 'minmax(200px, 2fr)',
  },
  { id: 'who', title: 'Asked by', text: ({ username }) => username ?? '' },
  {
    id: 'when',
    title: 'Asked',
    text: (row) => moment(row.createdDate),
    width: 'minmax(140px, 1fr)',
  },
  {
    id: 'approved',
    title: 'Approved by',
    text: ({ approvals, requiredApprovals }) =>
      `${approvals.map(({ username }) => username).join(', ') || 'nobody'} (${approvals.length} of ${requiredApprovals})`,
    width: 'minmax(140px, 1fr)',
  },
  {
    id: 'state',
    title: 'State',
    text: ({ state }) => state ?? '',
    cell: ({ state }) => state && <Tag tone={tones[state] ?? 'over'}>{state}</Tag>,
    width: '100px',
  },
  { id: 'why', title: 'Reason', text: ({ reason }) => reason ?? '', spare: true },
]
