import { Button, Group, Stack, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Webhook, WebhookDelivery } from '../shared/api/types.ts'
import { stays, useWrite } from '../shared/api/write.ts'
import { DateField } from '../shared/form/fields.tsx'
import { beginOf, count, moment, today } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Empty } from '../shared/view/Page.tsx'
import { Tag, type Tone } from '../shared/view/Status.tsx'

const tones: { [status: string]: Tone } = { pending: 'waits', delivered: 'good', failed: 'wrong' }
const states = Object.keys(tones).map((value) => ({ value, label: value }))

/** The deliveries of a webhook and the answers to them. */
export function Deliveries({ webhook: { webhookID } }: { webhook: Webhook }) {
  const may = useMay()
  const [from, setFrom] = useState(today())
  const replay = useWrite('post', '/Webhook/Replay', {
    onDone: () => tellDone('The events are sent again.'),
    onKept: stays,
  })
  const test = useWrite('post', '/Webhook/Test', {
    onDone: () => tellDone('A test is sent.'),
    onKept: stays,
  })
  const error = replay.error ?? test.error
  const sendAgain = (event: FormEvent) => {
    event.preventDefault()
    replay.mutate({ webhookID, from: beginOf(from) })
  }
  return (
    <Stack h="calc(100dvh - 150px)">
      {error && <Failure error={error} />}
      {may('Webhook.Write') && (
        <Group align="flex-end" justify="space-between">
          <Button
            variant="default"
            loading={test.isPending}
            onClick={() => test.mutate({ webhookID })}
          >
            Send a test
          </Button>
          <Group align="flex-end" gap="xs" component="form" onSubmit={sendAgain}>
            <DateField
              label="Events since"
              value={from}
              onChange={(event) => setFrom(event.currentTarget.value)}
            />
            <Button type="submit" loading={replay.isPending} disabled={!from}>
              Send again
            </Button>
          </Group>
        </Group>
      )}
      <ListView<WebhookDelivery>
        id="deliveries"
        label="Deliveries"
        path="/Webhook/Delivery"
        params={{ WebhookID: webhookID, Order: 'desc' }}
        filters={[{ key: 'Status', label: 'State', kind: 'choice', options: states }]}
        columns={deliveryColumns}
        empty={
          <Empty title="Nothing was sent yet">
            <Text size="sm">Each event stands here, with what the receiver answered.</Text>
          </Empty>
        }
      />
    </Stack>
  )
}

const deliveryColumns: Column<WebhookDelivery>[] = [
  { id: 'type', title: 'Event', text: ({ type }) => type ?? '', width: 'minmax(170px, 2fr)' },
  {
    id: 'state',
    title: 'State',
    text: ({ status }) => status ?? '',
    cell: ({ status }) => status && <Tag tone={tones[status] ?? 'over'}>{status}</Tag>,
  },
  { id: 'tries', title: 'Tries', right: true, text: ({ attempts }) => count(attempts ?? 0) },
  {
    id: 'answer',
    title: 'Answer',
    text: (row) => String(row.responseStatus ?? row.errorMessage ?? ''),
  },
  {
    id: 'when',
    title: 'When',
    text: (row) => moment(row.completedDate ?? row.createdDate),
    width: 'minmax(140px, 1fr)',
  },
]
