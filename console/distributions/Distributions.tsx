import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLookups } from '../shared/api/lookups.ts'
import { type Money, useMoney } from '../shared/api/money.ts'
import { useClassOptions, useProduct } from '../shared/api/products.ts'
import type { Distribution } from '../shared/api/types.ts'
import { isZero } from '../shared/decimal.ts'
import { day, plain } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import type { Filter } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { ClassFirst } from '../shared/view/ClassFirst.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Status } from '../shared/view/Status.tsx'
import { distributionName } from './words.ts'

/** The distributions of the product, past and coming. */
export function Distributions() {
  const { productID, slug } = useProduct()
  const may = useMay()
  const add = may('Distribution.Write') && (
    <Button
      leftSection={<Icon name="plus" size={16} />}
      renderRoot={(props) => (
        <Link to="/$product/distributions/new" params={{ product: slug }} {...props} />
      )}
    >
      New distribution
    </Button>
  )
  return (
    <Page title="Distributions" actions={add}>
      <ListView<Distribution>
        id="distributions"
        label="Distributions"
        path="/Distribution"
        params={{ ProductID: productID, Order: 'desc' }}
        filters={useFilters()}
        columns={useColumns()}
        to={({ corporateActionID }) => ({
          to: '/$product/distributions/$id',
          params: { product: slug, id: String(corporateActionID) },
        })}
        empty={
          <Empty title="No distribution yet">
            The distributions of the product are listed here.{' '}
            <ClassFirst>
              {may('Distribution.Write') &&
                'Configure the first one: the class, the record date, the rate and its tax components.'}
            </ClassFirst>
          </Empty>
        }
      />
    </Page>
  )
}

function useFilters(): Filter[] {
  const options = useClassOptions()
  return [
    { key: 'InvestmentID', label: 'Class', kind: 'choice', options },
    { key: 'RecordDate.greaterThanOrEqual', label: 'Record date from', kind: 'date' },
    { key: 'RecordDate.lessThanOrEqual', label: 'Record date until', kind: 'date' },
    { key: 'ExternalCorporateActionId', label: 'External id', kind: 'text' },
  ]
}

/** The configured rate, by whichever method it was given. */
export function rateOf(row: Distribution, money: Money): string {
  if (!isZero(row.distributionAmountPerUnit))
    return `${plain(row.distributionAmountPerUnit)} a unit`
  if (!isZero(row.distributionAmountTotal))
    return `${money(row.distributionAmountTotal, row)} in all`
  if (!isZero(row.centsPerUnitPerDay))
    return `${plain(row.centsPerUnitPerDay)} cents a unit and day`
  return row.proRataPercentPerAnnum ? `${plain(row.proRataPercentPerAnnum)} % a year` : ''
}

function useColumns(): Column<Distribution>[] {
  const { name: nameOf } = useLookups()
  const money = useMoney()
  return [
    {
      id: 'name',
      title: 'Name',
      text: distributionName,
      width: 'minmax(220px, 2fr)',
    },
    { id: 'class', title: 'Class', text: (row) => row.securityCode ?? '', width: '90px' },
    { id: 'record', title: 'Record date', text: (row) => day(row.recordDate) },
    { id: 'payment', title: 'Payment', text: (row) => day(row.paymentDate) },
    { id: 'rate', title: 'Rate', right: true, text: (row) => rateOf(row, money) },
    { id: 'drp', title: 'Reinvestment', text: (row) => nameOf('DRPIndicator', row.drpIndicatorID) },
    {
      id: 'state',
      title: 'State',
      text: (row) => nameOf('DistributionStatus', row.distributionStatusID),
      cell: (row) => <Status category="DistributionStatus" id={row.distributionStatusID} />,
      width: '110px',
    },
    {
      id: 'external',
      title: 'External id',
      text: (row) => row.externalCorporateActionId ?? '',
      spare: true,
    },
  ]
}
