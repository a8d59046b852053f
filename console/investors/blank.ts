import type { BizEntity } from '../shared/api/types.ts'

/** The kinds of investor that the form guides through; joint holders are individuals. */
export type Guide = 'individual' | 'joint' | 'company' | 'trust' | 'smsf' | 'partnership'

export const guides: { value: Guide; label: string; typeID: number; persons: number }[] = [
  { value: 'individual', label: 'Individual', typeID: 1, persons: 1 },
  { value: 'joint', label: 'Joint holders', typeID: 1, persons: 2 },
  { value: 'company', label: 'Company', typeID: 2, persons: 0 },
  { value: 'trust', label: 'Trust', typeID: 3, persons: 0 },
  { value: 'smsf', label: 'Self-managed super fund', typeID: 4, persons: 0 },
  { value: 'partnership', label: 'Partnership', typeID: 5, persons: 0 },
]

const guideOf = (value: string) => guides.find((guide) => guide.value === value) ?? guides[0]!

export type PartyForm = {
  isPrimaryContact: boolean
  isSignatory: boolean
  person: ReturnType<typeof blankPerson> | null
  organisation: ReturnType<typeof blankOrganisation> | null
}

const contacts = () => [
  { communicationTypeID: 1, name: '' },
  { communicationTypeID: 3, name: '' },
]

const blankPerson = () => ({
  titleID: null as number | null,
  firstName: '',
  middleName: '',
  lastName: '',
  dateOfBirth: '',
  taxationFileNumber: '',
  taxationCountryCode: 'AU',
  communications: contacts(),
})

const blankOrganisation = () => ({
  name: '',
  abn: '',
  acn: '',
  taxationFileNumber: '',
  communications: contacts(),
})

const partiesOf = ({ persons }: { persons: number }): PartyForm[] =>
  persons === 0
    ? [
        {
          isPrimaryContact: true,
          isSignatory: true,
          person: null,
          organisation: blankOrganisation(),
        },
      ]
    : Array.from({ length: persons }, (_, i) => ({
        isPrimaryContact: i === 0,
        isSignatory: true,
        person: blankPerson(),
        organisation: null,
      }))

export const blankAccount = (productID: number) => ({
  productID,
  accountNumber: '',
  drpTypeID: 1 as number | null,
  drpValue: '',
  accountStatusID: 1 as number | null,
})

const blankAddress = () => ({
  addressTypeID: 8,
  addressLine: '',
  suburb: '',
  stateCode: '',
  postcode: '',
  countryCode: 'AU',
})

const blankPaymentDetail = () => ({
  paymentTypeID: 1,
  bsb: '',
  accountNumber: '',
  accountName: '',
  isForDistribution: true,
  isForRedemption: true,
  isForDeposit: true,
  isDefault: true,
})

export const blankInvestor = (guide: Guide, productID: number) => ({
  bizEntityTypeID: guideOf(guide).typeID,
  bizEntityStatusID: 1 as number | null,
  name: '',
  externalBizEntityId: '',
  taxationCountryCode: 'AUS' as string | null,
  investorTypeID: 1 as number | null,
  sourceOfFundsID: null as number | null,
  communicationPreferenceID: 1 as number | null,
  accounts: [blankAccount(productID)],
  addresses: [blankAddress()],
  paymentDetails: [blankPaymentDetail()],
  communications: [] as { communicationTypeID: number; name: string }[],
  bizEntityParties: partiesOf(guideOf(guide)),
  bizEntityParents: [] as object[],
})

export type InvestorForm = ReturnType<typeof blankInvestor>

const isFilled = (value: object, ...fields: string[]) =>
  fields.some((field) => Boolean((value as Record<string, unknown>)[field]))

const references = ['personID', 'externalPersonId', 'organisationID', 'externalOrganisationId']

/**
 * A party without its references: if a body contains both, the service reads only the reference.
 */
const byRecord = (party: PartyForm) =>
  Object.fromEntries(Object.entries(party).filter(([name]) => !references.includes(name)))

/**
 * The fields that decide whether an entry of a list is sent: an address without a line is left out.
 */
const tellingFields: { [list: string]: string[] } = {
  addresses: ['addressLine', 'suburb', 'postcode'],
  paymentDetails: ['bsb', 'accountNumber', 'iban'],
  communications: ['name'],
}

