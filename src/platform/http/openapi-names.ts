import { type Endpoint, methodOf, pathOf } from './endpoint.ts'

/** Descriptions of the groups of operations; the first part of a path names the group. */
const tags: Readonly<Record<string, string>> = {
  User: 'Sign-in, sessions, and the users with their permissions.',
  Common: 'Lookup values and the health of the service. No token is needed.',
  Product: 'Funds and other products. Each has its own register.',
  Investment: 'The classes of units of a product, and their prices.',
  BizEntity: 'Investors: entities with their accounts, parties and other records.',
  Person: 'Persons, including those who are parties of entities or associated with organisations.',
  Organisation: 'Organisations, including those that are parties of entities.',
  Address: 'Addresses of entities, persons and organisations.',
  Communication: 'Telephone numbers, email addresses and other contact details.',
  PaymentDetail: 'Bank accounts of investors.',
  BizEvent: 'Notices: what investors have requested, before it is posted.',
  BizTransaction: 'The ledger: deposits, redemptions, transfers and corrections.',
  Distribution: 'Income paid to holders: configure, declare, pay, reinvest.',
  Document: 'Documents and their files.',
  Report: 'Reports, made in the background.',
  WithholdingRate: 'The rates of withholding tax, by kind of income, country and period.',
  PaymentRun: 'Payments out to investors, in runs with a bank file.',
  Payment: 'The individual payments of runs, and payments that were returned.',
  Hold: 'Holds on units: units on hold cannot leave their account.',
  Approval: 'Requests that wait for approval by a second person.',
  ApprovalRule: 'The rules that decide which requests need approval by a second person.',
  ApiKey: 'Keys with which programs sign in.',
  Webhook: 'The addresses that events are sent to, and the deliveries.',
  Search: 'Search for records by name, number or contact details.',
  Import: 'Import of files with many records.',
  Audit: 'The audit trail: who did what, when, and to which records.',
  Event: 'The feed of events, for systems that keep a copy of the data.',
}

/** The tags in use, with their descriptions. */
export const tagsOf = (endpoints: readonly Endpoint[]) =>
  [...new Set(endpoints.map(tagOf))].map((name) => ({
    name,
    ...(tags[name] && { description: tags[name] }),
  }))

export const tagOf = (endpoint: Endpoint) => pathOf(endpoint).split('/')[1]!

const verbs = { GET: 'list', POST: 'create', PUT: 'update', DELETE: 'delete' }

/** The operationId: listProducts, createDeposit, downloadReportFile. */
export function nameOf(endpoint: Endpoint): string {
  const { operation, name, kind } = endpoint
  if (name) return name
  const method = methodOf(endpoint)
  const [resource = '', ...rest] = pathOf(endpoint).slice(1).split('/')
  // Postings and notices go by the name of their kind.
  const isKind = resource === 'BizTransaction' || resource === 'BizEvent'
  const noun = isKind && rest.length > 0 ? rest.join('') : resource + rest.join('')
  if (noun === 'SetQuantity') return 'setQuantity'
  if (kind === 'download') return `download${noun}`
  if (kind === 'upload') return `${method === 'POST' ? 'upload' : 'replace'}${noun}`
  if (method === 'GET') return `list${plural(noun)}`
  if (!operation.startsWith('PUT') || !isKind || rest.length === 0) return `${verbs[method]}${noun}`
  return `${rest.join('')[0]!.toLowerCase()}${rest.join('').slice(1)}${resource}`
}

const plural = (noun: string) => {
  if (/s$/.test(noun)) return /ss$/.test(noun) ? `${noun}es` : noun
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
}
