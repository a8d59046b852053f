import { Anchor, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { pointsOf, usePrices } from '../classes/prices.ts'
import { distributionName } from '../distributions/words.ts'
import { Unread } from '../frame/Needs.tsx'
import { useNeeds } from '../frame/needs.ts'
import { useLookups } from '../shared/api/lookups.ts'
import { type InCurrency, useByCurrency, useCurrency, useMoney } from '../shared/api/money.ts'
import { useInvestments, useProduct } from '../shared/api/products.ts'
import type { Distribution, HoldingMonth, Investment, Product } from '../shared/api/types.ts'
import { sum } from '../shared/decimal.ts'
import { beside, count, day, moment, monthOf, plain, price } from '../shared/format.ts'
import { linkTo } from '../shared/link.ts'
import type { Column } from '../shared/list/columns.ts'
import { useMay } from '../shared/permission.ts'
import { Answer, unread } from '../shared/view/Answer.tsx'
import { Bars } from '../shared/view/Bars.tsx'
import { LineChart } from '../shared/view/Chart.tsx'
import { deedOf } from '../shared/view/deeds.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Card, Empty, Page } from '../shared/view/Page.tsx'
import { PageLink } from '../shared/view/PageLink.tsx'
import { Rows, type RowsProps } from '../shared/view/Rows.tsx'
import { Status } from '../shared/view/Status.tsx'
import { byDay, isUnpriced, useMonths, valuesOf } from './months.ts'
import { Now } from './Now.tsx'
import classes from './overview.module.css'
import { latest, lookedAt, pending, useDistributions, useLastChanges, usePending } from './reads.ts'

/** The overview of a product for the start of a registry team's day. */
export function Overview() {
  const product = useProduct()
  const may = useMay()
  const investments = useInvestments()
  return (
    <Page title={product.name ?? 'Overview'}>
      <Now />
      <NeedsYou product={product} />
      {investments.length === 0 && (
        <div className="card">
          <Empty title="Nothing here yet">
            Begin with a class of units under{' '}
            <PageLink to={`/${product.slug}/classes`} underline="always">
              Classes and prices
            </PageLink>
            , then add investors and post what they paid in.
          </Empty>
        </div>
      )}
      {investments.length > 0 && may('BizTransaction.Read') && <Money />}
      {investments.length > 0 && (
        <SimpleGrid cols={{ base: 1, md: investments.length > 1 ? 2 : 1 }}>
          {investments.map((one) => (
            <ClassCard key={one.investmentID} investment={one} />
          ))}
        </SimpleGrid>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {may('Distribution.Read') && <LatestDistributions />}
        {may('BizEvent.Read') && <PendingNotices />}
      </SimpleGrid>
      {may('Audit.Read') && <LastChanges />}
    </Page>
  )
}

/** A link to the full list of which a card shows the first rows. */
const More = ({ to, children }: { to: string; children: ReactNode }) => (
  <Text size="sm" component="span">
    <PageLink to={to}>{children}</PageLink>
  </Text>
)

/** The tasks that wait for the user; hidden if there are none. */
function NeedsYou({ product }: { product: Product }) {
  const { needs, unread, retry } = useNeeds(product)
  if (needs.length === 0 && unread.length === 0) return null
  return (
    <Card title="What needs you">
      <Group gap="xs">
        {needs.map(({ text, to }) => (
          <Anchor key={text} component={Link} {...linkTo(to)} className={classes.need}>
            {text}
            <Icon name="right" size={14} />
          </Anchor>
        ))}
        <Unread unread={unread} retry={retry} />
      </Group>
    </Card>
  )
}

/** The value of all classes over the last year, and the money paid in and out. */
function Money() {
  const { data = [] } = useMonths()
  const byCurrency = useByCurrency()
  if (data.length === 0) return null
  return byCurrency(data).map((one) => <MoneyIn key={one.currency} {...one} />)
}

function MoneyIn({ currency, rows: months }: InCurrency<HoldingMonth>) {
  const { slug } = useProduct()
  const money = useMoney(months[0])
  const pairs = byDay(months).map(([date, rows]) => ({
    label: monthOf(date),
    up: sum(rows.map(({ amountIn }) => amountIn)),
    down: sum(rows.map(({ amountOut }) => amountOut)),
  }))
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card title={`Value in ${currency}`}>
        <LineChart title="Value" points={valuesOf(months)} format={money} tall={130} />
      </Card>
      <Card
        title={`Money in and out, ${currency}`}
        actions={<More to={`/${slug}/transactions`}>Transactions</More>}
      >
        <Bars
          title="Money by month"
          pairs={pairs}
          format={money}
          names={{ up: 'in', down: 'out' }}
        />
      </Card>
    </SimpleGrid>
  )
}

function ClassCard({ investment }: { investment: Investment }) {
  const { slug } = useProduct()
  const currency = useCurrency()(investment)
  const money = useMoney(investment)
  const { prices, isError } = usePrices(investment.investmentID)
  const { data = [] } = useMonths()
  const last = prices?.at(-1)
  const now = data.findLast(({ investmentID }) => investmentID === investment.investmentID)
  const title = beside([investment.securityCode, investment.name])
  const holders = `/${slug}/investors?InvestmentID=${investment.investmentID}`
  const known = last ? `${price(last.price)} ${currency}` : 'No price'
  return (
    <Card
      title={title}
      actions={<More to={`/${slug}/classes/${investment.investmentID}`}>Prices</More>}
    >
      <Stack gap="sm">
        <Facts
          facts={[
            ['Price', prices ? known : unread({ isError })],
            ['Units on issue', now && plain(now.quantity)],
            ['Holders', now && <PageLink to={holders}>{count(now.holders ?? 0)}</PageLink>],
            [
              `Value, ${currency}`,
              now && (isUnpriced(now) ? '— without a price' : money(now.marketValue)),
            ],
          ]}
        />
        <LineChart
          title={`Price of ${title}`}
          points={pointsOf(prices ?? [])}
          format={price}
          tall={110}
        />
      </Stack>
    </Card>
  )
}

function LatestDistributions() {
  const { slug } = useProduct()
  const read = useDistributions()
  const latestOf = (all: Distribution[]) =>
    all.toSorted((a, b) => (b.recordDate ?? '').localeCompare(a.recordDate ?? '')).slice(0, latest)
  const columns: Column<Distribution>[] = [
    {
      id: 'name',
      title: 'Name',
      text: (row) => row.name ?? '',
      cell: (row) => (
        <PageLink to={`/${slug}/distributions/${row.corporateActionID}`}>
          {distributionName(row)}
        </PageLink>
      ),
    },
    { id: 'class', title: 'Class', text: (row) => row.securityCode ?? '' },
    { id: 'record', title: 'Record date', text: (row) => day(row.recordDate) },
    {
      id: 'state',
      title: 'State',
      text: () => '',
      cell: (row) => <Status category="DistributionStatus" id={row.distributionStatusID} />,
    },
  ]
  return (
    <Card
      title="Distributions"
      padded={false}
      actions={
        read.data?.length ? <More to={`/${slug}/distributions`}>All distributions</More> : null
      }
    >
      <Latest
        of={read}
        pick={latestOf}
        label="Latest distributions"
        keyOf={({ corporateActionID }) => corporateActionID ?? 0}
        columns={columns}
        empty="None yet"
      />
    </Card>
  )
}

function PendingNotices() {
  const { slug } = useProduct()
  const { name } = useLookups()
  const money = useMoney()
  const read = usePending()
  const number = read.data?.totalCount ?? 0
  const list = `/${slug}/notices?BizEventStatusID=${pending}`
  return (
    <Card
      title="Notices that wait"
      padded={false}
      actions={number > 0 && <More to={list}>All {count(number)}</More>}
    >
      <Latest
        of={read}
        pick={({ data }) => data}
        label="Notices that wait"
        keyOf={({ bizEventID }) => bizEventID ?? 0}
        columns={[
          { id: 'investor', title: 'Investor', text: (row) => row.bizEntityName ?? '' },
          { id: 'what', title: 'What', text: (row) => name('BizEventType', row.bizEventTypeID) },
          { id: 'day', title: 'For', text: (row) => day(row.bizEventDate) },
          { id: 'amount', title: 'Amount', right: true, text: (row) => money(row.amount, row) },
        ]}
        empty="Nothing waits"
      />
    </Card>
  )
}

type LatestProps<T, Row> = Omit<RowsProps<Row>, 'rows'> & {
  of: UseQueryResult<T>
  /** Picks the rows to show from the data that was read. */
  pick: (read: T) => Row[]
  empty: string
}

/** The first few rows of a list, once they are read. */
const Latest = <T, Row>({ of, pick, empty, ...rows }: LatestProps<T, Row>) => (
  <Answer of={of}>
    {(read) =>
      pick(read).length === 0 ? <Empty title={empty} /> : <Rows {...rows} rows={pick(read)} />
    }
  </Answer>
)

/** There may be older changes of this product behind those of other products. */
const noneOfMany = `None among the last ${count(lookedAt)} entries of the audit trail`

/** The audit trail of the last 24 hours, for this product or no product, newest first. */
function LastChanges() {
  const read = useLastChanges()
  return (
    <Card
      title="Last changes"
      padded={false}
      actions={<More to="/settings/audit">Audit trail</More>}
    >
      <Latest
        of={read}
        pick={({ ours }) => ours.slice(0, latest)}
        label="Last changes"
        keyOf={({ auditID }) => auditID ?? 0}
        columns={[
          { id: 'when', title: 'When', text: (row) => moment(row.occurredDate) },
          { id: 'who', title: 'Who', text: (row) => row.username ?? '' },
          { id: 'what', title: 'What', text: (row) => deedOf(row.operation) },
        ]}
        empty={read.data?.isAll ? 'Nothing in the last 24 hours' : noneOfMany}
      />
    </Card>
  )
}
