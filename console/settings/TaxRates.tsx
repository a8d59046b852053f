import type { WithholdingRate } from '../shared/api/types.ts'
import { day, percent } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'

/** What is withheld by law, by rule, kind of income, country and period. */
export const TaxRates = () => (
  <Page title="Tax rates">
    <ListView<WithholdingRate>
      id="tax-rates"
      label="Tax rates"
      path="/WithholdingRate"
      params={{}}
      filters={[
        {
          key: 'Rule',
          label: 'Rule',
          kind: 'choice',
          options: Object.entries(rules).map(([value, label]) => ({ value, label })),
        },
        { key: 'IncomeKind', label: 'Kind of income', kind: 'text' },
      ]}
      columns={columns}
      empty={<Empty title="No rate like this" />}
    />
  </Page>
)

const rules: { [rule: string]: string } = {
  NoTfn: 'No tax file number',
  NonResident: 'Resident elsewhere',
}

const columns: Column<WithholdingRate>[] = [
  {
    id: 'rule',
    title: 'Rule',
    text: ({ rule }) => rules[rule ?? ''] ?? rule ?? '',
    width: 'minmax(160px, 1fr)',
  },
  {
    id: 'kind',
    title: 'Kind of income',
    text: ({ incomeKind }) => (incomeKind ?? '').replaceAll(/([a-z])([A-Z])/g, '$1 $2'),
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
