import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLookups } from '../shared/api/lookups.ts'
import { useCurrency, useMoney, useUnits } from '../shared/api/money.ts'
import { allOf } from '../shared/api/pages.ts'
import { useProduct } from '../shared/api/products.ts'
import type { Distribution, EntitledAccount } from '../shared/api/types.ts'
import { isZero, subtract, sum } from '../shared/decimal.ts'
import { count } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { ListView } from '../shared/list/ListView.tsx'
import { Answer } from '../shared/view/Answer.tsx'
import { Figure, Figures } from '../shared/view/Facts.tsx'
import { Empty } from '../shared/view/Page.tsx'
import { Status } from '../shared/view/Status.tsx'

type Props = { distribution: Distribution }
type Totals = NonNullable<ReturnType<typeof useTotals>['data']>

/** Every entitlement, with totals that agree to the cent. */
export function Accounts({ distribution }: Props) {
  const { productID, corporateActionID } = distribution
  const { slug } = useProduct()
  return (
    <>
      <Reconciliation distribution={distribution} />
      <div style={{ height: 420, display: 'flex', flexDirection: 'column', gap: 8 }}>
        <ListView<EntitledAccount>
          id="entitlements"
          label="Accounts"
          path="/Distribution/Account"
          params={{ ProductID: productID, CorporateActionID: corporateActionID }}
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

/**
 * The totals of all entitlements, added up from the rows themselves and not from figures stored by
 * the service.
 */
function useTotals({ productID, corporateActionID, distributionStatusID }: Distribution) {
  return useQuery({
    queryKey: ['totals', corporateActionID, distributionStatusID],
    queryFn: async () => {
      const rows = await allOf<EntitledAccount>('/Distribution/Account', {
        ProductID: productID,
        CorporateActionID: corporateActionID,
      })
      const total = (field: keyof EntitledAccount) =>
        sum(rows.map((row) => row[field] as string | null))
      return {
        accounts: rows.length,
        units: total('units'),
        gross: total('grossAmount'),
        tax: total('taxAmount'),
        drp: total('drpAmount'),
        cash: total('cashAmount'),
      }
    },
  })
}

const Reconciliation = ({ distribution }: Props) => (
  <Answer of={useTotals(distribution)}>
    {(totals) => <Reconciled totals={totals} distribution={distribution} />}
  </Answer>
)

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
