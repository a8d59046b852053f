import { Stack } from '@mantine/core'
import { useLookups } from '../shared/api/lookups.ts'
import type { BizEntity } from '../shared/api/types.ts'
import { day, moment } from '../shared/format.ts'
import { type Fact, Facts } from '../shared/view/Facts.tsx'
import { Card } from '../shared/view/Page.tsx'
import { addressText } from './people.ts'

/** Answers contain ids of a link that its write schema does not declare. */
const parentOf = (link: object) => {
  const { parentExternalBizEntityId, parentBizEntityID } = link as {
    parentExternalBizEntityId?: string | null
    parentBizEntityID?: number
  }
  return parentExternalBizEntityId ?? parentBizEntityID
}

/** All other facts about an investor. */
export function Details({ entity }: { entity: BizEntity }) {
  const { name } = useLookups()
  const about: Fact[] = [
    ['Legal name', entity.legalName],
    ['External id', entity.externalBizEntityId],
    ['Investor id', entity.bizEntityID],
    ['Customer code', entity.customerCode],
    ['Adviser', entity.advisorNumber],
    ['Investor type', name('InvestorType', entity.investorTypeID)],
    ['Category', name('CustomerCategory', entity.customerCategoryID)],
    ['Source of funds', name('SourceOfFunds', entity.sourceOfFundsID)],
    ['Purpose', name('PurposeOfInvestment', entity.purposeOfInvestmentID)],
    ['Tax country', entity.taxationCountryCode],
    ['Correspondence', name('CommunicationPreference', entity.communicationPreferenceID)],
    ['Contact person', entity.contactPerson],
    ['Sophisticated investor', entity.sophisticatedInvestorEligibility],
    ['Certificate of', day(entity.sophisticatedInvestorCertificateDate)],
    ['Special conditions', entity.specialConditions],
    ['Description', entity.description],
    ['Created', moment(entity.createdDate)],
  ]
  const contact: Fact[] = [
    ...entity.addresses.map(
      (one): Fact => [
        `${name('AddressType', one.addressTypeID) || 'Other'} address`,
        addressText(one),
      ],
    ),
    ...entity.communications.map(
      (one): Fact => [name('CommunicationType', one.communicationTypeID), one.name],
    ),
  ]
  return (
    <Stack>
      <Card title="About">
        <Facts facts={about} />
      </Card>
      {contact.length > 0 && (
        <Card title="Addresses and contacts">
          <Facts facts={contact} />
        </Card>
      )}
      {entity.bizEntityParents.length > 0 && (
        <Card title="Parents">
          <Facts
            facts={entity.bizEntityParents.map(
              (one): Fact => [
                `From ${day(one.activeFrom)}${one.activeTo ? ` to ${day(one.activeTo)}` : ''}`,
                parentOf(one),
              ],
            )}
          />
        </Card>
      )}
    </Stack>
  )
}
