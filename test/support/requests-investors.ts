import { inBody, inQuery, type Names, type Requests } from './request-names.ts'
import type { Data, World } from './world.ts'

const kind = { bizEntityTypeID: 1, bizEntityStatusID: 1 }

/** All fields of an entity that can name another record. */
const referring = ({ person, organisation, parent, fresh }: World, names: Names) => ({
  authorizedNomineePersonID: person.personID,
  controllingPID: person.personID,
  signatureParty: person.personID,
  marginLenderOrganisationID: organisation.organisationID,
  groupedWithBizEntityID: parent.bizEntityID,
  bizEntityParties: [
    names.person(person),
    names.organisation(organisation),
    { organisation: { name: fresh(), associatedPersons: [names.person(person)] } },
  ],
  bizEntityParents: [{ ...parentOf(parent, names), activeFrom: '2024-05-01' }],
})

const parentOf = (parent: Data, names: Names) => {
  const { bizEntityID, externalBizEntityId } = parent
  return names.form === 'native'
    ? { parentBizEntityID: bizEntityID, dealerGroupBizEntityID: bizEntityID }
    : {
        parentExternalBizEntityId: externalBizEntityId,
        externalDealerGroupBizEntityId: externalBizEntityId,
      }
}

const linkOf = (child: Data, { parent }: World, names: Names) => ({
  ...names.entity(child),
  ...(names.form === 'native'
    ? { parentBizEntityID: parent.bizEntityID }
    : { parentExternalBizEntityId: parent.externalBizEntityId }),
})

/** Creates a child entity with a parent link, for requests that change the link. */
const linked = async (world: World, names: Names, more: object) => {
  const child = await world.make.entity()
  const link = { ...linkOf(child, world, names), activeFrom: '2024-01-01' }
  await world.make.post('/BizEntity/Parent', link)
  return { ...link, ...more }
}

export const entityRequests: Requests = {
  'GET /BizEntity': [
    ({ holder }, names) => inQuery(names.entity(holder)),
    ({ product, account }, names) => inQuery(names.product(product), names.accountFilter(account)),
    ({ product, first }, names) => inQuery(names.product(product), names.investment(first)),
    ({ person }, names) => inQuery(names.person(person)),
    ({ organisation }, names) => inQuery(names.organisation(organisation)),
  ],
  'POST /BizEntity': [
    (world, names) =>
      inBody({
        ...kind,
        name: world.fresh(),
        accounts: [names.product(world.product)],
        ...referring(world, names),
      }),
  ],
  'PUT /BizEntity': [
    async (world, names) => {
      const { make, fresh } = world
      const entity = await make.entity()
      const [first, second] = entity.bizEntityParties
      return inBody(names.entity(entity), kind, {
        name: fresh(),
        accounts: entity.accounts.map(names.account),
        addresses: entity.addresses.map(names.address),
        communications: entity.communications.map(names.communication),
        paymentDetails: entity.paymentDetails.map(names.paymentDetail),
        bizEntityParties: [
          { bizEntityPartyID: first.bizEntityPartyID, ...names.person(first.person) },
          { ...names.organisation(second.organisation) },
        ],
      })
    },
    async (world, names) => {
      const entity = await world.make.entity()
      const accounts = entity.accounts.map(names.account)
      const refers = referring(world, names)
      return inBody(names.entity(entity), kind, { name: world.fresh(), accounts }, refers)
    },
  ],
  'DELETE /BizEntity': [async ({ make }, names) => inQuery(names.entity(await make.entity()))],
  'GET /BizEntity/Parent': [
    (world, names) => inQuery(linkOf(world.holder, world, names)),
    ({ holder }, names) => inQuery(names.entity(holder)),
  ],
  'POST /BizEntity/Parent': [
    async (world, names) =>
      inBody(names.entity(await world.make.entity()), parentOf(world.parent, names), {
        activeFrom: '2024-01-01',
      }),
  ],
  'PUT /BizEntity/Parent': [
    async (world, names) =>
      inBody(await linked(world, names, parentOf(world.parent, names)), {
        activeTo: '2024-02-01',
      }),
  ],
  'DELETE /BizEntity/Parent': [async (world, names) => inQuery(await linked(world, names, {}))],
  'GET /BizEntity/History': [({ holder }, names) => inQuery(names.entity(holder))],
  'GET /BizEntity/Account/Holdings': [
    ({ product, account, first }, names) =>
      inQuery(names.product(product), names.accountFilter(account), names.investment(first)),
  ],
  'GET /BizEntity/Account/Holdings/Explain': [
    ({ product, account, first }, names) =>
      inQuery(names.product(product), names.account(account), names.investment(first)),
  ],
  'GET /BizEntity/Account/Holdings/Months': [
    ({ product, holder }, names) =>
      inQuery(names.product(product), { BizEntityID: holder.bizEntityID }),
  ],
}

