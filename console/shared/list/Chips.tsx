import { Button, CloseButton, Group, Menu, Popover, Select, Stack, TextInput } from '@mantine/core'
import { type RefObject, useRef, useState } from 'react'
import { useLookups } from '../api/lookups.ts'
import { years } from '../form/fields.tsx'
import { day } from '../format.ts'
import { Icon } from '../view/icons.tsx'
import classes from './chips.module.css'
import type { Filter, Search } from './filters.ts'

type Props = { filters: Filter[]; search: Search; onChange: (search: Search) => void }

/** The active filters as chips that can be changed or removed, and a menu of the other filters. */
export function Chips({ filters, search, onChange }: Props) {
  const [fresh, setFresh] = useState<string>()
  const menu = useRef<HTMLButtonElement>(null)
  const set = (key: string, value: string) => {
    setFresh(undefined)
    const { [key]: _old, ...rest } = search
    onChange(value ? { ...rest, [key]: value } : rest)
    if (!value) findAgain(menu)
  }
  const shown = filters.filter(({ key }) => search[key] || key === fresh)
  const others = filters.filter(({ key }) => !search[key])
  return (
    <Group gap={6}>
      {shown.map((filter) => (
        <Chip
          key={filter.key}
          filter={filter}
          value={search[filter.key] ?? ''}
          opened={filter.key === fresh}
          onChange={(value) => set(filter.key, value)}
          onClose={() => {
            setFresh(undefined)
            findAgain(menu)
          }}
        />
      ))}
      {others.length > 0 && (
        <Menu position="bottom-start" shadow="md">
          <Menu.Target>
            <Button
              ref={menu}
              size="compact-sm"
              variant="subtle"
              color="gray"
              leftSection={<Icon name="filter" size={14} />}
            >
              Filter
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {others.map(({ key, label }) => (
              <Menu.Item key={key} onClick={() => setFresh(key)}>
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {shown.length > 1 && (
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          onClick={() => {
            onChange({})
            findAgain(menu)
          }}
        >
          Clear
        </Button>
      )}
    </Group>
  )
}

/** The time a closed popover takes to fade out. */
const fadedMs = 200

/**
 * When the focused element has disappeared, moves the focus here and not to the top of the page.
 */
const findAgain = ({ current }: RefObject<HTMLElement | null>) =>
  setTimeout(() => document.activeElement === document.body && current?.focus(), fadedMs)

type ChipProps = {
  filter: Filter
  value: string
  opened: boolean
  onChange: (value: string) => void
  onClose: () => void
}

function Chip({ filter, value, opened, onChange, onClose }: ChipProps) {
  const [open, setOpen] = useState(opened)
  const chip = useRef<HTMLButtonElement>(null)
  const shown = useShownValue(filter, value)
  const close = () => {
    setOpen(false)
    findAgain(chip)
    onClose()
  }
  return (
    <Popover opened={open} onChange={(next) => !next && close()} position="bottom-start" trapFocus>
      <span className={classes.chip}>
        <Popover.Target>
          <button ref={chip} type="button" onClick={() => setOpen(true)}>
            <span className="quiet">{filter.label}</span> {shown || '…'}
          </button>
        </Popover.Target>
        <CloseButton
          size="xs"
          aria-label={`Remove the filter ${filter.label}`}
          onClick={() => onChange('')}
        />
      </span>
      <Popover.Dropdown>
        <Editor
          filter={filter}
          value={value}
          onDone={(next) => {
            close()
            onChange(next)
          }}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

const isDay = ({ kind }: Filter) => kind === 'date' || kind === 'moment'

function useShownValue(filter: Filter, value: string): string {
  const { name } = useLookups()
  if (filter.kind === 'lookup') return name(filter.category, Number(value))
  if (isDay(filter)) return day(value)
  if (filter.kind === 'choice')
    return filter.options.find((option) => option.value === value)?.label ?? value
  return value
}

type EditorProps = { filter: Filter; value: string; onDone: (value: string) => void }

function Editor({ filter, value, onDone }: EditorProps) {
  const { options } = useLookups()
  const [text, setText] = useState(value)
  if (filter.kind === 'lookup' || filter.kind === 'choice')
    return (
      <Select
        label={filter.label}
        data={filter.kind === 'lookup' ? options(filter.category) : filter.options}
        value={value || null}
        onChange={(next) => onDone(next ?? '')}
        comboboxProps={{ withinPortal: false }}
        searchable
        data-autofocus
      />
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onDone(text.trim())
      }}
    >
      <Stack gap="xs">
        <TextInput
          label={filter.label}
          {...(isDay(filter) && { type: 'date', ...years })}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          data-autofocus
        />
        <Button type="submit" size="xs">
          Apply
        </Button>
      </Stack>
    </form>
  )
}
