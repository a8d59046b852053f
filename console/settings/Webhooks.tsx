import { Button, Drawer, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Webhook, WebhookDelivery } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { DateField } from '../shared/form/fields.tsx'
import { count, moment, today } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Active, Tag, type Tone } from '../shared/view/Status.tsx'
import { WebhookForm } from './WebhookForm.tsx'

/** Who is told what happens here, and whether it reached them. */
export function Webhooks() {
  const may = useMay()
  const [opened, setOpened] = useState<Webhook | 'new'>()
  const close = () => setOpened(undefined)
  const add = may('Webhook.Write') && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpened('new')}>
      New webhook
    </Button>
  )
  return (
    <Page title="Webhooks" actions={add}>
      <ListView<Webhook>
        id="webhooks"
        label="Webhooks"
        path="/Webhook"
        params={{}}
        filters={[]}
        columns={columns}
        onOpen={setOpened}
        empty={
          <Empty title="No webhook yet">
            A webhook tells another system by POST what happens here, signed with a secret.
          </Empty>
        }
      />
      <Drawer opened={opened === 'new'} onClose={close} title="New webhook">
        <WebhookForm onDone={close} />
      </Drawer>
      <Drawer
        opened={opened !== undefined && opened !== 'new'}
        onClose={close}
        size="xl"
        title="Deliveries"
      >
        {opened && opened !== 'new' && <Deliveries webhook={opened} />}
      </Drawer>
    </Page>
  )
}

const columns: Column<Webhook>[] = [
  { id: 'url', title: 'Address', text: ({ url }) => url ?? '', width: 'minmax(260px, 3fr)' },
  {
    id: 'what',
    title: 'What',
    text: ({ types }) => (types.length > 0 ? types.join(', ') : 'Everything'),
    width: 'minmax(160px, 2fr)',
  },
  {
    id: 'failures',
    title: 'Failed in a row',
    right: true,
    text: ({ failureCount }) => count(failureCount ?? 0),
  },
  {
    id: 'state',
    title: 'State',
    text: ({ isActive }) => (isActive ? 'Active' : 'Inactive'),
    cell: ({ isActive }) => <Active on={isActive} />,
    width: '100px',
  },
]

const tones: { [status: string]: Tone } = { pending: 'waits', delivered: 'good', failed: 'wrong' }

function Deliveries({ webhook: { webhookID } }: { webhook: Webhook }) {
  const may = useMay()
  const [from, setFrom] = useState(today())
  const replay = useWrite('post', '/Webhook/Replay', {
    onDone: () => tellDone('The events are sent again.'),
  })
  const test = useWrite('post', '/Webhook/Test', { onDone: () => tellDone('A test is sent.') })
  const error = replay.error ?? test.error
  return (
    <Stack h="calc(100dvh - 100px)">
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
          <Group align="flex-end" gap="xs">
            <DateField
              label="Events since"
              value={from}
              onChange={(event) => setFrom(event.currentTarget.value)}
            />
            <Button
              loading={replay.isPending}
              onClick={() => replay.mutate({ webhookID, from: new Date(from).toISOString() })}
            >
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
        filters={[]}
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
