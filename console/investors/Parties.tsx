import { Text } from '@mantine/core'
import { useLookups } from '../shared/api/lookups.ts'
import { useMoney } from '../shared/api/money.ts'
import type { Account, BizEntity, BizEntityParty, PaymentDetail } from '../shared/api/types.ts'
import { day, plain } from '../shared/format.ts'
import type { Column } from '../shared/list/columns.ts'
import { Facts } from '../shared/view/Facts.tsx'
import { Card, Empty } from '../shared/view/Page.tsx'
import { Rows } from '../shared/view/Rows.tsx'
import { Status, Tag } from '../shared/view/Status.tsx'
import { addressText, fullName, partyName } from './people.ts'

/** The parties of an investor, its accounts, and the bank details for its payments. */
export function Parties({ entity }: { entity: BizEntity }) {
  return (
    <>
      {entity.bizEntityParties.map((party) => (
        <Party key={party.bizEntityPartyID} party={party} />
      ))}
      <Accounts accounts={entity.accounts} />
      <Payments details={entity.paymentDetails} />
    </>
  )
}

const roles = [
  ['isPrimaryContact', 'Primary contact'],
  ['isSignatory', 'Signatory'],
  ['isIncomeReceiving', 'Receives income'],
  ['isAuthorisedNominee', 'Authorised nominee'],
  ['isPowerOfAttorney', 'Power of attorney'],
] as const

function Party({ party }: { party: BizEntityParty }) {
  const { person, organisation } = party
  const { name } = useLookups()
  const tags = roles
    .filter(([field]) => party[field])
    .map(([, label]) => <Tag key={label}>{label}</Tag>)
  const contacts = (person ?? organisation)?.communications ?? []
  const places = (person ?? organisation)?.addresses ?? []
  return (
    <Card title={partyName(party)} actions={tags}>
      <Facts
        facts={[
          ['Born', day(person?.dateOfBirth)],
          ['Tax file number', person?.taxationFileNumber ?? organisation?.taxationFileNumber],
          ['Tax country', person?.taxationCountryCode ?? organisation?.taxationCountryCode],
          ['ABN', person?.abn ?? organisation?.abn],
          ['ACN', organisation?.acn],
          ['Kind', name('OrganisationType', organisation?.organisationTypeID)],
          ...contacts.map(
            (one) =>
              [name('CommunicationType', one.communicationTypeID), one.name] as [string, string],
          ),
          ...places.map(
            (one) =>
              [`${name('AddressType', one.addressTypeID)} address`, addressText(one)] as [
                string,
                string,
              ],
          ),
        ]}
      />
      {organisation && organisation.associatedPersons.length > 0 && (
        <Text size="sm" mt="md" component="div">
          {organisation.associatedPersons.map((one) => (
            <div key={one.personID}>
              {one.person && fullName(one.person)}{' '}
              <span className="quiet">{name('RelationshipType', one.relationshipTypeID)}</span>
            </div>
          ))}
        </Text>
      )}
    </Card>
  )
}

function Accounts({ accounts }: { accounts: Account[] }) {
  const { name, code } = useLookups()
  const money = useMoney()
  const columns: Column<Account>[] = [
    { id: 'number', title: 'Account', text: (row) => row.accountNumber ?? '' },
    {
      id: 'state',
      title: 'State',
      text: (row) => name('AccountStatus', row.accountStatusID),
      cell: (row) => <Status category="AccountStatus" id={row.accountStatusID} />,
    },
    {
      id: 'drp',
      title: 'Reinvestment',
      text: (row) =>
        [name('DRPType', row.drpTypeID), plain(row.drpValue)].filter(Boolean).join(' '),
    },
    { id: 'currency', title: 'Currency', text: (row) => code('Currency', row.currencyID) },
    { id: 'external', title: 'External id', text: (row) => row.externalAccountId ?? '' },
    { id: 'value', title: 'Value', right: true, text: (row) => money(row.balance, row) },
  ]
  return (
    <Card title="Accounts" padded={false}>
      <Rows
        label="Accounts"
        columns={columns}
        rows={accounts}
        keyOf={(row) => row.accountID ?? 0}
      />
    </Card>
  )
}

function Payments({ details }: { details: PaymentDetail[] }) {
  const { name } = useLookups()
  const purposes = (row: PaymentDetail) =>
    [
      row.isForDistribution && 'Distributions',
      row.isForRedemption && 'Redemptions',
      row.isForDeposit && 'Deposits',
      row.isForOther && 'Other',
    ]
      .filter(Boolean)
      .join(', ')
  const columns: Column<PaymentDetail>[] = [
    { id: 'name', title: 'Account name', text: (row) => row.accountName ?? '' },
    { id: 'type', title: 'By', text: (row) => name('PaymentType', row.paymentTypeID) },
    { id: 'bsb', title: 'BSB', text: (row) => row.bsb ?? '' },
    { id: 'number', title: 'Account', text: (row) => row.accountNumber ?? row.iban ?? '' },
    { id: 'for', title: 'For', text: purposes },
    {
      id: 'default',
      title: 'Usual',
      text: (row) => (row.isDefault ? 'Yes' : ''),
      cell: (row) => row.isDefault && <Tag tone="good">Yes</Tag>,
    },
  ]
  return (
    <Card title="Payment details" padded={false}>
      {details.length === 0 ? (
        <Empty title="No payment details">
          Distributions and redemptions cannot be paid to a bank until there are some.
        </Empty>
      ) : (
        <Rows
          label="Payment details"
          columns={columns}
          rows={details}
          keyOf={(row) => row.paymentDetailID ?? 0}
        />
      )}
    </Card>
  )
}
