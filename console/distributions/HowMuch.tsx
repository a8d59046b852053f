import { Select } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import type { DistributionInput, valuationMethods } from '../../src/money/distribution/schema.ts'
import type { Distribution } from '../shared/api/types.ts'
import { isZero } from '../shared/decimal.ts'
import { DateField, DecimalField, Row } from '../shared/form/fields.tsx'

type Rate = keyof DistributionInput & keyof typeof noRates

const noRates = {
  distributionAmountPerUnit: '',
  distributionAmountTotal: '',
  centsPerUnitPerDay: '',
  proRataPercentPerAnnum: '',
}

export type HowMuch = typeof noRates & {
  /** The rate that is used; the other rates are not sent. */
  rate: Rate
  proRataStartDate: string
  proRataEndDate: string
  unitValuationMethod: (typeof valuationMethods)[number]
}

const rates: { value: Rate; label: string }[] = [
  { value: 'distributionAmountPerUnit', label: 'An amount for each unit' },
  { value: 'distributionAmountTotal', label: 'An amount in all, shared by units' },
  { value: 'centsPerUnitPerDay', label: 'Cents for each unit and day' },
  { value: 'proRataPercentPerAnnum', label: 'Percent a year of what the units are worth' },
]

const valuations: Record<HowMuch['unitValuationMethod'], string> = {
  ClosingPrice: 'The price of the record date',
  VWAP: 'The average price of units given out in the time',
  Fixed: 'The issue price of the class',
}

export const howMuchOf = (known?: Distribution): HowMuch => ({
  rate: rates.find(({ value }) => !isZero(known?.[value]))?.value ?? 'distributionAmountPerUnit',
  distributionAmountPerUnit: known?.distributionAmountPerUnit ?? '',
  distributionAmountTotal: known?.distributionAmountTotal ?? '',
  centsPerUnitPerDay: known?.centsPerUnitPerDay ?? '',
  proRataPercentPerAnnum: known?.proRataPercentPerAnnum ?? '',
  proRataStartDate: known?.proRataStartDate ?? '',
  proRataEndDate: known?.proRataEndDate ?? '',
  unitValuationMethod: known?.unitValuationMethod ?? 'ClosingPrice',
})

const goesByDays = (rate: Rate) =>
  rate === 'centsPerUnitPerDay' || rate === 'proRataPercentPerAnnum'

/** The fields to send: the rate that is used, and the fields that belong to it. */
export function rateGiven({ rate, ...values }: HowMuch) {
  const days = { proRataStartDate: '', proRataEndDate: '' }
  return { ...values, ...noRates, ...(!goesByDays(rate) && days), [rate]: values[rate] }
}

type Props<Values extends HowMuch> = { form: UseFormReturnType<Values>; currency: string }

/** The fields for the amount of a distribution, given in one of four ways. */
export function HowMuchFields<Values extends HowMuch>({ form, currency }: Props<Values>) {
  const { rate } = form.values
  const field: Record<Rate, ReactNode> = {
    distributionAmountPerUnit: (
      <DecimalField
        label={`Amount a unit, ${currency}`}
        placeholder="0.0135"
        {...form.getInputProps('distributionAmountPerUnit')}
      />
    ),
    distributionAmountTotal: (
      <DecimalField
        label={`Amount in all, ${currency}`}
        {...form.getInputProps('distributionAmountTotal')}
      />
    ),
    centsPerUnitPerDay: (
      <DecimalField
        label="Cents a unit and day"
        placeholder="0.0105"
        {...form.getInputProps('centsPerUnitPerDay')}
      />
    ),
    proRataPercentPerAnnum: (
      <DecimalField label="Percent a year" {...form.getInputProps('proRataPercentPerAnnum')} />
    ),
  }
  return (
    <>
      <Row>
        <Select
          label="How much"
          data={rates}
          allowDeselect={false}
          {...form.getInputProps('rate')}
        />
        {field[rate]}
      </Row>
      {goesByDays(rate) && (
        <Row>
          <DateField label="From" required {...form.getInputProps('proRataStartDate')} />
          <DateField label="Until" required {...form.getInputProps('proRataEndDate')} />
          {rate === 'proRataPercentPerAnnum' && (
            <Select
              label="What a unit is worth"
              data={Object.entries(valuations).map(([value, label]) => ({ value, label }))}
              allowDeselect={false}
              {...form.getInputProps('unitValuationMethod')}
            />
          )}
        </Row>
      )}
    </>
  )
}
