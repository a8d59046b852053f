import { Button, Progress } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useProduct } from '../shared/api/products.ts'
import type { Import } from '../shared/api/types.ts'
import { count, moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import type { Filter } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { importTypes, modeNames, Outcome } from './words.tsx'

/** The imported files and their outcomes. */
export function Imports() {
  const { slug } = useProduct()
  const add = (
    <Button
      leftSection={<Icon name="upload" size={16} />}
      renderRoot={(props) => (
        <Link to="/$product/import/new" params={{ product: slug }} {...props} />
      )}
    >
      Import a file
    </Button>
  )
  return (
    <Page title="Import" actions={add}>
      <ListView<Import>
        id="imports"
        label="Imports"
        path="/Import"
        params={{ Order: 'desc' }}
        filters={filters}
        columns={columns}
        to={({ importID }) => ({
          to: '/$product/import/$id',
          params: { product: slug, id: String(importID) },
        })}
        empty={
          <Empty title="Nothing imported yet">
            Import investors, prices, transactions, opening balances and payment results from CSV or
            XLSX files. A file is checked before anything is imported.
          </Empty>
        }
      />
    </Page>
  )
}

const states = ['Queued', 'Running', 'Completed', 'Failed', 'Cancelled']

const filters: Filter[] = [
  { key: 'Type', label: 'What', kind: 'choice', options: importTypes },
  {
    key: 'Status',
    label: 'State',
    kind: 'choice',
    options: states.map((value) => ({ value, label: value })),
  },
]

const columns: Column<Import>[] = [
  {
    id: 'file',
    title: 'File',
    text: ({ fileName, importID }) => fileName ?? `Import ${importID}`,
    width: 'minmax(160px, 2fr)',
  },
  {
    id: 'what',
    title: 'What',
    text: ({ type }) => importTypes.find(({ value }) => value === type)?.label ?? '',
    width: 'minmax(110px, 1fr)',
  },
  { id: 'mode', title: 'How', text: ({ mode }) => modeNames[mode ?? ''] ?? '', width: '92px' },
  {
    id: 'state',
    title: 'State',
    text: ({ status }) => status ?? '',
    cell: (row) =>
      row.status === 'Running' ? (
        <Progress value={row.progressPercent ?? 0} aria-label="Progress" />
      ) : (
        <Outcome of={row} />
      ),
    width: '96px',
  },
  {
    id: 'read',
    title: 'Rows',
    right: true,
    text: (row) => count(row.rowsRead ?? 0),
    width: '64px',
  },
  {
    id: 'good',
    title: 'Accepted',
    right: true,
    text: (row) => count(row.rowsAccepted ?? 0),
    width: '68px',
  },
  {
    id: 'bad',
    title: 'Refused',
    right: true,
    text: (row) => count(row.rowsRefused ?? 0),
    width: '64px',
  },
  { id: 'who', title: 'By', text: ({ username }) => username ?? '', width: 'minmax(80px, 1fr)' },
  {
    id: 'when',
    title: 'Started',
    text: (row) => moment(row.createdDate),
    width: 'minmax(126px, 1fr)',
  },
]
