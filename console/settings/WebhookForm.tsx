import { Alert, Button, Code, Group, MultiSelect, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { eventTypes } from '../../src/platform/event-types.ts'
import { useProducts } from '../shared/api/products.ts'
import type { WebhookWithSecret } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { fieldErrors } from '../shared/form/problems.ts'
import { Failure } from '../shared/view/Failure.tsx'

/** Where to send what; then the secret, this once. */
export function WebhookForm({ onDone }: { onDone: () => void }) {
  const [secret, setSecret] = useState<string>()
  const form = useForm({
    initialValues: {
      url: '',
      types: [] as string[],
      productIDs: [] as string[],
      description: '',
    },
  })
  const save = useWrite<WebhookWithSecret[] | WebhookWithSecret>('post', '/Webhook', {
    onDone: (data) => setSecret([data].flat()[0]?.secret ?? ''),
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const products = useProducts().map(({ productID, name }) => ({
    value: String(productID),
    label: name ?? '',
  }))
  if (secret !== undefined)
    return (
      <Stack>
        <Alert color="yellow" title="Keep this secret now">
          <Text size="sm">
            The receiver checks with it that an event is ours. It is not shown again.
          </Text>
        </Alert>
        <Code block>{secret}</Code>
        <Group justify="flex-end">
          <Button onClick={onDone}>I have kept it</Button>
        </Group>
      </Stack>
    )
  const submit = form.onSubmit(({ types, productIDs, ...rest }) =>
    save.mutate({
      ...rest,
      ...(types.length > 0 && { types }),
      ...(productIDs.length > 0 && { productIDs: productIDs.map(Number) }),
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
          data={[...eventTypes]}
          searchable
          {...form.getInputProps('types')}
        />
        <MultiSelect
          label="Products"
          placeholder={form.values.productIDs.length > 0 ? '' : 'All that you see'}
          data={products}
          searchable
          {...form.getInputProps('productIDs')}
        />
        <TextInput label="Description" {...form.getInputProps('description')} />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            Make the webhook
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
