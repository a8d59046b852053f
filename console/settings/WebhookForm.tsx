import { Button, Group, MultiSelect, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { eventTypes } from '../../src/platform/event-types.ts'
import { useProductOptions } from '../shared/api/products.ts'
import type { Tagged } from '../shared/api/tagged.ts'
import type { Webhook, WebhookWithSecret } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { Once } from '../shared/form/Once.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'

type Props = { tagged?: Tagged<Webhook>; onDone: () => void }

/**
 * The form of a webhook: its address and its events. For a new webhook it then shows the secret,
 * once.
 */
export function WebhookForm({ tagged, onDone }: Props) {
  const webhook = tagged?.record
  const [secret, setSecret] = useState<string>()
  const form = useForm({
    initialValues: {
      url: webhook?.url ?? '',
      types: webhook?.types ?? [],
      productIDs: (webhook?.productIDs ?? []).map(String),
      description: webhook?.description ?? '',
      isActive: webhook?.isActive ?? true,
    },
  })
  const save = useWrite<WebhookWithSecret[]>(webhook ? 'put' : 'post', '/Webhook', {
    tagged,
    isShownOnce: !webhook,
    onKept: (made) => (made === undefined ? onDone() : setSecret(made)),
    onDone: (data) => {
      if (!webhook) return setSecret([data].flat()[0]?.secret ?? '')
      tellDone('The webhook is saved.')
      onDone()
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const products = useProductOptions()
  if (secret !== undefined) return <SecretOnce secret={secret} onKept={onDone} />
  // An empty list is sent as well: it asks for all, where a list that is left out would stay.
  const submit = form.onSubmit(({ productIDs, ...rest }) =>
    save.mutate({
      ...rest,
      ...(webhook && { webhookID: webhook.webhookID }),
      productIDs: productIDs.map(Number),
    }),
  )
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        <TextInput
          label="Address"
          placeholder="https://example.com/registry"
          required
          {...form.getInputProps('url')}
        />
        <MultiSelect
          label="Events"
          placeholder={form.values.types.length > 0 ? '' : 'All'}
          description="With none chosen, events of every type are sent."
          data={[...eventTypes]}
          searchable
          {...form.getInputProps('types')}
        />
        <MultiSelect
          label="Products"
          placeholder={form.values.productIDs.length > 0 ? '' : 'All that you see'}
          description="With none chosen, events of all products that you see are sent."
          data={products}
          searchable
          {...form.getInputProps('productIDs')}
        />
        <TextInput label="Description" {...form.getInputProps('description')} />
        <Switch
          label="Active"
          description="An inactive webhook is told nothing."
          {...form.getInputProps('isActive', { type: 'checkbox' })}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            {webhook ? 'Save' : 'Make the webhook'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

type SecretProps = { secret: string; onKept: () => void }

export const SecretOnce = (props: SecretProps) => (
  <Once {...props}>
    Keep this secret now: the receiver checks with it that an event is ours. It is not shown again.
  </Once>
)