type Stored = Pick<BizEntity, 'addresses' | 'paymentDetails'>

/**
 * Whether the stored entry has none of those fields either, such as a cheque or an address that is
 * only a name; such an entry is sent to keep it.
 */
function isKept(list: string, one: object, known: Stored | undefined): boolean {
  const stored = list === 'addresses' ? known?.addresses : known?.paymentDetails
  // The first field of a stored record is its own id.
  const id = Object.entries(one)[0]?.join()
  return (stored ?? []).some(
    (record) =>
      Object.entries(record)[0]?.join() === id && !isFilled(record, ...(tellingFields[list] ?? [])),
  )
}

const isSent = (list: string, known?: Stored) => (one: object) =>
  isFilled(one, ...(tellingFields[list] ?? [])) || isKept(list, one, known)

/**
 * The body to send: empty entries are left out, unless the register has them without these fields.
 */
export function filled(form: InvestorForm, known?: Stored): object {
  const contacted = <T extends { communications: object[] } | null>(owner: T): T =>
    owner && { ...owner, communications: owner.communications.filter(isSent('communications')) }
  return {
    ...form,
    addresses: form.addresses.filter(isSent('addresses', known)),
    paymentDetails: form.paymentDetails.filter(isSent('paymentDetails', known)),
    communications: form.communications.filter(isSent('communications')),
    bizEntityParties: form.bizEntityParties.map((party) => ({
      ...byRecord(party),
      person: contacted(party.person),
      organisation: contacted(party.organisation),
    })),
  }
}

/**
 * Translates a field path of the service into the form's: the service counts only entries that were
 * sent, so the first contact of a person without an e-mail is the mobile number.
 */
export function placeInForm(form: InvestorForm, path: string, known?: Stored): string {
  const places: string[] = []
  let at: unknown = form
  for (const name of path.split('.')) {
    const list = places.at(-1) ?? ''
    const all = Array.isArray(at) && list in tellingFields ? at : undefined
    const place = all ? String(all.indexOf(all.filter(isSent(list, known))[Number(name)])) : name
    at = (at as Record<string, unknown> | undefined)?.[place]
    places.push(place)
  }
  return places.join('.')
}

/** The name that most registers use: the names of the holders, or of the organisation. */
export function suggestedName({ bizEntityParties }: InvestorForm): string {
  return bizEntityParties
    .map(({ person, organisation }) =>
      person ? [person.firstName, person.lastName].filter(Boolean).join(' ') : organisation?.name,
    )
    .filter(Boolean)
    .join(' & ')
}

/**
 * Form values of a stored investor: texts instead of nulls, other values unchanged, and blank
 * entries for those that the register does not have yet.
 */
export function formOf(entity: BizEntity): InvestorForm {
  const form: InvestorForm = JSON.parse(JSON.stringify(entity), (name, value) =>
    value === null && textFields.has(name) ? '' : value,
  )
  if (form.addresses.length === 0) form.addresses = [blankAddress()]
  if (form.paymentDetails.length === 0) form.paymentDetails = [blankPaymentDetail()]
  for (const { person, organisation } of form.bizEntityParties)
    for (const { communications } of [person ?? [], organisation ?? []].flat())
      communications.push(...contacts().filter((one) => !communications.some(isLike(one))))
  return form
}

type Contact = ReturnType<typeof contacts>[number]
const isLike = (one: Contact) => (other: Contact) =>
  one.communicationTypeID === other.communicationTypeID

/**
 * Changes the kind of investor and keeps the values that both kinds have. Parties that the new kind
 * does not have are returned, in case the kind changes back.
 */
export function asKind(values: InvestorForm, guide: Guide, leftBefore: PartyForm[]) {
  const known = [...values.bizEntityParties, ...leftBefore]
  const like = (party: PartyForm) => known.filter(({ person }) => !person === !party.person)
  const bizEntityParties = partiesOf(guideOf(guide)).map((party, i) => like(party)[i] ?? party)
  return {
    values: { ...values, bizEntityTypeID: guideOf(guide).typeID, bizEntityParties },
    left: known.filter((party) => !bizEntityParties.includes(party)),
  }
}

const textFields = new Set(
  `name externalBizEntityId firstName middleName lastName dateOfBirth taxationFileNumber abn acn
  addressLine suburb stateCode postcode countryCode bsb accountNumber accountName drpValue`.split(
    /\s+/,
  ),
)
