import { Alert, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../shared/api/client.ts'
import { useLookups } from '../shared/api/lookups.ts'
import { useCurrency, useMoney, useUnits } from '../shared/api/money.ts'
import { pagesOf } from '../shared/api/pages.ts'
import { useProduct } from '../shared/api/products.ts'
import type { Distribution, EntitledAccount } from '../shared/api/types.ts'
import { isZero, subtract, sum } from '../shared/decimal.ts'
import { count, counted } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { Answer } from '../shared/view/Answer.tsx'
import { Figure, Figures } from '../shared/view/Facts.tsx'
import { Empty } from '../shared/view/Page.tsx'
import { Status } from '../shared/view/Status.tsx'

type Props = { distribution: Distribution }

/** Every entitlement, with totals that agree to the cent. */
export function Accounts({ distribution }: Props) {
  const { slug } = useProduct()
  return (
    <>
      <Reconciliation distribution={distribution} />
      <div style={{ height: 420, display: 'flex', flexDirection: 'column', gap: 8 }}>
        <ListView<EntitledAccount>
          id="entitlements"
          label="Accounts"
          path="/Distribution/Account"
          params={paramsOf(distribution)}
          filters={[{ key: 'AccountNumber', label: 'Account number', kind: 'text' }]}
          columns={useColumns(distribution)}
          to={({ bizEntityID }) => ({
            to: '/$product/investors/$id',
            params: { product: slug, id: String(bizEntityID) },
          })}
          empty={<Empty title="No account">Nobody held units on the record date.</Empty>}
        />
      </div>
    </>
  )
}

function useColumns(distribution: Distribution): Column<EntitledAccount>[] {
  const { name } = useLookups()
  const money = useMoney(distribution)
  const units = useUnits(distribution)
  return [
    {
      id: 'investor',
      title: 'Investor',
      text: (row) => row.bizEntityName ?? '',
      width: 'minmax(150px, 2fr)',
    },
    { id: 'account', title: 'Account', text: (row) => row.accountNumber ?? '', width: '80px' },
    {
      id: 'units',
      title: 'Units',
      right: true,
      text: (row) => units(row.units),
      width: 'minmax(105px, 1fr)',
    },
    {
      id: 'gross',
      title: 'Gross',
      right: true,
      text: (row) => money(row.grossAmount),
      width: 'minmax(85px, 1fr)',
    },
    {
      id: 'tax',
      title: 'Tax',
      right: true,
      text: (row) => money(row.taxAmount),
      width: 'minmax(70px, 1fr)',
    },
    {
      id: 'drp',
      title: 'Reinvested',
      right: true,
      text: (row) => money(row.drpAmount),
      width: 'minmax(85px, 1fr)',
    },
    {
      id: 'drpUnits',
      title: 'DRP units',
      right: true,
      text: (row) => units(row.drpUnits, { investmentID: distribution.drpInvestmentID }),
      width: 'minmax(95px, 1fr)',
    },
    {
      id: 'cash',
      title: 'Cash',
      right: true,
      text: (row) => money(row.cashAmount),
      width: 'minmax(85px, 1fr)',
    },
    {
      id: 'state',
      title: 'State',
      text: (row) => name('DistributionStatus', row.statusID),
      cell: (row) => <Status category="DistributionStatus" id={row.statusID} />,
      width: '100px',
    },
  ]
}

const paramsOf = ({ productID, corporateActionID }: Distribution) => ({
  ProductID: productID,
  CorporateActionID: corporateActionID,
})

const added = ['units', 'grossAmount', 'taxAmount', 'drpAmount', 'cashAmount'] as const

/**
 * The totals of all entitlements, added up from the rows themselves and not from figures stored by
 * the service. Nobody waits for them once the page is left.
 */
async function totalsOf(distribution: Distribution, signal: AbortSignal) {
  let accounts = 0
  let totals = added.map(() => '0')
  for await (const rows of pagesOf<EntitledAccount>(
    '/Distribution/Account',
    paramsOf(distribution),
  )) {
    signal.throwIfAborted()
    accounts += rows.length
    totals = added.map((field, i) => sum([totals[i], ...rows.map((row) => row[field])]))
  }
  const [units = '0', gross = '0', tax = '0', drp = '0', cash = '0'] = totals
  return { accounts, units, gross, tax, drp, cash }
}
type Totals = Awaited<ReturnType<typeof totalsOf>>

/** The most accounts that are added up unasked: more take long, and much of the service. */
const most = 10_000

/** The totals of the accounts; a stage under way changes them all the time, so it is waited for. */
function Reconciliation({ distribution }: Props) {
  const { corporateActionID, distributionStatusID, stageProgress } = distribution
  const [asked, setAsked] = useState(false)
  const key = [corporateActionID, distributionStatusID]
  const number = useQuery({
    queryKey: ['entitled', ...key],
    queryFn: async () => {
      const first = { ...paramsOf(distribution), PageSize: 1, IncludeTotal: true }
      return (await api.get<EntitledAccount[]>('/Distribution/Account', first)).totalCount ?? 0
    },
  })
  const isWanted = asked || (number.data ?? most) < most
  const totals = useQuery({
    queryKey: ['totals', ...key],
    queryFn: ({ signal }) => totalsOf(distribution, signal),
    enabled: number.data !== undefined && isWanted && !stageProgress,
  })
  if (stageProgress) return null
  return (
    <Answer of={number}>
      {(accounts) =>
        isWanted ? (
          <Answer of={totals}>
            {(known) => <Reconciled totals={known} distribution={distribution} />}
          </Answer>
        ) : (
          <Group gap="sm">
            <Text size="sm">{counted(accounts, 'account')}</Text>
            <Button size="compact-sm" variant="default" onClick={() => setAsked(true)}>
              Add them up
            </Button>
          </Group>
        )
      }
    </Answer>
  )
}

function Reconciled({ distribution, totals }: Props & { totals: Totals }) {
  const currency = useCurrency()(distribution)
  const money = useMoney(distribution)
  const units = useUnits(distribution)
  const { gross, tax, drp, cash } = totals
  const left = subtract(gross, sum([tax, drp, cash]))
  return (
    <>
      <Figures>
        <Figure label="Accounts" value={count(totals.accounts)} />
        <Figure label="Units" value={units(totals.units)} />
        <Figure label={`Gross, ${currency}`} value={money(gross)} />
        <Figure label="Tax withheld" value={money(tax)} />
        <Figure label="Reinvested" value={money(drp)} />
        <Figure
          label="Cash"
          value={money(cash)}
          note={isZero(left) ? 'Tax + reinvested + cash = gross' : undefined}
        />
      </Figures>
      {!isZero(left) && (
        <Alert color="red">
          {money(left)} {currency} of gross is neither tax, nor reinvested, nor cash.
        </Alert>
      )}
    </>
  )
}
