import { Button, Group, Text } from '@mantine/core'
import type { LinkProps } from '@tanstack/react-router'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import type { Params } from '../api/client.ts'
import { count } from '../format.ts'
import { Empty } from '../view/Page.tsx'
import { Chips } from './Chips.tsx'
import { type Column, remember, remembered } from './columns.ts'
import { type Filter, paramsOf, readSearch, type Search } from './filters.ts'
import { type Chosen, List } from './List.tsx'
import { visited } from './places.ts'
import { Toolbar } from './Toolbar.tsx'
import { useRows } from './use-rows.ts'

export type ListViewProps<Row> = {
  /** The name of the list in browser storage and in file names. */
  id: string
  label: string
  path: string
  params: Params
  filters: Filter[]
  columns: Column<Row>[]
  to?: (row: Row) => LinkProps
  onOpen?: (row: Row) => void
  empty: ReactNode
  chosen?: Chosen<Row>
}

/** A list of the API with its filters in the address. */
export function ListView<Row>(props: ListViewProps<Row>) {
  const { id, label, path, filters, columns, to, onOpen, empty, chosen } = props
  const search = readSearch(useSearch({ strict: false }))
  const view = JSON.stringify(search)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view is another address.
  useEffect(visited, [view])
  const navigate = useNavigate()
  const onSearch = (next: Search) => void navigate({ to: '.', search: next as never })
  const ordinary = columns.filter(({ spare }) => !spare).map((column) => column.id)
  const [ids, setIds] = useState(() => remembered<string[]>(`columns.${id}`, ordinary))
  const visible = columns.filter((column, i) => i === 0 || ids.includes(column.id))
  const order = (search.Order ?? props.params.Order) === 'desc' ? 'desc' : 'asc'
  const params = { ...props.params, Order: order, ...paramsOf(filters, search) }
  const rows = useRows<Row>(path, params)
  const onColumns = (next: string[]) => {
    setIds(next)
    remember(`columns.${id}`, next)
  }
  // The list is empty although no filter is set: show only the empty state.
  const isBare = rows.total === 0 && Object.keys(paramsOf(filters, search)).length === 0
  const list = (
    <List
      key={view}
      {...{ label, rows, params, columns: visible }}
      empty={isBare ? empty : <Hidden onClear={() => onSearch({})} />}
      {...(to && { to })}
      {...(onOpen && { onOpen })}
      {...(chosen && { chosen })}
    />
  )
  if (isBare) return list
  return (
    <>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <Group gap="xs">
          {rows.total !== undefined && (
            <Text size="sm" className="quiet">
              {count(rows.total)} {rows.total === 1 ? 'row' : 'rows'}
            </Text>
          )}
          <Chips filters={filters} search={search} onChange={onSearch} />
        </Group>
        <Toolbar {...{ id, path, params, columns, visible, onColumns, onSearch, search, order }} />
      </Group>
      {list}
    </>
  )
}

/** Shown when rows may exist but none match the filters. */
const Hidden = ({ onClear }: { onClear: () => void }) => (
  <Empty title="Nothing like this">
    The filters leave nothing.
    <Group justify="center" mt="sm">
      <Button size="xs" variant="default" onClick={onClear}>
        Clear the filters
      </Button>
    </Group>
  </Empty>
)
