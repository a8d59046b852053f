import { Button, Group, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Tagged } from '../shared/api/tagged.ts'
import type { Product } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { LookupField } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { useMay } from '../shared/permission.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'

type Props = { tagged?: Tagged<Product>; onDone: (saved: Product) => void }

const blank = {
  name: '',
  externalProductId: '' as string | null,
  currencyID: 1 as number | null,
  description: '' as string | null,
  isActive: true as boolean | null,
}

export function ProductForm({ tagged, onDone }: Props) {
  const product = tagged?.record
  const readOnly = !useMay()('Product.Write')
  const form = useForm({ initialValues: { ...blank, ...product } })
  const save = useWrite<Product[]>(product ? 'put' : 'post', '/Product', {
    tagged,
    onKept: () => product && onDone(product),
    onDone: ([saved]) => {
      tellDone(product ? 'The product is saved.' : 'The product is made.')
      if (saved) onDone(saved)
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        <TextInput label="Name" required {...form.getInputProps('name')} readOnly={readOnly} />
        <TextInput
          label="External id"
          description="Your own reference for the product."
          {...form.getInputProps('externalProductId')}
          value={form.values.externalProductId ?? ''}
        />
        <LookupField
          label="Currency"
          category="Currency"
          required
          {...form.getInputProps('currencyID')}
        />
        <Textarea
          label="Description"
          autosize
          minRows={2}
          {...form.getInputProps('description')}
          value={form.values.description ?? ''}
        />
        <Switch
          label="Active"
          description="An inactive product takes no deposits and no new distributions."
          {...form.getInputProps('isActive', { type: 'checkbox' })}
        />
        {!readOnly && (
          <Group justify="flex-end" mt="xs">
            <Button type="submit" loading={save.isPending}>
              {product ? 'Save' : 'Make the product'}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}
