import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { useCurrency } from '../shared/api/money.ts'
import { useProduct } from '../shared/api/products.ts'
import type { Tagged } from '../shared/api/tagged.ts'
import type { Distribution } from '../shared/api/types.ts'
import { useWrite } from '../shared/api/write.ts'
import { sum, typed } from '../shared/decimal.ts'
import { ClassField, DateField, DecimalField, LookupField, Row } from '../shared/form/fields.tsx'
import { LeaveGuard } from '../shared/form/LeaveGuard.tsx'
import { useLeave } from '../shared/form/leave.ts'
import { fieldErrors } from '../shared/form/problems.ts'
import { plain } from '../shared/format.ts'
import { Failure, tellDone } from '../shared/view/Failure.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Card, Page } from '../shared/view/Page.tsx'
import { HowMuchFields, howMuchOf, rateGiven } from './HowMuch.tsx'

/** The component names of the specification; other names are accepted too. */
const usualComponents = [
  'AustralianFrankedDividends',
  'AustralianUnfrankedDividends',
  'CapitalGains',
  'AustralianIncomeDividendsFranked',
  'CapitalGainsCapital',
]

const offered = 2

const valuesOf = (known?: Distribution) => ({
  ...known,
  name: known?.name ?? '',
  externalCorporateActionId: known?.externalCorporateActionId ?? '',
  investmentID: known?.investmentID ?? null,
  description: known?.description ?? '',
  accrualDate: known?.accrualDate ?? '',
  recordDate: known?.recordDate ?? '',
  paymentDate: known?.paymentDate ?? '',
  ...howMuchOf(known),
  distributionTermID: known?.distributionTermID ?? (1 as number | null),
  distributionPeriodID: known?.distributionPeriodID ?? (2 as number | null),
  drpIndicatorID: known?.drpIndicatorID ?? (1 as number | null),
  drpInvestmentID: known?.drpInvestmentID ?? null,
  drpPrice: known?.drpPrice ?? '',
  drpAllotmentDate: known?.drpAllotmentDate ?? '',
  taxComponents: known?.taxComponents ?? [
    { taxComponentName: usualComponents[0] ?? '', percentage: '100' },
  ],
})

type Values = ReturnType<typeof valuesOf>
type Form = ReturnType<typeof useForm<Values>>

export function NewDistribution() {
  const { slug } = useProduct()
  const [, leave] = useLeave()
  const list = `/${slug}/distributions`
  return (
    <Page title="New distribution" back={{ to: list, label: 'Distributions' }} narrow>
      <DistributionForm
        onDone={({ corporateActionID }) => leave(`${list}/${corporateActionID}`)}
        onKept={() => leave(list)}
      />
    </Page>
  )
}

type Props = {
  tagged?: Tagged<Distribution>
  onDone: (saved: Distribution) => void
  /** Called when the distribution is left unchanged. */
  onKept: () => void
}

/** The configuration of a distribution, which can be changed until it is declared. */
export function DistributionForm({ tagged, onDone, onKept }: Props) {
  const known = tagged?.record
  const { productID } = useProduct()
  const [saved, setSaved] = useState(false)
  const form = useForm<Values>({ initialValues: valuesOf(known) })
  const save = useWrite<Distribution | Distribution[]>(known ? 'put' : 'post', '/Distribution', {
    tagged,
    onKept: () => {
      setSaved(true)
      onKept()
    },
    onDone: (data) => {
      tellDone('The distribution is configured.')
      setSaved(true)
      const [made] = [data].flat()
      if (made) onDone(made)
    },
    onFailed: (error) => form.setErrors(fieldErrors(error)),
  })
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate({ ...rateGiven(values), productID }))}>
      <LeaveGuard dirty={form.isDirty() && !saved} />
      <Stack>
        {save.error && <Failure error={save.error} />}
        <What form={form} />
        <Components form={form} />
        <Reinvestment form={form} />
        <Group justify="flex-end">
          {known && (
            <Button variant="default" onClick={onKept}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={save.isPending || saved}>
            {known ? 'Save the configuration' : 'Configure'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function What({ form }: { form: Form }) {
  const currency = useCurrency()({ investmentID: form.values.investmentID })
  return (
    <Card title="What and when">
      <Stack gap="sm">
        <Row>
          <TextInput label="Name" placeholder="June quarter 2026" {...form.getInputProps('name')} />
          <ClassField label="Class" required {...form.getInputProps('investmentID')} />
          <TextInput label="External id" {...form.getInputProps('externalCorporateActionId')} />
        </Row>
        <Row>
          <DateField label="Record date" required {...form.getInputProps('recordDate')} />
          <DateField label="Payment date" required {...form.getInputProps('paymentDate')} />
          <DateField label="Accrual date" {...form.getInputProps('accrualDate')} />
        </Row>
        <HowMuchFields form={form} currency={currency} />
        <Row>
          <LookupField
            label="Term"
            category="DistributionTerm"
            {...form.getInputProps('distributionTermID')}
          />
          <LookupField
            label="Period"
            category="DistributionPeriod"
            {...form.getInputProps('distributionPeriodID')}
          />
          <TextInput label="Description" {...form.getInputProps('description')} />
        </Row>
      </Stack>
    </Card>
  )
}

function Components({ form }: { form: Form }) {
  const { taxComponents } = form.values
  const total = sum(taxComponents.map(({ percentage }) => typed(String(percentage)) ?? '0'))
  return (
    <Card
      title="Tax components"
      actions={
        <Text size="sm" className={total === '100' ? 'quiet' : 'negative'}>
          {plain(total)} % of 100
        </Text>
      }
    >
      <Stack gap="xs">
        {taxComponents.map((component, i) => (
          <Group key={form.key(`taxComponents.${i}`)} align="flex-start">
            <TextInput
              flex="1 1 240px"
              aria-label={`Component ${i + 1}`}
              list="tax-components"
              {...form.getInputProps(`taxComponents.${i}.taxComponentName`)}
            />
            <DecimalField
              w={120}
              aria-label={`Percentage of ${component.taxComponentName}`}
              rightSection="%"
              {...form.getInputProps(`taxComponents.${i}.percentage`)}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={4}
              aria-label={`Remove ${component.taxComponentName}`}
              onClick={() => form.removeListItem('taxComponents', i)}
            >
              <Icon name="cross" size={16} />
            </ActionIcon>
          </Group>
        ))}
        <datalist id="tax-components">
          {usualComponents.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() =>
              form.insertListItem('taxComponents', { taxComponentName: '', percentage: '' })
            }
          >
            Add a component
          </Button>
        </Group>
      </Stack>
    </Card>
  )
}

function Reinvestment({ form }: { form: Form }) {
  return (
    <Card title="Reinvestment plan">
      <Row>
        <LookupField
          label="Offered"
          category="DRPIndicator"
          required
          {...form.getInputProps('drpIndicatorID')}
        />
        {form.values.drpIndicatorID === offered && (
          <>
            <ClassField label="Into class" {...form.getInputProps('drpInvestmentID')} />
            <DecimalField
              label="Price"
              placeholder="known later"
              {...form.getInputProps('drpPrice')}
            />
            <DateField label="Allotment date" {...form.getInputProps('drpAllotmentDate')} />
          </>
        )}
      </Row>
    </Card>
  )
}
