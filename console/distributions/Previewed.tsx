import { Stack, Tabs, Text } from '@mantine/core'
import type { Static } from 'typebox'
import type { DistributionPreview } from '../../src/money/distribution/preview.ts'
import type { Money } from '../shared/api/money.ts'
import { useProduct } from '../shared/api/products.ts'
import type { EntitledAccount } from '../shared/api/types.ts'
import { subtract } from '../shared/decimal.ts'
import { count, day } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { AccountLink } from '../shared/view/AccountLink.tsx'
import { Figure, Figures } from '../shared/view/Facts.tsx'
import { PageLink } from '../shared/view/PageLink.tsx'
import { Rows } from '../shared/view/Rows.tsx'
import { Tag } from '../shared/view/Status.tsx'
import { componentName } from './words.ts'

/** The answer of Preview; its accounts have the form of GET /Distribution/Account. */
export type Preview = Omit<Static<typeof DistributionPreview>, 'accounts'> & {
  accounts: EntitledAccount[]
}
type SinceLast = NonNullable<Preview['sinceLast']>
type Compared = SinceLast['joined'][number]

type PartProps = { preview: Preview; money: Money; units: Money }
type Props = PartProps & { currency: string }

/**
 * Totals, components, tax, exceptions and accounts, each beside those of the previous distribution.
 */
export function Previewed({ preview, money, units, currency }: Props) {
  const { sinceLast: last } = preview
  const was = (value: string | undefined) => value !== undefined && `was ${value}`
  return (
    <Stack gap="sm">
      {last && (
        <Text size="sm" className="quiet">
          Compared with{' '}
          <InDistribution id={last.corporateActionID}>{last.name ?? 'the last'}</InDistribution> of
          record date {day(last.recordDate)}.
        </Text>
      )}
      <Figures>
        <Figure
          label="Accounts"
          value={count(preview.accountCount)}
          note={was(last?.accountCount.toString())}
        />
        <Figure label="Units" value={units(preview.units)} note={last && was(units(last.units))} />
        <Figure
          label={`Gross, ${currency}`}
          value={money(preview.grossAmount)}
          note={last && was(money(last.grossAmount))}
        />
        <Figure
          label="Tax withheld"
          value={money(preview.taxAmount)}
          note={last && was(money(last.taxAmount))}
        />
        <Figure
          label="Reinvested"
          value={money(preview.drpAmount)}
          note={last && was(money(last.drpAmount))}
        />
        <Figure
          label="Cash"
          value={money(preview.cashAmount)}
          note={last && was(money(last.cashAmount))}
        />
      </Figures>
      <Parts preview={preview} money={money} units={units} />
    </Stack>
  )
}

const reasons: { [code: string]: string } = {
  no_payment_detail: 'No payment details for distributions',
  closed_account: 'The account is closed',
}

type Exception = Preview['exceptions'][number]

const exceptionColumns: Column<Exception>[] = [
  {
    id: 'account',
    title: 'Account',
    text: ({ accountNumber }) => accountNumber,
    cell: ({ accountNumber }) => <AccountLink number={accountNumber} />,
  },
  { id: 'why', title: 'Why', text: ({ code }) => reasons[code] ?? code },
]

/** Accounts that will be paid but should be looked at first. */
function Exceptions({ preview: { exceptionCount, exceptions } }: { preview: Preview }) {
  return (
    <>
      <Rows
        label="Accounts to look at"
        columns={exceptionColumns}
        rows={exceptions}
        keyOf={({ accountID, code }) => `${accountID} ${code}`}
      />
      {exceptionCount > exceptions.length && (
        <Text size="sm" className="quiet" mt="xs">
          The first {count(exceptions.length)} of {count(exceptionCount)}.
        </Text>
      )}
    </>
  )
}

