import { Button, Group, MultiSelect, Stack, TagsInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useReadAll } from '../shared/api/pages.ts'
import { useProductNames, useProductOptions } from '../shared/api/products.ts'
import { useSession } from '../shared/api/session.ts'
import type { ApiKey, NewApiKey } from '../shared/api/types.ts'
import { stays, useWrite } from '../shared/api/write.ts'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { DateField } from '../shared/form/fields.tsx'
import { Once } from '../shared/form/Once.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { Remove } from '../shared/form/Remove.tsx'
import { count, endOf, moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { Answer } from '../shared/view/Answer.tsx'
import { Failure } from '../shared/view/Failure.tsx'
import { Card, Empty } from '../shared/view/Page.tsx'
import { Rows } from '../shared/view/Rows.tsx'

/**
 * The user's API keys, with which programs act for the user; each has no more rights than it needs.
 */
export function ApiKeys() {
  const { user } = useSession()
  const [adding, setAdding] = useState(false)
  const names = useProductNames()
  const read = useReadAll<ApiKey>('/ApiKey', { UserID: user?.userID })
  const columns: Column<ApiKey>[] = [
    { id: 'name', title: 'Name', text: ({ name }) => name ?? '' },
    {
      id: 'rights',
      title: 'Permissions',
      right: true,
      text: (row) => count(row.permissions.length),
    },
    { id: 'products', title: 'Products', text: ({ productIDs }) => names(productIDs) },
    { id: 'from', title: 'From', text: (row) => row.allowedNetworks?.join(', ') ?? 'anywhere' },
    { id: 'until', title: 'Until', text: (row) => moment(row.expires) || 'further notice' },
    { id: 'used', title: 'Last used', text: (row) => moment(row.lastUsedDate) || 'never' },
    {
      id: 'end',
      title: 'End',
      text: () => '',
      cell: ({ apiKeyID, name }) => (
        <Remove
          path="/ApiKey"
          params={{ ApiKeyID: apiKeyID ?? 0 }}
          verb="End"
          what="the key"
          done="The key works no more."
          onDone={stays}
          button={{ size: 'compact-xs', 'aria-label': `End the key ${name}` }}
        >
          Whatever signs in with <bdi>{name}</bdi> is refused from then on. A key that has ended
          does not come back.
        </Remove>
      ),
    },
  ]
  return (
    <Card
      title="API keys"
      padded={false}
      actions={
        <Button size="xs" variant="default" onClick={() => setAdding(true)}>
          New key
        </Button>
      }
    >
      <Answer of={read}>
        {(keys) =>
          keys.length === 0 ? (
            <Empty title="No key yet">
              A program signs in with a key instead of your password.
            </Empty>
          ) : (
            <Rows
              label="API keys"
              columns={columns}
              rows={keys}
              keyOf={({ apiKeyID }) => apiKeyID ?? 0}
            />
          )
        }
      </Answer>
      <FormDrawer opened={adding} onClose={() => setAdding(false)} title="New key">
        <KeyForm onDone={() => setAdding(false)} />
      </FormDrawer>
    </Card>
  )
}

function KeyForm({ onDone }: { onDone: () => void }) {
  const { user } = useSession()
  const [key, setKey] = useState<string>()
  const form = useForm({
    initialValues: {
      name: '',
      permissions: [] as string[],
      productIDs: [] as string[],
      allowedNetworks: [] as string[],
      expires: '',
    },
  })
  const products = useProductOptions()
  const make = useWrite<NewApiKey | NewApiKey[]>('post', '/ApiKey', {
    onKept: stays,
    isShownOnce: true,
    onDone: (data) => setKey([data].flat()[0]?.key ?? ''),
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  if (key !== undefined)
    return (
      <Once secret={key} onKept={onDone}>
        Keep the key now; it is not shown again.
      </Once>
    )
  const submit = form.onSubmit(({ productIDs, allowedNetworks, expires, ...rest }) =>
    make.mutate({
      ...rest,
      ...(productIDs.length > 0 && { productIDs: productIDs.map(Number) }),
      ...(allowedNetworks.length > 0 && { allowedNetworks }),
      ...(expires && { expires: endOf(expires) }),
    }),
  )
  const { productIDs, allowedNetworks } = form.values
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {make.error && <Failure error={make.error} />}
        <TextInput
          label="Name"
          placeholder="Nightly prices"
          required
          {...form.getInputProps('name')}
        />
        <MultiSelect
          label="Permissions"
          description="Never more than your own."
          data={user?.permissions ?? []}
          searchable
          {...form.getInputProps('permissions')}
        />
        <MultiSelect
          label="Products"
          placeholder={productIDs.length > 0 ? '' : 'All that you see'}
          data={products}
          searchable
          {...form.getInputProps('productIDs')}
        />
        <TagsInput
          label="Allowed networks"
          description="Where the program runs; empty: from anywhere."
          placeholder={allowedNetworks.length > 0 ? '' : '203.0.113.0/24'}
          {...form.getInputProps('allowedNetworks')}
        />
        <DateField
          label="Until"
          description="Empty: until it is ended."
          {...form.getInputProps('expires')}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={make.isPending}>
            Make the key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
