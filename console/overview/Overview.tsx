import { Anchor, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { pointsOf, usePrices } from '../classes/prices.ts'
import { distributionName, isDone } from '../distributions/words.ts'
import { useNeeds } from '../frame/needs.ts'
import { api, type Params } from '../shared/api/client.ts'
import { useLookups } from '../shared/api/lookups.ts'
import { type InCurrency, useByCurrency, useCurrency, useMoney } from '../shared/api/money.ts'
import { useInvestments, useProduct, useRead } from '../shared/api/products.ts'
import type {
  Audit,
  BizEvent,
  Distribution,
  HoldingMonth,
  Investment,
  Product,
} from '../shared/api/types.ts'
import { sum } from '../shared/decimal.ts'
import { count, day, daysAgo, moment, monthOf, plain, price } from '../shared/format.ts'
import { linkTo } from '../shared/link.ts'
import { useMay } from '../shared/permission.ts'
import { Bars } from '../shared/view/Bars.tsx'
import { LineChart } from '../shared/view/Chart.tsx'
import { deedOf } from '../shared/view/deeds.ts'
import { Facts, Figure, Figures } from '../shared/view/Facts.tsx'
import { InOthers } from '../shared/view/InOthers.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Card, Empty, Page } from '../shared/view/Page.tsx'
import { PageLink } from '../shared/view/PageLink.tsx'
import { Rows } from '../shared/view/Rows.tsx'
import { Status } from '../shared/view/Status.tsx'
import { byDay, isUnpriced, useMonths, valuesOf, worth } from './months.ts'
import classes from './overview.module.css'
import { Unpriced } from './Unpriced.tsx'

const pending = 1
const redemption = 2

/** What a registry team wants to know in the morning. */
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

/** The whole of what a card shows the first of. */
const More = ({ to, children }: { to: string; children: ReactNode }) => (
  <Text size="sm" component="span">
    <PageLink to={to}>{children}</PageLink>
  </Text>
)

/** What waits for whoever looks; where nothing does, nothing stands here. */
function NeedsYou({ product }: { product: Product }) {
  const needs = useNeeds(product)
  if (needs.length === 0) return null
  return (
    <Card title="What needs you">
      <Group gap="xs">
        {needs.map(({ text, to }) => (
          <Anchor key={text} component={Link} {...linkTo(to)} className={classes.need}>
            {text}
            <Icon name="right" size={14} />
          </Anchor>
        ))}
      </Group>
    </Card>
  )
}

const most = 1000
const latest = 6

/** The notices that wait, of all kinds or of one: the last few, and how many there are. */
function usePending(more: Params = {}) {
  const { productID } = useProduct()
  const may = useMay()
  const params = { ProductID: productID, BizEventStatusID: pending, Order: 'desc', ...more }
  const { data } = useQuery({
    queryKey: ['pending notices', params],
    queryFn: () =>
      api.get<BizEvent[]>('/BizEvent', { ...params, PageSize: latest, IncludeTotal: true }),
    enabled: may('BizEvent.Read'),
  })
  return { notices: data?.data ?? [], number: data?.totalCount ?? 0 }
}

const useDistributions = () => {
  const { productID } = useProduct()
  const may = useMay()
  return useRead<Distribution[]>(
    '/Distribution',
    { ProductID: productID, PageSize: most, Order: 'desc' },
    may('Distribution.Read'),
  )
}

/** What the product comes to, and what is next; each figure leads to its list. */
function Now() {
  const { slug } = useProduct()
  const money = useMoney()
  const days = byDay(useMonths().data ?? [])
  const last = days.at(-1)?.[1] ?? []
  const [own, ...others] = useByCurrency()(last)
  const isOwn = ({ investmentID }: HoldingMonth) =>
    own.rows.some((one) => one.investmentID === investmentID)
  const before = (days.at(-2)?.[1] ?? []).filter(isOwn)
  const value = (months: HoldingMonth[]) => money(worth(months), months[0]) || '—'
  const all = usePending()
  const redemptions = usePending({ BizEventTypeID: redemption })
  const may = useMay()
  return (
    <Figures>
      <Figure
        label={`Value, ${own.currency}`}
        value={<PageLink to={`/${slug}/investors`}>{value(own.rows)}</PageLink>}
        note={
          <>
            <InOthers others={others} amount={({ rows }) => value(rows)} />
            {before.length > 0 && `${value(before)} on ${day(before[0]?.date)}`}
            <Unpriced rows={last} />
          </>
        }
      />
      <Figure
        label="Holdings"
        value={
          <PageLink to={`/${slug}/investors`}>
            {count(last.reduce((sum, { holders }) => sum + (holders ?? 0), 0))}
          </PageLink>
        }
        note={`in ${count(last.length)} ${last.length === 1 ? 'class' : 'classes'}`}
      />
      {may('BizEvent.Read') && (
        <Figure
          label="Notices pending"
          value={
            <PageLink to={`/${slug}/notices?BizEventStatusID=${pending}`}>
              {count(all.number)}
            </PageLink>
          }
          note={`${count(redemptions.number)} ${redemptions.number === 1 ? 'redemption' : 'redemptions'}`}
        />
      )}
      {may('Distribution.Read') && <NextPayment />}
    </Figures>
  )
}

function NextPayment() {
  const { slug, today } = useProduct()
  const open = (useDistributions().data ?? []).filter((one) => !isDone(one))
  const next = open.toSorted((a, b) => (a.paymentDate ?? '').localeCompare(b.paymentDate ?? ''))[0]
  if (!next) return <Figure label="Next distribution" value="None" />
  const isLate = (next.paymentDate ?? '') < today()
  return (
    <Figure
      label={isLate ? 'Distribution overdue since' : 'Next distribution'}
      value={
        <PageLink to={`/${slug}/distributions/${next.corporateActionID}`}>
          {day(next.paymentDate)}
        </PageLink>
      }
      note={next.name}
    />
  )
}

/** The value of all classes over the last year, and the money that came and went. */
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
  const { prices = [] } = usePrices(investment.investmentID)
  const { data = [] } = useMonths()
  const last = prices.at(-1)
  const now = data.findLast(({ investmentID }) => investmentID === investment.investmentID)
  const title = [investment.securityCode, investment.name].filter(Boolean).join(' · ')
  const holders = `/${slug}/investors?InvestmentID=${investment.investmentID}`
  return (
    <Card
      title={title}
      actions={<More to={`/${slug}/classes/${investment.investmentID}`}>Prices</More>}
    >
      <Stack gap="sm">
        <Facts
          facts={[
            ['Price', last ? `${price(last.price)} ${currency}` : 'No price'],
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
          points={pointsOf(prices)}
          format={price}
          tall={110}
        />
      </Stack>
    </Card>
  )
}

function LatestDistributions() {
  const { slug } = useProduct()
  const { data = [] } = useDistributions()
  const rows = data
    .toSorted((a, b) => (b.recordDate ?? '').localeCompare(a.recordDate ?? ''))
    .slice(0, latest)
  return (
    <Card
      title="Distributions"
      padded={false}
      actions={rows.length > 0 && <More to={`/${slug}/distributions`}>All distributions</More>}
    >
      {rows.length === 0 ? (
        <Empty title="None yet" />
      ) : (
        <Rows
          label="Latest distributions"
          keyOf={({ corporateActionID }) => corporateActionID ?? 0}
          rows={rows}
          columns={[
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
          ]}
        />
      )}
    </Card>
  )
}

function PendingNotices() {
  const { slug } = useProduct()
  const { name } = useLookups()
  const money = useMoney()
  const { notices, number } = usePending()
  const list = `/${slug}/notices?BizEventStatusID=${pending}`
  return (
    <Card
      title="Notices that wait"
      padded={false}
      actions={number > 0 && <More to={list}>All {count(number)}</More>}
    >
      {notices.length === 0 ? (
        <Empty title="Nothing waits" />
      ) : (
        <Rows
          label="Notices that wait"
          keyOf={({ bizEventID }) => bizEventID ?? 0}
          rows={notices}
          columns={[
            { id: 'investor', title: 'Investor', text: (row) => row.bizEntityName ?? '' },
            { id: 'what', title: 'What', text: (row) => name('BizEventType', row.bizEventTypeID) },
            { id: 'day', title: 'For', text: (row) => day(row.bizEventDate) },
            { id: 'amount', title: 'Amount', right: true, text: (row) => money(row.amount, row) },
          ]}
        />
      )}
    </Card>
  )
}

/** The entries of the last 24 hours, of the product or of none: newest first. */
function LastChanges() {
  const { productID } = useProduct()
  const [since] = useState(() => daysAgo(1))
  const isOurs = (of: number | null) => of === null || of === productID
  const { data = [] } = useRead<Audit[]>('/Audit', {
    'OccurredDate.greaterThanOrEqual': since,
    PageSize: 100,
    Order: 'desc',
  })
  const last = data
    .filter(({ operation, productID: of }) => !operation?.includes('/User/') && isOurs(of))
    .slice(0, latest)
  return (
    <Card
      title="Last changes"
      padded={false}
      actions={<More to="/settings/audit">Audit trail</More>}
    >
      {last.length === 0 ? (
        <Empty title="Nothing in the last 24 hours" />
      ) : (
        <Stack gap={0} pb="xs">
          <Rows
            label="Last changes"
            keyOf={({ auditID }) => auditID ?? 0}
            rows={last}
            columns={[
              { id: 'when', title: 'When', text: (row) => moment(row.occurredDate) },
              { id: 'who', title: 'Who', text: (row) => row.username ?? '' },
              { id: 'what', title: 'What', text: (row) => deedOf(row.operation) },
            ]}
          />
        </Stack>
      )}
    </Card>
  )
}
