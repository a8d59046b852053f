import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useLookups } from '../shared/api/lookups.ts'
import { useByCurrency, useMoney } from '../shared/api/money.ts'
import { useClassOptions, useProduct } from '../shared/api/products.ts'
import type { BizEntity } from '../shared/api/types.ts'
import { sum } from '../shared/decimal.ts'
import { moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import type { Filter } from '../shared/list/filters.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { useMay } from '../shared/permission.ts'
import { Icon } from '../shared/view/icons.tsx'
import { Empty, Page } from '../shared/view/Page.tsx'
import { Status } from '../shared/view/Status.tsx'
import { emailOf } from './people.ts'

/** All investors who hold, or may hold, units of the product. */
export function Investors() {
  const may = useMay()
  const { productID, slug, currency } = useProduct()
  const params = { product: slug }
  const add = may('BizEntity.Write') && (
    <Button
      renderRoot={(props) => <Link to="/$product/investors/new" params={params} {...props} />}
      leftSection={<Icon name="plus" size={16} />}
    >
      New investor
    </Button>
  )
  return (
    <Page title="Investors" actions={add}>
      <ListView<BizEntity>
        id="investors"
        label="Investors"
        path="/BizEntity"
        params={{ ProductID: productID }}
        filters={useFilters()}
        columns={useColumns(currency)}
        to={({ bizEntityID }) => ({
          to: '/$product/investors/$id',
          params: { product: slug, id: String(bizEntityID) },
        })}
        empty={
          <Empty title="No investor yet">
            {may('BizEntity.Write') && 'Add the first one. '}
            An investor is a person, two who hold jointly, a company, a trust, a fund or a
            partnership, with at least one account.
          </Empty>
        }
      />
    </Page>
  )
}

function useFilters(): Filter[] {
  const options = useClassOptions()
  return [
    { key: 'BizEntityTypeID', label: 'Kind', kind: 'lookup', category: 'BizEntityType' },
    { key: 'InvestmentID', label: 'Holds', kind: 'choice', options },
    { key: 'AccountNumber.contains', label: 'Account number contains', kind: 'text' },
    { key: 'ExternalBizEntityId', label: 'External id', kind: 'text' },
    { key: 'ExternalAccountId', label: 'External account id', kind: 'text' },
    { key: 'CreatedDate.greaterThanOrEqual', label: 'Created from', kind: 'moment' },
    { key: 'CreatedDate.lessThan', label: 'Created before', kind: 'moment' },
    { key: 'UpdatedDateFull.greaterThanOrEqual', label: 'Changed since', kind: 'moment' },
  ]
}

function useColumns(currency: string): Column<BizEntity>[] {
  const { name: nameOf } = useLookups()
  const money = useMoney()
  const byCurrency = useByCurrency()
  return [
    { id: 'name', title: 'Name', text: ({ name }) => name ?? '', width: 'minmax(240px, 2fr)' },
    { id: 'kind', title: 'Kind', text: (row) => nameOf('BizEntityType', row.bizEntityTypeID) },
    {
      id: 'accounts',
      title: 'Account',
      text: ({ accounts }) => accounts.map(({ accountNumber }) => accountNumber).join(', '),
    },
    {
      id: 'state',
      title: 'State',
      text: (row) => nameOf('BizEntityStatus', row.bizEntityStatusID),
      cell: (row) => <Status category="BizEntityStatus" id={row.bizEntityStatusID} />,
      width: '90px',
    },
    {
      id: 'email',
      title: 'E-mail',
      text: (row) => emailOf(row) ?? '',
      width: 'minmax(180px, 1.5fr)',
    },
    {
      id: 'value',
      title: `Value ${currency}`,
      right: true,
      // The heading names the currency of the product; amounts in another currency name their own.
      text: ({ accounts }) =>
        byCurrency(accounts.flatMap(({ balances }) => balances))
          .map(({ currency: own, rows }) => {
            const amount = money(sum(rows.map((one) => one.amount)), rows[0])
            return own === currency ? amount : `${amount} ${own}`
          })
          .join(' + '),
      width: 'minmax(130px, 1fr)',
    },
    {
      id: 'external',
      title: 'External id',
      text: (row) => row.externalBizEntityId ?? '',
      spare: true,
    },
    {
      id: 'created',
      title: 'Created',
      text: (row) => moment(row.createdDate),
      width: 'minmax(140px, 1fr)',
      spare: true,
    },
    { id: 'id', title: 'Investor id', text: (row) => String(row.bizEntityID), spare: true },
  ]
}
