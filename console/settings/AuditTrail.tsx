import { Drawer, Stack } from '@mantine/core'
import { useState } from 'react'
import type { Audit } from '../shared/api/types.ts'
import { moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import type { Filter } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { Changes } from '../shared/view/Changes.tsx'
import { deedOf } from '../shared/view/deeds.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Verify } from './Verify.tsx'

const columns: Column<Audit>[] = [
  {
    id: 'when',
    title: 'When',
    text: ({ occurredDate }) => moment(occurredDate),
    width: 'minmax(160px, 1fr)',
  },
  { id: 'who', title: 'Who', text: ({ username }) => username ?? '' },
  {
    id: 'what',
    title: 'What',
    text: ({ operation }) => deedOf(operation),
    width: 'minmax(200px, 2fr)',
  },
  { id: 'operation', title: 'Operation', text: ({ operation }) => operation ?? '', spare: true },
  { id: 'resource', title: 'Record', text: ({ resource }) => resource ?? '' },
  {
    id: 'ids',
    title: 'Ids',
    text: ({ resourceIDs }) =>
      resourceIDs.length > 5 ? `${resourceIDs.length} records` : resourceIDs.join(', '),
  },
  { id: 'request', title: 'Request', text: ({ requestID }) => requestID ?? '', spare: true },
]

const filters: Filter[] = [
  { key: 'Username', label: 'Username', kind: 'text' },
  { key: 'Resource', label: 'Record', kind: 'text' },
  { key: 'ResourceID', label: 'Record id', kind: 'text' },
  { key: 'OccurredDate.greaterThanOrEqual', label: 'From', kind: 'moment' },
  { key: 'OccurredDate.lessThan', label: 'Before', kind: 'moment' },
]

/** The audit trail: who did what, and when. */
export function AuditTrail() {
  const [opened, setOpened] = useState<Audit>()
  return (
    <Page title="Audit trail" actions={<Verify />}>
      <ListView<Audit>
        id="audit"
        label="Audit trail"
        path="/Audit"
        params={{ Order: 'desc' }}
        filters={filters}
        columns={columns}
        onOpen={setOpened}
        empty={<Empty title="Nothing recorded yet" />}
      />
      <Drawer
        opened={opened !== undefined}
        onClose={() => setOpened(undefined)}
        size="lg"
        title={deedOf(opened?.operation ?? null)}
      >
        {opened && (
          <Stack>
            <Facts
              facts={[
                ['When', moment(opened.occurredDate)],
                ['Who', opened.username],
                ['Operation', opened.operation],
                ['Record', opened.resource],
                ['Ids', opened.resourceIDs.slice(0, 50).join(', ')],
                ['Request', opened.requestID],
              ]}
            />
            <Changes changes={opened.changes} />
          </Stack>
        )}
      </Drawer>
    </Page>
  )
}
