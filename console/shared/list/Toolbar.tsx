import { ActionIcon, Button, Checkbox, Group, Menu, Modal, TextInput, Tooltip } from '@mantine/core'
import { useState } from 'react'
import type { Params } from '../api/client.ts'
import { count } from '../format.ts'
import { tellDone, tellFailure } from '../view/Failure.tsx'
import { Icon, type IconName } from '../view/icons.tsx'
import { type Column, remember, remembered } from './columns.ts'
import { csvOf, save } from './export.ts'
import type { Search } from './filters.ts'
import { printPage } from './paper.ts'

type Props<Row> = {
  id: string
  path: string
  params: Params
  columns: Column<Row>[]
  visible: Column<Row>[]
  onColumns: (ids: string[]) => void
  search: Search
  onSearch: (search: Search) => void
  order: 'asc' | 'desc'
}

/** The tools of every list besides its filters: order, columns, saved views, and CSV export. */
export function Toolbar<Row>(props: Props<Row>) {
  return (
    <Group gap={4}>
      <Order {...props} />
      <Views {...props} />
      <Columns {...props} />
      <Export {...props} />
      <Tool
        name="print"
        label="Print this list"
        onClick={() => void printPage().catch(tellFailure)}
      />
    </Group>
  )
}

const Tool = ({
  name,
  label,
  ...rest
}: {
  name: IconName
  label: string
  onClick?: () => void
}) => (
  <Tooltip label={label}>
    <ActionIcon variant="subtle" color="gray" aria-label={label} {...rest}>
      <Icon name={name} />
    </ActionIcon>
  </Tooltip>
)

/** The order by when records were created; it is stored in the address like a filter. */
function Order<Row>({ order, search, onSearch }: Props<Row>) {
  const next = order === 'desc' ? 'asc' : 'desc'
  return (
    <Tool
      name="order"
      label={next === 'desc' ? 'Newest first' : 'Oldest first'}
      onClick={() => onSearch({ ...search, Order: next })}
    />
  )
}

function Columns<Row>({ columns, visible, onColumns }: Props<Row>) {
  const ids = visible.map(({ id }) => id)
  return (
    <Menu closeOnItemClick={false} position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Columns" title="Columns">
          <Icon name="columns" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Checkbox.Group value={ids} onChange={onColumns} p={6} aria-label="Columns">
          {columns.map(({ id, title }, i) => (
            <Checkbox key={id} value={id} label={title} size="xs" py={4} disabled={i === 0} />
          ))}
        </Checkbox.Group>
      </Menu.Dropdown>
    </Menu>
  )
}

type View = { name: string; search: Search }

function Views<Row>({ id, search, onSearch }: Props<Row>) {
  const [views, setViews] = useState(() => remembered<View[]>(`views.${id}`, []))
  const [name, setName] = useState<string>()
  const keep = (next: View[]) => {
    setViews(next)
    remember(`views.${id}`, next)
  }
  return (
    <>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label="Saved views" title="Saved views">
            <Icon name="bookmark" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {views.map((view) => (
            <Menu.Item key={view.name} onClick={() => onSearch(view.search)}>
              {view.name}
            </Menu.Item>
          ))}
          {views.length > 0 && <Menu.Divider />}
          <Menu.Item onClick={() => setName('')}>Save this view…</Menu.Item>
          {views.length > 0 && <Menu.Item onClick={() => keep([])}>Forget all views</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={name !== undefined} onClose={() => setName(undefined)} title="Save this view">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (!name?.trim()) return
            keep([
              ...views.filter((view) => view.name !== name.trim()),
              { name: name.trim(), search },
            ])
            setName(undefined)
          }}
        >
          <TextInput
            label="Name"
            data-autofocus
            value={name ?? ''}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Group justify="flex-end" mt="md">
            <Button type="submit">Save view</Button>
          </Group>
        </form>
      </Modal>
    </>
  )
}

function Export<Row>({ id, path, params, visible }: Props<Row>) {
  const [rows, setRows] = useState<number>()
  const run = async () => {
    setRows(0)
    try {
      save(await csvOf(path, params, visible, setRows), `${id}.csv`)
      tellDone('The view is saved as CSV.')
    } catch (error) {
      tellFailure(error)
    } finally {
      setRows(undefined)
    }
  }
  if (rows !== undefined) return <span className="quiet">{count(rows)} rows…</span>
  return <Tool name="download" label="Save this view as CSV" onClick={run} />
}
