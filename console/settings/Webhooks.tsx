import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Webhook } from '../shared/api/types.ts'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { count } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Active } from '../shared/view/Status.tsx'
import { OneWebhook } from './OneWebhook.tsx'
import { WebhookForm } from './WebhookForm.tsx'

/** The webhooks that receive events of the registry. */
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
      <FormDrawer opened={opened === 'new'} onClose={close} title="New webhook">
        <WebhookForm onDone={close} />
      </FormDrawer>
      <FormDrawer
        opened={opened !== undefined && opened !== 'new'}
        onClose={close}
        size="xl"
        title={opened && opened !== 'new' ? opened.url : ''}
      >
        {opened && opened !== 'new' && <OneWebhook webhook={opened} onClose={close} />}
      </FormDrawer>
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
