import { type Endpoint, methodOf, pathOf } from './endpoint.ts'

/** Descriptions of the groups of operations; the first part of a path names the group. */
const tags: Readonly<Record<string, string>> = {
  User: 'Sign-in, sessions, and who may do what.',
  Common: 'Lookup values and the health of the service, for anybody.',
  Product: 'Funds and other products: each has its own register.',
  Investment: 'The classes of units of a product, and their prices.',
  BizEntity: 'Investors: entities with accounts, parties, and all that belongs to them.',
  Person: 'Persons, alone or as parties of entities and organisations.',
  Organisation: 'Organisations, alone or as parties of entities.',
  Address: 'Addresses of entities, persons and organisations.',
  Communication: 'Telephone numbers, email addresses and the like.',
  PaymentDetail: 'Bank accounts of investors.',
  BizEvent: 'Notices: what investors want, before it is posted.',
  BizTransaction: 'The ledger: deposits, redemptions, transfers and corrections.',
  Distribution: 'Income paid to holders: configure, declare, pay, reinvest.',
  Document: 'Documents and their files.',
  Report: 'Reports, made in the background.',
  WithholdingRate: 'The rates of withholding tax, by kind of income, country and time.',
  PaymentRun: 'Payments out to investors, in runs with a bank file.',
  Payment: 'Single payments of runs, and those that came back.',
  Hold: 'Units that are held back: they may not leave their account.',
  Approval: 'Changes that wait for a second person.',
  ApprovalRule: 'Which changes need a second person.',
  ApiKey: 'Keys with which machines sign in.',
  Webhook: 'Where events are sent to, and what became of them.',
  Search: 'Records by what people know of them.',
  Import: 'Files of records, checked and taken in.',
  Audit: 'Who did what, when, to which records.',
  Event: 'The feed of what happened, for systems that keep a copy.',
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
