import { Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { day, moment } from '../format.ts'
import { readSearch } from '../list/filters.ts'
import { Icon } from '../view/icons.tsx'
import { DateField } from './fields.tsx'

/** A look back: the register as at a date, as known at a moment, or both. */
export type Past = { date?: string; knownAt?: string }

/** The look back of the current page, stored in the address like a filter. */
export function usePast(): [past: Past, look: (past: Past) => void] {
  const { Date: date, KnownAt: knownAt, ...rest } = readSearch(useSearch({ strict: false }))
  const navigate = useNavigate()
  const look = (past: Past) =>
    void navigate({ to: '.', search: { ...rest, ...pastParams(past) } as never })
  const isMoment = knownAt && !Number.isNaN(Date.parse(knownAt))
  return [{ ...(date && { date }), ...(isMoment && { knownAt }) }, look]
}

type Props = { past: Past; onChange: (past: Past) => void; withDate?: boolean }

/** The look back as parameters of a list read. */
export const pastParams = ({ date, knownAt }: Past) => ({
  ...(date && { Date: date }),
  ...(knownAt && { KnownAt: knownAt }),
})

/**
 * Lets the user see the register as it stood on a date, or as it was known at an earlier moment.
 */
export function PastControl({ past, onChange, withDate = false }: Props) {
  const [open, setOpen] = useState(false)
  const isPast = past.date || past.knownAt
  const words = [
    past.date && `as at ${day(past.date)}`,
    past.knownAt && `as known ${moment(past.knownAt)}`,
  ].filter(Boolean)
  return (
    <Group gap="xs">
      {isPast && (
        <Button size="compact-sm" variant="subtle" color="gray" onClick={() => onChange({})}>
          Back to now
        </Button>
      )}
      <Popover opened={open} onChange={setOpen} position="bottom-end" trapFocus shadow="md">
        <Popover.Target>
          <Button
            size="compact-sm"
            variant={isPast ? 'light' : 'default'}
            leftSection={<Icon name="clock" size={14} />}
            onClick={() => setOpen(!open)}
          >
            {words.join(', ') || 'Look back'}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Fields
            past={past}
            withDate={withDate}
            onDone={(next) => {
              setOpen(false)
              onChange(next)
            }}
          />
        </Popover.Dropdown>
      </Popover>
    </Group>
  )
}

/** A moment for a datetime-local field, in the browser's time zone. */
const momentField = (knownAt: string) => {
  const at = new Date(knownAt)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

type FieldsProps = { past: Past; withDate: boolean; onDone: (past: Past) => void }

function Fields({ past, withDate, onDone }: FieldsProps) {
  const [date, setDate] = useState(past.date ?? '')
  const [knownAt, setKnownAt] = useState(past.knownAt ? momentField(past.knownAt) : '')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onDone({
          ...(date && { date }),
          ...(knownAt && { knownAt: new Date(knownAt).toISOString() }),
        })
      }}
    >
      <Stack gap="xs" w={250}>
        {withDate && (
          <DateField
            label="As at the end of"
            value={date}
            onChange={(event) => setDate(event.currentTarget.value)}
          />
        )}
        <TextInput
          type="datetime-local"
          label="As known at"
          value={knownAt}
          onChange={(event) => setKnownAt(event.currentTarget.value)}
        />
        <Text size="xs" className="quiet">
          Anything entered or corrected after that moment is left out.
        </Text>
        <Button type="submit" size="xs">
          Show
        </Button>
      </Stack>
    </form>
  )
}
