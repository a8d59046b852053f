import { Box, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useState } from 'react'
import type { Webhook, WebhookWithSecret } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { Confirm } from '../shared/form/Confirm.tsx'
import { Edited } from '../shared/form/Edited.tsx'
import { Remove } from '../shared/form/Remove.tsx'
import { useMay } from '../shared/permission.ts'
import { Card } from '../shared/view/Page.tsx'
import { Deliveries } from './Deliveries.tsx'
import { SecretOnce, WebhookForm } from './WebhookForm.tsx'

type Props = { webhook: Webhook; onClose: () => void }

/** One webhook: its deliveries, its settings, and its secret. */
export function OneWebhook({ webhook, onClose }: Props) {
  const canWrite = useMay()('Webhook.Write')
  const [secret, setSecret] = useState<string>()
  return (
    <>
      {secret !== undefined && <SecretOnce secret={secret} onKept={() => setSecret(undefined)} />}
      {/* Until the user has kept the secret, everything else is hidden; typed values stay in
          the hidden form. */}
      <Box hidden={secret !== undefined}>
        <Tabs defaultValue="deliveries" keepMounted={false}>
          <Tabs.List mb="md">
            <Tabs.Tab value="deliveries">Deliveries</Tabs.Tab>
            {canWrite && <Tabs.Tab value="edit">Edit</Tabs.Tab>}
          </Tabs.List>
          <Tabs.Panel value="deliveries">
            <Deliveries webhook={webhook} />
          </Tabs.Panel>
          <Tabs.Panel value="edit">
            <Stack>
              <Edited<Webhook> path="/Webhook" params={{ WebhookID: webhook.webhookID }}>
                {(tagged) => <WebhookForm tagged={tagged} onDone={onClose} />}
              </Edited>
              <Secret webhook={webhook} onSecret={setSecret} />
              <Group justify="flex-end">
                <Remove
                  path="/Webhook"
                  params={{ WebhookID: webhook.webhookID ?? 0 }}
                  what="the webhook"
                  done="The webhook is deleted."
                  onDone={onClose}
                  button={{ variant: 'subtle', color: 'red' }}
                >
                  Nothing more is sent to it, and its deliveries are forgotten. To stop for a while,
                  make it inactive instead.
                </Remove>
              </Group>
            </Stack>
          </Tabs.Panel>
        </Tabs>
      </Box>
    </>
  )
}

type SecretProps = { webhook: Webhook; onSecret: (secret: string) => void }

function Secret({ webhook: { webhookID }, onSecret }: SecretProps) {
  const [asked, setAsked] = useState(false)
  const rotate = useWrite<WebhookWithSecret[]>('post', '/Webhook/RotateSecret', {
    onKept: (made) => {
      setAsked(false)
      if (made !== undefined) onSecret(made)
    },
    isShownOnce: true,
    onDone: (data) => {
      setAsked(false)
      onSecret([data].flat()[0]?.secret ?? '')
    },
  })
  return (
    <Card title="Secret">
      <Group justify="space-between">
        <Text size="sm">For a day both the old and the new one are good.</Text>
        <Button variant="default" onClick={() => setAsked(true)}>
          Make a new secret
        </Button>
      </Group>
      <Confirm
        title="Make a new secret?"
        opened={asked}
        onClose={() => setAsked(false)}
        onConfirm={() => rotate.mutate({ webhookID })}
        action="Make it"
        busy={rotate.isPending}
        error={rotate.error}
      >
        Events are signed with both for 24 hours; by then the receiver must know the new one.
      </Confirm>
    </Card>
  )
}
