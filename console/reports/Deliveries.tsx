import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useRead } from '../shared/api/products.ts'
import { useRefresh } from '../shared/api/refresh.ts'
import type { Report, StatementDelivery } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { count, moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import type { Filter } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { tellDone } from '../shared/view/Failure.tsx'
import { Empty } from '../shared/view/Page.tsx'
import { Tag, type Tone } from '../shared/view/Status.tsx'

type Sent = { queued: number; print: number; noAddress: number }

/** The investor statements of a zip: the recipient of each, how it is sent, and its state. */
export function Deliveries({ report }: { report: Report }) {
  const may = useMay()
  const { reportID } = report
  const inState = (State: string) => ({ ReportID: reportID ?? 0, State, PageSize: 1 })
  const queued = useRead<StatementDelivery[]>('/Report/Delivery', inState('Queued'))
  const sending = useRead<StatementDelivery[]>('/Report/Delivery', inState('Sending'))
  useRefresh((queued.data ?? []).length > 0 || (sending.data ?? []).length > 0)
  return (
    <Stack gap="xs" h="max(320px, calc(100dvh - 340px))">
      {may('Report.Write') && <Send report={report} />}
      <ListView<StatementDelivery>
        id="statement-deliveries"
        label="Deliveries"
        path="/Report/Delivery"
        params={{ ReportID: reportID }}
        filters={filters}
        columns={columns}
        empty={<Empty title="No statement">There was nobody to write to.</Empty>}
      />
    </Stack>
  )
}

function Send({ report: { reportID } }: { report: Report }) {
  const [again, setAgain] = useState<boolean>()
  const send = useWrite<Sent | Sent[]>('post', '/Report/Send', {
    onKept: () => setAgain(undefined),
    onDone: (data) => {
      const [sent] = [data].flat()
      setAgain(undefined)
      tellDone(
        `${count(sent?.queued ?? 0)} go by e-mail, ${count(sent?.print ?? 0)} want paper, ` +
          `${count(sent?.noAddress ?? 0)} have no address.`,
      )
    },
  })
  return (
    <Group justify="space-between">
      <Text size="sm" className="quiet">
        Each is sent once, by the holder’s preference.
      </Text>
      <Group gap="xs">
        <Button variant="default" onClick={() => setAgain(true)}>
          Send again
        </Button>
        <Button onClick={() => setAgain(false)}>Send by e-mail</Button>
      </Group>
      <Confirm
        title={again ? 'Send these statements again?' : 'Send these statements?'}
        opened={again !== undefined}
        onClose={() => setAgain(undefined)}
        onConfirm={() => send.mutate({ reportID, ...(again && { again }) })}
        action={again ? 'Send all again' : 'Send them'}
        busy={send.isPending}
        error={send.error}
      >
        {again
          ? 'Statements that were sent already are sent a second time, and failed ones are tried again.'
          : 'Holders who prefer e-mail get theirs. Those who prefer paper or have no address are listed.'}
      </Confirm>
    </Group>
  )
}

const tones: { [state: string]: Tone } = {
  Made: 'over',
  Queued: 'waits',
  Sending: 'moves',
  Sent: 'good',
  Failed: 'wrong',
  Print: 'over',
  NoAddress: 'waits',
}
const words: { [state: string]: string } = {
  Made: 'Not sent',
  Print: 'Paper',
  NoAddress: 'No address',
}
const wordOf = (state: string | null) => words[state ?? ''] ?? state ?? ''

const filters: Filter[] = [
  {
    key: 'State',
    label: 'State',
    kind: 'choice',
    options: Object.keys(tones).map((value) => ({ value, label: wordOf(value) })),
  },
  {
    key: 'AlsoPrint',
    label: 'Paper',
    kind: 'choice',
    options: [{ value: 'true', label: 'Also on paper' }],
  },
]

const columns: Column<StatementDelivery>[] = [
  { id: 'account', title: 'Account', text: ({ accountNumber }) => accountNumber ?? '' },
  { id: 'who', title: 'Investor', text: ({ name }) => name ?? '', width: 'minmax(150px, 2fr)' },
  { id: 'email', title: 'E-mail', text: ({ email }) => email ?? '', width: 'minmax(150px, 2fr)' },
  {
    id: 'state',
    title: 'State',
    text: ({ state }) => wordOf(state),
    cell: ({ state }) => state && <Tag tone={tones[state] ?? 'over'}>{wordOf(state)}</Tag>,
    width: '100px',
  },
  {
    id: 'paper',
    title: 'Paper',
    text: ({ alsoPrint }) => (alsoPrint ? 'Also on paper' : ''),
    width: '110px',
  },
  { id: 'why', title: 'Reason', text: ({ reason }) => reason ?? '', width: 'minmax(120px, 2fr)' },
  {
    id: 'when',
    title: 'Since',
    text: (row) => moment(row.stateDate),
    width: 'minmax(140px, 1fr)',
    spare: true,
  },
]
