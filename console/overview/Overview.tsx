import { Anchor, SimpleGrid, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { pointsOf, usePrices } from '../classes/prices.ts'
import { useLookups } from '../shared/api/lookups.ts'
import { useInvestments, useProduct, useRead } from '../shared/api/products.ts'
import type { Audit, BizEvent, Distribution, Investment } from '../shared/api/types.ts'
import { count, day, moment, money, price, today } from '../shared/format.ts'
import { useMay } from '../shared/permission.ts'
import { LineChart } from '../shared/view/Chart.tsx'
import { Figure, Figures } from '../shared/view/Facts.tsx'
import { Card, Empty, Page } from '../shared/view/Page.tsx'
import { Rows } from '../shared/view/Rows.tsx'
import { Status } from '../shared/view/Status.tsx'

/** What a registry team wants to know in the morning. */
export function Overview() {
  const product = useProduct()
  const may = useMay()
  const investments = useInvestments()
  return (
    <Page title={product.name ?? 'Overview'}>
      <Waiting />
      {investments.length === 0 && (
        <div className="card">
          <Empty title="Nothing here yet">
            Begin with a class of units under “Classes and prices”, then add investors and post what
            they paid in.
          </Empty>
        </div>
      )}
      <SimpleGrid cols={{ base: 1, md: investments.length > 1 ? 2 : 1 }}>
        {investments.map((one) => (
          <ClassCard key={one.investmentID} investment={one} />
        ))}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {may('Distribution.Read') && <LatestDistributions />}
        {may('BizEvent.Read') && <PendingNotices />}
      </SimpleGrid>
      {may('Audit.Read') && <LastChanges />}
    </Page>
  )
}

const isPending = ({ bizEventStatusID }: BizEvent) => bizEventStatusID === 1
const most = 1000

const useNotices = () => {
  const { productID } = useProduct()
  const may = useMay()
  return useRead<BizEvent[]>(
    '/BizEvent',
    { ProductID: productID, PageSize: most, Order: 'desc' },
    may('BizEvent.Read'),
  )
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

/** What needs somebody, each figure leading to its list. */
function Waiting() {
  const { slug } = useProduct()
  const notices = (useNotices().data ?? []).filter(isPending)
  const distributions = useDistributions().data ?? []
  const open = distributions.filter(({ distributionStatusID }) => distributionStatusID !== 4)
  const next = open.toSorted((a, b) => (a.paymentDate ?? '').localeCompare(b.paymentDate ?? ''))[0]
  return (
    <Figures>
      <Figure
        label="Notices pending"
        value={
          <Anchor component={Link} to={`/${slug}/notices`} inherit>
            {count(notices.length)}
          </Anchor>
        }
        note={`${count(notices.filter(({ bizEventTypeID }) => bizEventTypeID === 2).length)} redemptions`}
      />
      <Figure
        label="Distributions under way"
        value={
          <Anchor component={Link} to={`/${slug}/distributions`} inherit>
            {count(open.length)}
          </Anchor>
        }
        note={`of ${count(distributions.length)} in all`}
      />
      <Figure
        label={
          next && (next.paymentDate ?? '') < today() ? 'Payment overdue since' : 'Next payment'
        }
        value={
          next ? (
            <Anchor
              component={Link}
              to={`/${slug}/distributions/${next.corporateActionID}`}
              inherit
            >
              {day(next.paymentDate)}
            </Anchor>
          ) : (
            'None'
          )
        }
        note={next?.name}
      />
      <Figure label="Today" value={day(today())} />
    </Figures>
  )
}

function ClassCard({ investment }: { investment: Investment }) {
  const { slug, currency } = useProduct()
  const { prices = [] } = usePrices(investment.investmentID)
  const last = prices.at(-1)
  const title = [investment.securityCode, investment.name].filter(Boolean).join(' · ')
  return (
    <Card
      title={title}
      actions={
        <Anchor component={Link} to={`/${slug}/classes/${investment.investmentID}`} size="sm">
          Prices
        </Anchor>
      }
    >
      <Text fz={22} fw={600} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {last ? `${price(last.price)} ${currency}` : 'No price'}
      </Text>
      <LineChart title={`Price of ${title}`} points={pointsOf(prices)} format={price} tall={130} />
    </Card>
  )
}

function LatestDistributions() {
  const { slug } = useProduct()
  const { data = [] } = useDistributions()
  const latest = data
    .toSorted((a, b) => (b.recordDate ?? '').localeCompare(a.recordDate ?? ''))
    .slice(0, 6)
  return (
    <Card title="Distributions" padded={false}>
      {latest.length === 0 ? (
        <Empty title="None yet" />
      ) : (
        <Rows
          label="Latest distributions"
          keyOf={({ corporateActionID }) => corporateActionID ?? 0}
          rows={latest}
          columns={[
            {
              id: 'name',
              title: 'Name',
              text: (row) => row.name ?? '',
              cell: (row) => (
                <Anchor
                  component={Link}
                  to={`/${slug}/distributions/${row.corporateActionID}`}
                  size="sm"
                >
                  {row.name ?? row.externalCorporateActionId}
                </Anchor>
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
  const { name } = useLookups()
  const data = (useNotices().data ?? []).filter(isPending)
  return (
    <Card title="Notices that wait" padded={false}>
      {data.length === 0 ? (
        <Empty title="Nothing waits" />
      ) : (
        <Rows
          label="Notices that wait"
          keyOf={({ bizEventID }) => bizEventID ?? 0}
          rows={data.slice(0, 6)}
          columns={[
            { id: 'investor', title: 'Investor', text: (row) => row.bizEntityName ?? '' },
            { id: 'what', title: 'What', text: (row) => name('BizEventType', row.bizEventTypeID) },
            { id: 'day', title: 'For', text: (row) => day(row.bizEventDate) },
            { id: 'amount', title: 'Amount', right: true, text: (row) => money(row.amount) },
          ]}
        />
      )}
    </Card>
  )
}

/** The last day's entries: newest first. */
function LastChanges() {
  const { data = [] } = useRead<Audit[]>('/Audit', {
    'OccurredDate.greaterThanOrEqual': today(-1),
    PageSize: 100,
    Order: 'desc',
  })
  const last = data.filter(({ operation }) => !operation?.includes('/User/')).slice(0, 6)
  return (
    <Card title="Last changes" padded={false}>
      {last.length === 0 ? (
        <Empty title="Nothing since yesterday" />
      ) : (
        <Stack gap={0} pb="xs">
          <Rows
            label="Last changes"
            keyOf={({ auditID }) => auditID ?? 0}
            rows={last}
            columns={[
              { id: 'when', title: 'When', text: (row) => moment(row.occurredDate) },
              { id: 'who', title: 'Who', text: (row) => row.username ?? '' },
              { id: 'what', title: 'What', text: (row) => row.operation ?? '' },
            ]}
          />
        </Stack>
      )}
    </Card>
  )
}
