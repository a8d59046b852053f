import { Button, Stack, Tabs } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { DocumentList } from '../documents/DocumentList.tsx'
import { useSeen } from '../frame/recent.ts'
import { InvestorHolds } from '../holds/InvestorHolds.tsx'
import { AtCost } from '../overview/Unpriced.tsx'
import { useLookups } from '../shared/api/lookups.ts'
import { type InCurrency, useByCurrency, useMoney } from '../shared/api/money.ts'
import { useReadAll } from '../shared/api/pages.ts'
import { useProduct, useReadNow } from '../shared/api/products.ts'
import type { BizEntity, Holding } from '../shared/api/types.ts'
import { sum } from '../shared/decimal.ts'
import { type Past, pastParams } from '../shared/form/Past.tsx'
import { count, plain } from '../shared/format.ts'
import { readSearch } from '../shared/list/filters.ts'
import { useMay } from '../shared/permission.ts'
import { unread } from '../shared/view/Answer.tsx'
import { Figure, Figures } from '../shared/view/Facts.tsx'
import { InOthers } from '../shared/view/InOthers.tsx'
import { Icon } from '../shared/view/icons.tsx'
import { Missing, Page } from '../shared/view/Page.tsx'
import { Status, Tag } from '../shared/view/Status.tsx'
import { Details } from './Details.tsx'
import { Holdings } from './Holdings.tsx'
import classes from './investor.module.css'
import { History, InvestorDistributions, InvestorTransactions } from './Ledger.tsx'
import { Parties } from './Parties.tsx'
import { TaxStanding } from './TaxStanding.tsx'

/** The page of one investor. */
export function Investor() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { productID, slug } = useProduct()
  const [entity] = useReadNow<BizEntity[]>('/BizEntity', { ProductID: productID, BizEntityID: id })
  if (!entity)
    return (
      <Missing title="No such investor" back={{ to: `/${slug}/investors`, label: 'Investors' }}>
        They may be of another product, perhaps of one you may not see.
      </Missing>
    )
  return <Known entity={entity} />
}

function Known({ entity }: { entity: BizEntity }) {
  const { slug } = useProduct()
  const may = useMay()
  const { name } = useLookups()
  const { bizEntityID, accounts } = entity
  const numbers = accounts.map(({ accountNumber }) => accountNumber).join(', ')
  const title = entity.name ?? ''
  const to = `/${slug}/investors/${bizEntityID}`
  useSeen(to, title, numbers, true)
  const edit = may('BizEntity.Write') && (
    <Button
      variant="default"
      leftSection={<Icon name="pen" size={16} />}
      renderRoot={(props) => (
        <Link
          to="/$product/investors/$id/edit"
          params={{ product: slug, id: String(bizEntityID) }}
          {...props}
        />
      )}
    >
      Edit
    </Button>
  )
  return (
    <Page
      title={title}
      back={{ to: `/${slug}/investors`, label: 'Investors' }}
      aside={
        <>
          <Tag>{name('BizEntityType', entity.bizEntityTypeID)}</Tag>
          <Status category="BizEntityStatus" id={entity.bizEntityStatusID} />
        </>
      }
      actions={edit}
    >
      <Head entity={entity} />
      <Sections entity={entity} />
    </Page>
  )
}

function Head({ entity }: { entity: BizEntity }) {
  const money = useMoney()
  const read = useHoldings(entity)
  const { data: holdings = [] } = read
  const isKnown = read.data !== undefined || entity.accounts.length === 0
  const byCurrency = useByCurrency()
  const [worth, ...others] = byCurrency(entity.accounts.flatMap(({ balances }) => balances))
  const { currency } = worth
  const amount = ({ rows }: typeof worth) => money(sum(rows.map((one) => one.amount)), rows[0])
  return (
    <Figures>
      <Figure
        label={`Value, ${currency}`}
        value={amount(worth)}
        note={
          <>
            <InOthers others={others} amount={amount} />
            <AtCost rows={holdings} />
          </>
        }
      />
      {isKnown ? (
        <>
          <Units holdings={holdings} />
          <Total label="Unrealised gain" field="unrealisedGain" {...{ currency, holdings }} />
          <Total label="Distributions paid" field="distributionsPaid" {...{ currency, holdings }} />
        </>
      ) : (
        ['Units', 'Unrealised gain', 'Distributions paid'].map((label) => (
          <Figure key={label} label={label} value={unread(read)} />
        ))
      )}
      <AccountNumbers accounts={entity.accounts} />
    </Figures>
  )
}

const fewNumbers = 3

/**
 * The first few account numbers and the number of the others, which are listed among the parties
 * and accounts.
 */
function AccountNumbers({ accounts }: Pick<BizEntity, 'accounts'>) {
  const few = accounts.slice(0, fewNumbers).map(({ accountNumber }) => accountNumber)
  const more = accounts.length - few.length
  return (
    <Figure
      label={more > 0 ? `${count(accounts.length)} accounts` : 'Account'}
      value={few.join(', ')}
      note={more > 0 && `and ${count(more)} more`}
    />
  )
}

