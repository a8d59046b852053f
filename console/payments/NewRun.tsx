import { Button, Checkbox, Group, Select, Stack, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useSearch } from '@tanstack/react-router'
import type { PaymentRunInput } from '../../src/money/payment-run/schema.ts'
import { readBy } from '../distributions/key.ts'
import { distributionName } from '../distributions/words.ts'
import { useCurrency, useCurrencyOptions } from '../shared/api/money.ts'
import { useProduct, useRead } from '../shared/api/products.ts'
import type { Distribution, PaymentRun } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { DateField, DecimalField, Row } from '../shared/form/fields.tsx'
import { LeaveGuard } from '../shared/form/LeaveGuard.tsx'
import { useLeave } from '../shared/form/leave.ts'
import { fieldErrors } from '../shared/form/problems.ts'
import { readSearch } from '../shared/list/filters.ts'
import { useMay } from '../shared/permission.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Card, Page } from '../shared/view/Page.tsx'

const blank = {
  sources: ['Distribution', 'Redemption', 'Residual'],
  processingDate: '',
  upToDate: '',
  minimumAmount: '',
  currencyID: '',
  format: 'ABA' as PaymentRunInput['format'],
  balanced: true,
  fundingAccount: {
    bsb: '',
    accountNumber: '',
    accountName: '',
    bankCode: '',
    userID: '',
    remitterName: '',
  },
}

type Form = ReturnType<typeof useForm<typeof blank>>

const formats: { value: PaymentRunInput['format']; label: string }[] = [
  { value: 'ABA', label: 'ABA, for Australian banks' },
  { value: 'pain.001', label: 'ISO 20022, pain.001' },
  { value: 'cheque list', label: 'List of cheques' },
]

/** The initial values: for everything owed, or for one distribution in its currency. */
function useInitialValues(): typeof blank {
  const product = useProduct()
  const nameOf = useCurrency()
  const { distribution, currencyID = String(product.currencyID) } = readSearch(
    useSearch({ strict: false }),
  )
  return {
    ...blank,
    currencyID,
    sources: distribution ? ['Distribution'] : blank.sources,
    processingDate: product.today(),
    format: nameOf({ currencyID: Number(currencyID) }) === 'AUD' ? 'ABA' : 'pain.001',
  }
}

/** Creates a draft payment run of everything that is payable. */
export function NewRun() {
  const { productID, slug } = useProduct()
  const { distribution } = readSearch(useSearch({ strict: false }))
  const [saved, leave] = useLeave()
  const list = `/${slug}/payments`
  const form = useForm({ initialValues: useInitialValues() })
  const make = useWrite<PaymentRun[]>('post', '/PaymentRun', {
    onDone: ([run]) => {
      tellDone('The draft is ready. Nobody is paid until somebody else approves it.')
      leave(`${list}/${run?.paymentRunID ?? ''}`)
    },
    onKept: () => leave(list),
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  const only = distribution ? { corporateActionIDs: [Number(distribution)] } : {}
  return (
    <Page title="New payment run" back={{ to: list, label: 'Payments' }} narrow>
      <form
        onSubmit={form.onSubmit(({ currencyID, ...values }) =>
          make.mutate({ ...values, ...only, productID, currencyID: Number(currencyID) }),
        )}
      >
        <LeaveGuard dirty={form.isDirty() && !saved} />
        <Stack>
          {make.error && <Failure error={make.error} />}
          <Payables form={form} distribution={distribution} />
          <Funding form={form} />
          <Group justify="flex-end">
            <Button type="submit" loading={make.isPending || saved}>
              Make the draft
            </Button>
          </Group>
        </Stack>
      </form>
    </Page>
  )
}

function OnlyOf({ distribution }: { distribution: string }) {
  const { productID } = useProduct()
  const may = useMay()('Distribution.Read')
  const { data } = useRead<Distribution[]>('/Distribution', readBy(productID, distribution), may)
  const [found] = data ?? []
  return (
    <span className="quiet">
      Only what {found ? distributionName(found) : `distribution ${distribution}`} owes.
    </span>
  )
}

function Payables({ form, distribution }: { form: Form; distribution: string | undefined }) {
  const currencies = useCurrencyOptions()
  const currency = useCurrency()({ currencyID: Number(form.values.currencyID) })
  return (
    <Card title="What is paid">
      <Stack gap="sm">
        {distribution ? (
          <OnlyOf distribution={distribution} />
        ) : (
          <Checkbox.Group label="Money owed for" {...form.getInputProps('sources')}>
            <Group mt={6} gap="lg">
              <Checkbox value="Distribution" label="Distributions" />
              <Checkbox value="Redemption" label="Redemptions" />
              <Checkbox value="Residual" label="Residuals of reinvestment" />
            </Group>
          </Checkbox.Group>
        )}
        <Row>
          <DateField
            label="Processing date"
            description="The day the bank pays."
            required
            {...form.getInputProps('processingDate')}
          />
          <DateField
            label="Up to"
            description="Owed up to that day. Empty: all."
            {...form.getInputProps('upToDate')}
          />
          {!distribution && currencies.length > 1 && (
            <Select
              label="Currency"
              description="A run is in one."
              data={currencies}
              allowDeselect={false}
              {...form.getInputProps('currencyID')}
            />
          )}
          <DecimalField
            label={`Least amount, ${currency}`}
            description="Smaller amounts wait until they add up."
            placeholder="0.00"
            {...form.getInputProps('minimumAmount')}
          />
        </Row>
      </Stack>
    </Card>
  )
}

function Funding({ form }: { form: Form }) {
  const at = (field: string) => form.getInputProps(`fundingAccount.${field}`)
  const { format } = form.values
  const cheques = format === 'cheque list'
  return (
    <Card title="Where it is paid from">
      <Stack gap="sm">
        <Row>
          <Select
            label="Format"
            data={formats}
            allowDeselect={false}
            {...form.getInputProps('format')}
          />
          <TextInput label="Account name" required {...at('accountName')} />
          <TextInput label="Remitter" required {...at('remitterName')} />
        </Row>
        {!cheques && (
          <Row>
            <TextInput label="BSB" placeholder="033-088" required {...at('bsb')} />
            <TextInput
              label="Account number"
              required
              autoComplete="off"
              {...at('accountNumber')}
            />
            {format === 'ABA' && (
              <>
                <TextInput label="Bank" placeholder="WBC" required {...at('bankCode')} />
                <TextInput label="User id" placeholder="301500" required {...at('userID')} />
              </>
            )}
          </Row>
        )}
        {format === 'ABA' && (
          <Switch
            label="Balanced"
            description="The last record of the file debits the total from this account."
            {...form.getInputProps('balanced', { type: 'checkbox' })}
          />
        )}
      </Stack>
    </Card>
  )
}
