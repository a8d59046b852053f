import type { Data, World } from './world.ts'

/** A request, and how requests name the records that they are about. */
export type Request = {
  query?: Record<string, unknown>
  body?: object
  headers?: Record<string, string>
}
/** Natively, by external ids, or by external ids and the codes and numbers there are. */
export const forms = ['native', 'external', 'code'] as const
export type Form = (typeof forms)[number]
/** Makes what a request needs, then the request. */
export type Builder = (world: World, names: Names) => Promise<Request> | Request
export type Requests = Record<string, Builder[]>

export type Names = ReturnType<typeof namesOf>

/** The records of a world as requests of a form name them. */
export function namesOf(form: Form) {
  let ways = 1
  const pick = (native: object, external: object, code?: object) => {
    ways = Math.max(ways, code ? 3 : 2)
    return { native, external, code: code ?? external }[form] as Record<string, unknown>
  }
  return {
    form,
    /** Whether what was named has no further forms. */
    isLast: () => forms.indexOf(form) + 1 >= ways,
    product: ({ productID, externalProductId }: Data) => pick({ productID }, { externalProductId }),
    investment: ({ investmentID, externalInvestmentId, securityCode }: Data) =>
      pick({ investmentID }, { externalInvestmentId }, { securityCode }),
    account: ({ accountID, externalAccountId }: Data) => pick({ accountID }, { externalAccountId }),
    /** Filters go by the number as well. */
    accountFilter: ({ accountID, externalAccountId, accountNumber }: Data) =>
      pick({ accountID }, { externalAccountId }, { accountNumber }),
    entity: ({ bizEntityID, externalBizEntityId }: Data) =>
      pick({ bizEntityID }, { externalBizEntityId }),
    person: ({ personID, externalPersonId }: Data) => pick({ personID }, { externalPersonId }),
    organisation: ({ organisationID, externalOrganisationId }: Data) =>
      pick({ organisationID }, { externalOrganisationId }),
    address: ({ addressID, externalAddressId }: Data) => pick({ addressID }, { externalAddressId }),
    communication: ({ communicationID, externalCommunicationId }: Data) =>
      pick({ communicationID }, { externalCommunicationId }),
    paymentDetail: ({ paymentDetailID, externalPaymentDetailId }: Data) =>
      pick({ paymentDetailID }, { externalPaymentDetailId }),
    distribution: ({ corporateActionID, externalCorporateActionId }: Data) =>
      pick({ corporateActionID }, { externalCorporateActionId }),
    document: ({ documentID, externalDocumentId }: Data) =>
      pick({ documentID }, { externalDocumentId }),
  }
}

/** The same names as query strings write them. */
export const inQuery = (...parts: object[]): Request => ({
  query: Object.fromEntries(
    parts.flatMap((part) =>
      Object.entries(part).map(([name, value]) => [name[0]!.toUpperCase() + name.slice(1), value]),
    ),
  ),
})
export const inBody = (...parts: object[]): Request => ({ body: Object.assign({}, ...parts) })

/** The same name under a prefix: fromAccountID. */
export const prefixed = (prefix: string, names: object) =>
  Object.fromEntries(
    Object.entries(names).map(([name, value]) => [
      prefix + name[0]!.toUpperCase() + name.slice(1),
      value,
    ]),
  )