/** The units of each class. Units of two classes are different things and are never added up. */
function Units({ holdings }: { holdings: Holding[] }) {
  const classes = [...new Set(holdings.map(({ investmentID }) => investmentID))].map((id) => {
    const rows = holdings.filter(({ investmentID }) => investmentID === id)
    const code = rows[0]?.securityCode ?? rows[0]?.investmentName
    return { id, code, units: plain(sum(rows.map(({ quantity }) => quantity))) }
  })
  const [first, ...others] = classes
  return (
    <Figure
      label={others.length > 0 ? `Units, ${first?.code}` : 'Units'}
      value={first?.units ?? '0'}
      note={others.map(({ id, code, units }) => (
        <div key={id}>
          and {units} {code}
        </div>
      ))}
    />
  )
}

type TotalProps = {
  label: string
  field: 'unrealisedGain' | 'distributionsPaid'
  currency: string
  holdings: Holding[]
}

/**
 * A total in the currency of the headline value, followed by totals in other currencies with their
 * names.
 */
function Total({ label, field, currency, holdings }: TotalProps) {
  const money = useMoney()
  const all = useByCurrency()(holdings)
  const own = all.find((one) => one.currency === currency) ?? { currency, rows: [] }
  const total = ({ rows }: InCurrency<Holding>) =>
    money(sum(rows.map((one) => one[field])), rows[0])
  const others = all.filter((one) => one.currency !== currency && one.rows.length > 0)
  return (
    <Figure label={label} value={total(own)} note={<InOthers others={others} amount={total} />} />
  )
}

/** The holdings in all accounts of an investor, now or at another time. */
export function useHoldings({ accounts }: BizEntity, past: Past = {}) {
  const { productID } = useProduct()
  const ids = accounts.map(({ accountID }) => accountID).join(',')
  return useReadAll<Holding>(
    '/BizEntity/Account/Holdings',
    { ProductID: productID, 'AccountID.in': ids, ...pastParams(past) },
    ids !== '',
  )
}

const sections = [
  'holdings',
  'transactions',
  'distributions',
  'people',
  'details',
  'tax',
  'holds',
  'documents',
  'history',
]

function Sections({ entity }: { entity: BizEntity }) {
  const may = useMay()
  const navigate = useNavigate()
  const { section = 'holdings' } = readSearch(useSearch({ strict: false }))
  const open = (next: string | null) =>
    void navigate({ to: '.', search: { section: next ?? 'holdings' } as never, replace: true })
  // On a narrow screen the tab of the current section may be outside the view.
  const atTab = (list: HTMLElement | null) =>
    list?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  return (
    <Tabs
      value={sections.includes(section) ? section : 'holdings'}
      onChange={open}
      keepMounted={false}
    >
      <Tabs.List mb="md" className={classes.tabs} ref={atTab}>
        <Tabs.Tab value="holdings">Holdings</Tabs.Tab>
        {may('BizTransaction.Read') && <Tabs.Tab value="transactions">Transactions</Tabs.Tab>}
        {may('Distribution.Read') && <Tabs.Tab value="distributions">Distributions</Tabs.Tab>}
        <Tabs.Tab value="people">People and accounts</Tabs.Tab>
        <Tabs.Tab value="details">Details</Tabs.Tab>
        {may('Tax.Read') && <Tabs.Tab value="tax">Tax</Tabs.Tab>}
        {may('Hold.Read') && <Tabs.Tab value="holds">Holds</Tabs.Tab>}
        {may('Document.Read') && <Tabs.Tab value="documents">Documents</Tabs.Tab>}
        {may('Audit.Read') && <Tabs.Tab value="history">History</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="holdings">
        <Holdings entity={entity} />
      </Tabs.Panel>
      <Tabs.Panel value="transactions">
        <InvestorTransactions entity={entity} />
      </Tabs.Panel>
      <Tabs.Panel value="distributions">
        <InvestorDistributions entity={entity} />
      </Tabs.Panel>
      <Tabs.Panel value="people">
        <Stack>
          <Parties entity={entity} />
        </Stack>
      </Tabs.Panel>
      <Tabs.Panel value="details">
        <Details entity={entity} />
      </Tabs.Panel>
      <Tabs.Panel value="tax">
        <TaxStanding entity={entity} />
      </Tabs.Panel>
      <Tabs.Panel value="holds">
        <InvestorHolds entity={entity} />
      </Tabs.Panel>
      <Tabs.Panel value="documents">
        <Stack gap="xs" h={460}>
          <DocumentList owner={{ bizEntityID: entity.bizEntityID ?? 0 }} />
        </Stack>
      </Tabs.Panel>
      <Tabs.Panel value="history">
        <History entity={entity} />
      </Tabs.Panel>
    </Tabs>
  )
}
