import { NumberInput, Stack, Switch, TextInput } from '@mantine/core'
import { DateField, DecimalField, Row } from '../shared/form/fields.tsx'
import type { ProductPart } from './product-values.ts'

/** The fields for the money of a product, and the date up to which its register is locked. */
export const MoneyFields = ({ form }: ProductPart) => (
  <Stack gap="sm">
    <DateField
      label="Locked up to and including"
      description="Nothing dated up to then is posted, corrected, rolled back or priced. To move it back, or to take it away, needs a permission of its own."
      {...form.getInputProps('lockedDate')}
    />
    <Switch
      label="Withhold tax"
      description="By the tax rates, when a distribution is paid."
      {...form.getInputProps('withholding', { type: 'checkbox' })}
    />
    <NumberInput
      label="Cool-off of bank details, days"
      description="Details changed less than so many days ago are not paid to; 0: always paid."
      min={0}
      max={365}
      {...form.getInputProps('bankDetailCoolOffDays')}
    />
    <Row narrow>
      <TextInput
        label="End of the financial year"
        description="Month and day."
        placeholder="06-30"
        {...form.getInputProps('financialYearEnd')}
      />
      <DecimalField
        label="Company tax, %"
        description="For franking credits."
        {...form.getInputProps('companyTaxPercentage')}
      />
    </Row>
  </Stack>
)
