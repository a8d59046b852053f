import { api } from '../shared/api/client.ts'
import type {
  BizEntity,
  BizTransaction,
  Distribution,
  Document,
  SearchResult as Found,
} from '../shared/api/types.ts'
import { day } from '../shared/format.ts'

/** What can be found, in the order of the groups. */
export const foundGroups = [
  { resource: 'BizEntity', label: 'Investors' },
  { resource: 'Person', label: 'Persons' },
  { resource: 'Organisation', label: 'Organisations' },
  { resource: 'Document', label: 'Documents' },
  { resource: 'BizTransaction', label: 'Transactions' },
  { resource: 'Distribution', label: 'Distributions' },
]

const ofLedger = ['BizTransaction', 'Distribution']

/** Results of the ledger say their day, the others a number, which may look like one. */
export const subtitleOf = ({ resource, subtitle }: Found) =>
  ofLedger.includes(resource ?? '') ? day(subtitle) : (subtitle ?? '')

const investorIn = (product: number | null, { accounts, bizEntityID }: BizEntity) => {
  const ids = accounts.map(({ productID }) => productID)
  const productID = ids.includes(product) ? product : (ids[0] ?? product)
  return `/${productID}/investors/${bizEntityID}`
}

/** The investor that a person or an organisation is part of. */
async function investorOf(product: number | null, filter: Record<string, number>) {
  const { data } = await api.get<BizEntity[]>('/BizEntity', { ...filter, PageSize: 1 })
  return data[0] && investorIn(product, data[0])
}

/** Documents stand with what they are of. */
async function documentPlace(product: number | null, id: number) {
  const { data } = await api.get<Document[]>('/Document/List', { DocumentID: id })
  const [found] = data
  if (found?.bizEntityID) {
    const investor = await investorOf(product, { BizEntityID: found.bizEntityID })
    return investor && `${investor}?section=documents`
  }
  return found?.productID ? `/${found.productID}/documents?DocumentID=${id}` : undefined
}

/** Distributions are read of a product each: the one in view is asked first. */
async function distributionPlace(
  product: number | null,
  id: number,
  productIDs: readonly (number | null)[],
) {
  for (const ProductID of new Set([product, ...productIDs])) {
    if (ProductID === null) continue
    const filter = { ProductID, CorporateActionID: id }
    const { data } = await api.get<Distribution[]>('/Distribution', filter)
    if (data.length > 0) return `/${ProductID}/distributions/${id}`
  }
  return undefined
}

/**
 * Where a result is shown. Results name records only, and a search goes through all products, so
 * the record is asked which product it is of; the one in view is taken where it can be.
 */
export async function placeOf(
  { resource, id: given }: Found,
  product: number | null,
  productIDs: readonly (number | null)[],
): Promise<string | undefined> {
  const id = Number(given)
  if (resource === 'BizEntity') return investorOf(product, { BizEntityID: id })
  if (resource === 'Person') return investorOf(product, { PersonID: id })
  if (resource === 'Organisation') return investorOf(product, { OrganisationID: id })
  if (resource === 'BizTransaction') {
    const { data } = await api.get<BizTransaction[]>('/BizTransaction', { BizTransactionID: id })
    return data[0] && `/${data[0].productID}/transactions?BizTransactionID=${id}`
  }
  if (resource === 'Document') return documentPlace(product, id)
  return distributionPlace(product, id, productIDs)
}
