import { Button } from '@mantine/core'
import { useState } from 'react'
import type { WithholdingRate } from '../shared/api/types.ts'
import { Edited } from '../shared/form/Edited.tsx'
import { FormDrawer } from '../shared/form/FormDrawer.tsx'
import { day, percent } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { incomeKindName, RateForm, ruleOptions } from './RateForm.tsx'

/** The withholding rates by rule, kind of income, country and period. */
export function TaxRates() {
  const may = useMay()
  const [opened, setOpened] = useState<WithholdingRate | 'new'>()
  const close = () => setOpened(undefined)
  const canWrite = may('Tax.Write')
  const add = canWrite && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setOpened('new')}>
      New rate
    </Button>
  )
  return (
    <Page title="Tax rates" actions={add}>
      <ListView<WithholdingRate>
        id="tax-rates"
        label="Tax rates"
        path="/WithholdingRate"
        params={{}}
        filters={[
          { key: 'Rule', label: 'Rule', kind: 'choice', options: ruleOptions },
          { key: 'IncomeKind', label: 'Kind of income', kind: 'text' },
          { key: 'CountryCode', label: 'Country', kind: 'text' },
        ]}
        columns={columns}
        {...(canWrite && { onOpen: setOpened })}
        empty={<Empty title="No rate yet">Nothing is withheld without a rate.</Empty>}
      />
      <FormDrawer
        opened={opened !== undefined}
        onClose={close}
        title={opened === 'new' ? 'New rate' : 'Rate'}
      >
        {opened === 'new' && <RateForm onDone={close} />}
        {opened && opened !== 'new' && (
          <Edited<WithholdingRate> path="/WithholdingRate" params={{ RateID: opened.rateID }}>
            {(tagged) => <RateForm tagged={tagged} onDone={close} />}
          </Edited>
        )}
      </FormDrawer>
    </Page>
  )
}

const ruleName = (rule: string | null) =>
  ruleOptions.find(({ value }) => value === rule)?.label ?? rule ?? ''

const columns: Column<WithholdingRate>[] = [
  {
    id: 'rule',
    title: 'Rule',
    text: ({ rule }) => ruleName(rule),
    width: 'minmax(160px, 1fr)',
  },
  {
    id: 'kind',
    title: 'Kind of income',
    text: ({ incomeKind }) => incomeKindName(incomeKind),
    width: 'minmax(180px, 1fr)',
  },
  { id: 'country', title: 'Country', text: ({ countryCode }) => countryCode ?? 'Every other' },
  { id: 'rate', title: 'Rate', right: true, text: ({ percentage }) => percent(percentage) },
  {
    id: 'rounding',
    title: 'Rounded',
    text: ({ rounding }) => (rounding === 'Cent' ? 'to the cent' : 'cents cut'),
  },
  { id: 'from', title: 'From', text: ({ validFrom }) => day(validFrom) },
  { id: 'until', title: 'Until', text: ({ validTo }) => day(validTo) || 'further notice' },
]
