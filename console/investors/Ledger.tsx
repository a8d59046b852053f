import { Group } from '@mantine/core'
import { useState } from 'react'
import { useLookups } from '../shared/api/lookups.ts'
import { useCurrency, useMoney, useUnits } from '../shared/api/money.ts'
import { useReadAll } from '../shared/api/pages.ts'
import { useProduct } from '../shared/api/products.ts'
import type {
  Audit,
  BizEntity,
  BizTransaction,
  Distribution,
  EntitledAccount,
} from '../shared/api/types.ts'
import { PastControl, pastParams, usePast } from '../shared/form/Past.tsx'
import { moment } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { List } from '../shared/list/List.tsx'
import { useRows } from '../shared/list/use-rows.ts'
import { Changes } from '../shared/view/Changes.tsx'
import { deedOf } from '../shared/view/deeds.ts'
import { Card, Empty } from '../shared/view/Page.tsx'
import { Status } from '../shared/view/Status.tsx'
import { transactionColumns } from '../transactions/columns.tsx'
import { TransactionDrawer } from '../transactions/TransactionDrawer.tsx'

type Props = { entity: BizEntity }

const accountsOf = ({ accounts }: BizEntity) => accounts.map(({ accountID }) => accountID).join(',')
const tall = { height: '52vh', display: 'flex', flexDirection: 'column' } as const

export function InvestorTransactions({ entity }: Props) {
  const { productID } = useProduct()
  const [opened, setOpened] = useState<BizTransaction>()
  const [past, setPast] = usePast()
  const money = useMoney()
  const units = useUnits()
  const rows = useRows<BizTransaction>('/BizTransaction', {
    ProductID: productID,
    'AccountID.in': accountsOf(entity),
    ShowClosing: true,
    Order: 'desc',
    ...pastParams(past),
  })
  const columns: Column<BizTransaction>[] = [
    ...transactionColumns(money, units).filter(({ id, spare }) => id !== 'investor' && !spare),
    {
      id: 'after',
      title: 'Units after',
      right: true,
      text: (row) => units(row.transactionClosingQuantity, row),
    },
  ]
  return (
    <div style={tall}>
      <Group justify="flex-end" mb="xs">
        <PastControl past={past} onChange={setPast} />
      </Group>
      <List
        label="Transactions"
        columns={columns}
        rows={rows}
        onOpen={setOpened}
        empty={<Empty title="No transaction yet">Nothing was posted to these accounts.</Empty>}
      />
      <TransactionDrawer transaction={opened} onClose={() => setOpened(undefined)} />
    </div>
  )
}

export function InvestorDistributions({ entity }: Props) {
  const { productID, slug } = useProduct()
  const { name } = useLookups()
  const money = useMoney()
  const units = useUnits()
  const currency = useCurrency()
  const rows = useRows<EntitledAccount>('/Distribution/Account', {
    ProductID: productID,
    'AccountID.in': accountsOf(entity),
    Order: 'desc',
  })
  const { data: all = [] } = useReadAll<Distribution>('/Distribution', { ProductID: productID })
  const distributionOf = ({ corporateActionID: id }: EntitledAccount) =>
    all.find(({ corporateActionID }) => corporateActionID === id)
  const figure = (id: string, title: string, text: Column<EntitledAccount>['text']) => ({
    id,
    title,
    right: true,
    text,
    width: 'minmax(84px, 1fr)',
  })
  const columns: Column<EntitledAccount>[] = [
    {
      id: 'what',
      title: 'Distribution',
      text: (row) =>
        row.externalCorporateActionId ??
        distributionOf(row)?.name ??
        `Distribution ${row.corporateActionID}`,
      width: 'minmax(124px, 1.5fr)',
    },
    figure('units', 'Units', (row) => units(row.units, row)),
    figure('gross', 'Gross', (row) => money(row.grossAmount, row)),
    figure('tax', 'Tax', (row) => money(row.taxAmount, row)),
    figure('drp', 'Reinvested', (row) => money(row.drpAmount, row)),
    figure('drpUnits', 'DRP units', (row) =>
      units(row.drpUnits, { investmentID: distributionOf(row)?.drpInvestmentID ?? null }),
    ),
    figure('cash', 'Cash', (row) => money(row.cashAmount, row)),
    { id: 'currency', title: 'Currency', text: currency, width: '66px' },
    {
      id: 'state',
      title: 'State',
      text: (row) => name('DistributionStatus', row.statusID),
      cell: (row) => <Status category="DistributionStatus" id={row.statusID} />,
      width: '92px',
    },
  ]
  return (
    <div style={tall}>
      <List
        label="Distributions"
        columns={columns}
        rows={rows}
        to={({ corporateActionID }) => ({
          to: '/$product/distributions/$id',
          params: { product: slug, id: String(corporateActionID) },
        })}
        empty={<Empty title="No distribution yet">None was declared for these accounts.</Empty>}
      />
    </div>
  )
}

/** The audit trail of an investor: who changed it, when, and the values before and after. */
export function History({ entity }: Props) {
  const rows = useRows<Audit>('/Audit', {
    Resource: 'BizEntity',
    ResourceID: entity.bizEntityID,
    Order: 'desc',
  })
  const [opened, setOpened] = useState<Audit>()
  const columns: Column<Audit>[] = [
    { id: 'when', title: 'When', text: ({ occurredDate }) => moment(occurredDate) },
    { id: 'who', title: 'Who', text: ({ username }) => username ?? '' },
    { id: 'what', title: 'What', text: ({ operation }) => deedOf(operation) },
  ]
  return (
    <>
      <div style={{ ...tall, height: 260, marginBottom: 16 }}>
        <List
          label="History"
          columns={columns}
          rows={rows}
          onOpen={setOpened}
          empty={<Empty title="Nothing recorded" />}
        />
      </div>
      {opened && (
        <Card title={`${deedOf(opened.operation)}, ${moment(opened.occurredDate)}`}>
          <Changes changes={opened.changes} />
        </Card>
      )}
    </>
  )
}
