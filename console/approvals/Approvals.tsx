import { SegmentedControl } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useSession } from '../shared/api/session.ts'
import type { Approval } from '../shared/api/types.ts'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { type Filter, readSearch, type Search } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { deedOf } from '../shared/view/deeds.ts'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Tag, type Tone } from '../shared/view/Status.tsx'
import { Decide } from './Decide.tsx'
import { approvedBy } from './words.ts'

const tones: { [state: string]: Tone } = { Pending: 'waits', Approved: 'good', Rejected: 'wrong' }

/** Changes that wait for the approval of a second person, and the outcome of earlier ones. */
export function Approvals() {
  const userID = String(useSession().user?.userID ?? '')
  const [opened, setOpened] = useState<Approval>()
  const close = () => setOpened(undefined)
  return (
    <Page title="Approvals" aside={<Which userID={userID} />}>
      <ListView<Approval>
        id="approvals"
        label="Approvals"
        path="/Approval"
        params={{ Order: 'desc' }}
        filters={filtersOf(userID)}
        columns={columns}
        onOpen={setOpened}
        empty={
          <Empty title="Nothing waits">
            A change that needs approval waits here until somebody else has approved it.
          </Empty>
        }
      />
      <FormDrawer
        opened={opened !== undefined}
        onClose={close}
        size="xl"
        title={deedOf(opened?.operation ?? null)}
      >
        {opened && <Decide listed={opened} onDone={close} />}
      </FormDrawer>
    </Page>
  )
}

const states = ['Pending', 'Approved', 'Rejected', 'Cancelled', 'Expired']

/** Preset filters for the most usual views: all, pending, and the user's own requests. */
function Which({ userID }: { userID: string }) {
  const search = readSearch(useSearch({ strict: false }))
  const navigate = useNavigate()
  const views: Record<string, Search> = {
    All: {},
    Waiting: { State: 'Pending' },
    'Waiting for me': { ToDecide: 'true' },
    'Asked by me': { UserID: userID },
  }
  const shown = Object.keys(views).find((name) =>
    ['State', 'UserID', 'ToDecide'].every((key) => views[name]?.[key] === search[key]),
  )
  return (
    <SegmentedControl
      size="xs"
      aria-label="Which approvals"
      data={Object.keys(views)}
      value={shown ?? ''}
      onChange={(name) => void navigate({ to: '.', search: views[name] as never })}
    />
  )
}

const filtersOf = (userID: string): Filter[] => [
  {
    key: 'State',
    label: 'State',
    kind: 'choice',
    options: states.map((value) => ({ value, label: value })),
  },
  {
    key: 'UserID',
    label: 'Asked by',
    kind: 'choice',
    options: [{ value: userID, label: 'me' }],
  },
  {
    key: 'ToDecide',
    label: 'Waiting for',
    kind: 'choice',
    options: [{ value: 'true', label: 'me' }],
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
    text: approvedBy,
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