/** A person and an organisation of a new entity without history, which may be changed. */
const parties = async ({ make }: World) => {
  const { bizEntityParties } = await make.entity()
  const [{ person }, { organisation }] = bizEntityParties
  return { person, organisation }
}

const ownOf = ({ addresses, communications }: Data, names: Names) => ({
  addresses: addresses.map(names.address),
  communications: communications.map(names.communication),
})

export const partyRequests: Requests = {
  'GET /Person': [({ person }, names) => inQuery(names.person(person))],
  'POST /Person': [({ fresh }) => inBody({ firstName: fresh(), externalPersonId: fresh('new') })],
  'PUT /Person': [
    async (world, names) => {
      const { person } = await parties(world)
      // The person is named by the native id alone (specification 4.9).
      const { personID } = person
      return inBody({ personID }, { firstName: world.fresh() }, ownOf(person, names))
    },
  ],
  // A linked person cannot be deleted, and a person without a link is visible to everybody.
  'DELETE /Person': [
    async ({ make }, names) => inQuery(names.person(await make.post('/Person', make.person()))),
  ],
  'GET /Organisation': [({ organisation }, names) => inQuery(names.organisation(organisation))],
  'POST /Organisation': [
    ({ person, fresh }, names) =>
      inBody({ name: fresh(), associatedPersons: [names.person(person)] }),
  ],
  'PUT /Organisation': [
    async (world, names) => {
      const { organisation } = await parties(world)
      return inBody(
        names.organisation(organisation),
        { name: world.fresh(), associatedPersons: [names.person(world.person)] },
        ownOf(organisation, names),
      )
    },
  ],
  'DELETE /Organisation': [
    async ({ make }, names) =>
      inQuery(names.organisation(await make.post('/Organisation', make.organisation()))),
  ],
}

type Owner = 'entity' | 'person' | 'organisation'
const owners: Owner[] = ['entity', 'person', 'organisation']

/** A new record of each kind that can own addresses and communications. */
const ownersOf = async ({ make }: World): Promise<Record<Owner, Data>> => {
  const entity = await make.entity()
  const [{ person }, { organisation }] = entity.bizEntityParties
  return { entity, person, organisation }
}

/** The four requests for addresses or for communications, which have three kinds of owner. */
const ownedBy = (
  path: string,
  records: 'addresses' | 'communications',
  naming: 'address' | 'communication',
  fields: object,
): Requests => ({
  [`GET ${path}`]: owners.map((owner) => async (world: World, names: Names) => {
    const { [owner]: one } = await ownersOf(world)
    return inQuery(names[naming](one[records][0]))
  }),
  [`POST ${path}`]: owners.map((owner) => async (world: World, names: Names) => {
    const { [owner]: one } = await ownersOf(world)
    return inBody(fields, names[owner](one))
  }),
  [`PUT ${path}`]: owners.map((owner) => async (world: World, names: Names) => {
    const { [owner]: one } = await ownersOf(world)
    return inBody(fields, names[naming](one[records][0]), names[owner](one))
  }),
  [`DELETE ${path}`]: owners.map((owner) => async (world: World, names: Names) => {
    const { [owner]: one } = await ownersOf(world)
    return inQuery(names[naming](one[records][0]))
  }),
})

export const ownedRequests: Requests = {
  ...ownedBy('/Address', 'addresses', 'address', { suburb: 'S' }),
  ...ownedBy('/Communication', 'communications', 'communication', { communicationTypeID: 2 }),
}

const banked = async ({ make }: World) => {
  const entity = await make.entity()
  return { entity, detail: entity.paymentDetails[0] }
}

export const bankRequests: Requests = {
  'GET /PaymentDetail': [
    ({ holder }, names) => inQuery(names.paymentDetail(holder.paymentDetails[0])),
  ],
  'POST /PaymentDetail': [
    ({ holder, fresh }, names) => inBody({ accountName: fresh() }, names.entity(holder)),
  ],
  'PUT /PaymentDetail': [
    async (world, names) => {
      const { entity, detail } = await banked(world)
      return inBody(names.paymentDetail(detail), names.entity(entity))
    },
  ],
  'DELETE /PaymentDetail': [
    async (world, names) => inQuery(names.paymentDetail((await banked(world)).detail)),
  ],
}