function Parts({ preview, money, units }: PartProps) {
  const { sinceLast: last, accounts, accountCount, exceptionCount } = preview
  return (
    <Tabs defaultValue="components" keepMounted={false}>
      <Tabs.List mb="xs" style={{ overflowX: 'auto', flexWrap: 'nowrap' }}>
        <Tabs.Tab value="components">Components</Tabs.Tab>
        <Tabs.Tab value="accounts">Accounts</Tabs.Tab>
        {exceptionCount > 0 && (
          <Tabs.Tab value="exceptions">
            <Tag tone="waits">{count(exceptionCount)} to look at</Tag>
          </Tabs.Tab>
        )}
        {last && <Tabs.Tab value="changed">Changed {count(last.changedCount)}</Tabs.Tab>}
        {last && <Tabs.Tab value="joined">Joined {count(last.joinedCount)}</Tabs.Tab>}
        {last && <Tabs.Tab value="left">Left {count(last.leftCount)}</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="components">
        <Components preview={preview} money={money} />
      </Tabs.Panel>
      <Tabs.Panel value="exceptions">
        <Exceptions preview={preview} />
      </Tabs.Panel>
      <Tabs.Panel value="accounts">
        <Rows
          label="Accounts entitled"
          columns={entitledColumns(money, units)}
          rows={accounts}
          keyOf={({ accountID }) => accountID ?? 0}
        />
        {accountCount > accounts.length && (
          <Text size="sm" className="quiet" mt="xs">
            The first {count(accounts.length)} of {count(accountCount)}; once it is declared, all
            stand here.
          </Text>
        )}
      </Tabs.Panel>
      {last && (
        <>
          <Differences
            {...{ money, of: last }}
            value="changed"
            label="Accounts that changed"
            none="None differs."
          />
          <Differences
            {...{ money, of: last }}
            value="joined"
            label="Accounts that joined"
            none="Nobody joined."
          />
          <Differences
            {...{ money, of: last }}
            value="left"
            label="Accounts that left"
            none="Nobody left."
          />
        </>
      )}
    </Tabs>
  )
}

/**
 * The amount of each tax component, beside that of the previous distribution where there was one.
 */
function Components({ preview, money }: Omit<PartProps, 'units'>) {
  const { sinceLast: last, taxComponents } = preview
  const name = { id: 'name', title: 'Component', text: componentOf }
  const now = { id: 'now', title: 'Now', right: true, text: (row: Part) => money(row.amount) }
  const then: Column<Part>[] = [
    { id: 'then', title: 'Then', right: true, text: (row) => money(row.lastAmount) },
    {
      id: 'difference',
      title: 'Difference',
      right: true,
      text: (row) => money(subtract(row.amount, row.lastAmount ?? '0')),
    },
  ]
  return (
    <Rows<Part>
      label="Components"
      columns={last ? [name, now, ...then] : [name, now]}
      rows={last?.components ?? taxComponents}
      keyOf={({ taxComponentName }) => taxComponentName}
    />
  )
}

type Part = { taxComponentName: string; amount: string; lastAmount?: string }
const componentOf = ({ taxComponentName }: Part) => componentName(taxComponentName)

type DifferencesProps = {
  value: 'joined' | 'left' | 'changed'
  label: string
  of: SinceLast
  none: string
  money: Money
}

function Differences({ value, label, of: last, none, money }: DifferencesProps) {
  const rows = last[value]
  const number = last[`${value}Count`]
  return (
    <Tabs.Panel value={value}>
      {rows.length === 0 ? (
        <Text size="sm" className="quiet">
          {none}
        </Text>
      ) : (
        <Rows
          label={label}
          columns={comparedColumns(money)}
          rows={rows}
          keyOf={({ accountID }) => accountID}
        />
      )}
      {number > rows.length && (
        <Text size="sm" className="quiet" mt="xs">
          The {rows.length} largest of {count(number)}.
        </Text>
      )}
    </Tabs.Panel>
  )
}

const InDistribution = ({ id, children }: { id: number; children: string }) => (
  <PageLink underline="always" to={`/${useProduct().slug}/distributions/${id}`}>
    {children}
  </PageLink>
)

const Investor = ({ id, name }: { id: number; name: string }) => (
  <PageLink to={`/${useProduct().slug}/investors/${id}`}>{name || '(no name)'}</PageLink>
)

const investorColumn = {
  id: 'investor',
  title: 'Investor',
  text: (row: { bizEntityName?: string | null }) => row.bizEntityName ?? '',
  cell: (row: { bizEntityID?: number | null; bizEntityName?: string | null }) => (
    <Investor id={row.bizEntityID ?? 0} name={row.bizEntityName ?? ''} />
  ),
}

const comparedColumns = (money: Money): Column<Compared>[] => [
  investorColumn,
  { id: 'account', title: 'Account', text: (row) => row.accountNumber },
  { id: 'then', title: 'Then', right: true, text: (row) => money(row.lastGrossAmount) },
  { id: 'now', title: 'Now', right: true, text: (row) => money(row.grossAmount) },
  { id: 'difference', title: 'Difference', right: true, text: (row) => money(row.difference) },
]

const entitledColumns = (money: Money, units: Money): Column<EntitledAccount>[] => [
  investorColumn,
  { id: 'account', title: 'Account', text: (row) => row.accountNumber ?? '' },
  { id: 'units', title: 'Units', right: true, text: (row) => units(row.units) },
  { id: 'gross', title: 'Gross', right: true, text: (row) => money(row.grossAmount) },
  { id: 'tax', title: 'Tax', right: true, text: (row) => money(row.taxAmount) },
  { id: 'drp', title: 'Reinvested', right: true, text: (row) => money(row.drpAmount) },
  { id: 'cash', title: 'Cash', right: true, text: (row) => money(row.cashAmount) },
]
