import type { Data, World } from './world.ts'

/** A request to an operation; its method and path are the key in `Requests`. */
export type Request = {
  query?: Record<string, unknown>
  body?: object
  headers?: Record<string, string>
}
/** How a request names records: by native ids, by external ids, or by codes and numbers if any. */
export const forms = ['native', 'external', 'code'] as const
export type Form = (typeof forms)[number]
/** Makes the records that a request needs, and then the request. */
export type Builder = (world: World, names: Names) => Promise<Request> | Request
export type Requests = Record<string, Builder[]>

export type Names = ReturnType<typeof namesOf>

/** Functions that name the records of a world in one form. */
export function namesOf(form: Form) {
  let ways = 1
  const pick = (native: object, external: object, code?: object) => {
    ways = Math.max(ways, code ? 3 : 2)
    return { native, external, code: code ?? external }[form] as Record<string, unknown>
  }
  return {
    form,
    /** Whether the records named so far have no further forms. */
    isLast: () => forms.indexOf(form) + 1 >= ways,
    product: ({ productID, externalProductId }: Data) => pick({ productID }, { externalProductId }),
    investment: ({ investmentID, externalInvestmentId, securityCode }: Data) =>
      pick({ investmentID }, { externalInvestmentId }, { securityCode }),
    account: ({ accountID, externalAccountId }: Data) => pick({ accountID }, { externalAccountId }),
    /** Filters also take the account number. */
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

/** A request with these names as query parameters, which begin with a capital. */
export const inQuery = (...parts: object[]): Request => ({
  query: Object.fromEntries(
    parts.flatMap((part) =>
      Object.entries(part).map(([name, value]) => [name[0]!.toUpperCase() + name.slice(1), value]),
    ),
  ),
})
export const inBody = (...parts: object[]): Request => ({ body: Object.assign({}, ...parts) })

/** Puts a prefix before names, as in fromAccountID. */
export const prefixed = (prefix: string, names: object) =>
  Object.fromEntries(
    Object.entries(names).map(([name, value]) => [
      prefix + name[0]!.toUpperCase() + name.slice(1),
      value,
    ]),
  )
