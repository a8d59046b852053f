import { Button, Fieldset, Group, Stack, Switch, Tabs, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Tagged } from '../shared/api/tagged.ts'
import type { Product } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { LookupField } from '../shared/form/fields.tsx'
import { fieldErrors } from '../shared/form/problems.ts'
import { useMay } from '../shared/permission.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { IssuerFields } from './IssuerFields.tsx'
import { MoneyFields } from './MoneyFields.tsx'
import { type ProductPart, type ProductValues, valuesOf } from './product-values.ts'

/** Whether anything of the issuer is entered; without a name the service then asks for one. */
const isGiven = (issuer: ProductValues['issuer']) => Object.values(issuer).some(Boolean)

type Props = { tagged?: Tagged<Product>; onDone: (saved: Product) => void; onKept: () => void }

export function ProductForm({ tagged, onDone, onKept }: Props) {
  const product = tagged?.record
  const readOnly = !useMay()('Product.Write')
  const form = useForm<ProductValues>({ initialValues: valuesOf(product) })
  const save = useWrite<Product[]>(product ? 'put' : 'post', '/Product', {
    tagged,
    onKept,
    onDone: ([saved]) => {
      tellDone(product ? 'The product is saved.' : 'The product is created.')
      if (saved) onDone(saved)
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const submit = form.onSubmit(({ issuer, ...values }) =>
    save.mutate({
      ...(product && { productID: product.productID }),
      ...values,
      issuer: isGiven(issuer) ? issuer : null,
    }),
  )
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {save.error && <Failure error={save.error} />}
        {product ? (
          <Tabs defaultValue="product" keepMounted={false}>
            <Tabs.List mb="sm">
              <Tabs.Tab value="product">Product</Tabs.Tab>
              <Tabs.Tab value="money">Money, tax and lock</Tabs.Tab>
              <Tabs.Tab value="issuer">Issuer</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="product">
              <Fieldset variant="unstyled" disabled={readOnly}>
                <OwnFields form={form} />
              </Fieldset>
            </Tabs.Panel>
            <Tabs.Panel value="money">
              <Fieldset variant="unstyled" disabled={readOnly}>
                <MoneyFields form={form} />
              </Fieldset>
            </Tabs.Panel>
            <Tabs.Panel value="issuer">
              <Fieldset variant="unstyled" disabled={readOnly}>
                <IssuerFields form={form} productID={product.productID} />
              </Fieldset>
            </Tabs.Panel>
          </Tabs>
        ) : (
          <OwnFields form={form} />
        )}
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

const OwnFields = ({ form }: ProductPart) => (
  <Stack gap="sm">
    <TextInput label="Name" required {...form.getInputProps('name')} />
    <TextInput
      label="External id"
      description="Your own reference for the product."
      {...form.getInputProps('externalProductId')}
    />
    <LookupField
      label="Currency"
      category="Currency"
      required
      {...form.getInputProps('currencyID')}
    />
    <TextInput
      label="Time zone"
      description="Whose day is the day of the product."
      placeholder="Australia/Sydney"
      {...form.getInputProps('timeZone')}
    />
    <Textarea label="Description" autosize minRows={2} {...form.getInputProps('description')} />
    <Switch
      label="Active"
      description="An inactive product takes no deposits and no new distributions."
      {...form.getInputProps('isActive', { type: 'checkbox' })}
    />
  </Stack>
)
