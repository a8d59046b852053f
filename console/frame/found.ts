import { api } from '../shared/api/client.ts'
import type {
  BizEntity,
  BizTransaction,
  Distribution,
  Document,
  SearchResult as Found,
} from '../shared/api/types.ts'
import { day } from '../shared/format.ts'

/** The resources that the search finds, in the order of their groups. */
export const foundGroups = [
  { resource: 'BizEntity', label: 'Investors' },
  { resource: 'Person', label: 'Persons' },
  { resource: 'Organisation', label: 'Organisations' },
  { resource: 'Document', label: 'Documents' },
  { resource: 'BizTransaction', label: 'Transactions' },
  { resource: 'Distribution', label: 'Distributions' },
]

const ofLedger = ['BizTransaction', 'Distribution']

/**
 * The subtitle of a ledger record is a date; other subtitles are numbers that may look like one.
 */
export const subtitleOf = ({ resource, subtitle }: Found) =>
  ofLedger.includes(resource ?? '') ? day(subtitle) : (subtitle ?? '')

const investorIn = (product: number | null, { accounts, bizEntityID }: BizEntity) => {
  const ids = accounts.map(({ productID }) => productID)
  const productID = ids.includes(product) ? product : (ids[0] ?? product)
  return `/${productID}/investors/${bizEntityID}`
}

/** The page of the investor that a person or an organisation is a party of. */
async function investorOf(product: number | null, filter: Record<string, number>) {
  const { data } = await api.get<BizEntity[]>('/BizEntity', { ...filter, PageSize: 1 })
  return data[0] && investorIn(product, data[0])
}

/** A document is shown on the page of its owner. */
async function documentPlace(product: number | null, id: number) {
  const { data } = await api.get<Document[]>('/Document/List', { DocumentID: id })
  const [found] = data
  if (found?.bizEntityID) {
    const investor = await investorOf(product, { BizEntityID: found.bizEntityID })
    return investor && `${investor}?section=documents`
  }
  return found?.productID ? `/${found.productID}/documents?DocumentID=${id}` : undefined
}

/** Distributions are read by product: the product in view is asked first. */
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
 * The page of a result. A result names only a record and the search covers all products, so the
 * record is read to find its product; the product in view is preferred where several fit.
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
