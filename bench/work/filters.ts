import pg from 'pg'
import { ask, call, type Result, type Workload } from '../measure.ts'
import type { Service } from '../service.ts'

type Parameter = { name: string; in: string; schema: Schema }
type Schema = {
  type?: string
  format?: string
  enum?: unknown[]
  items?: Schema
  anyOf?: Schema[]
}
type Document = { paths: Record<string, { get?: { parameters?: Parameter[] } }> }

/** What to ask for, by the name of the parameter: somebody in the middle of the register. */
const values = (entities: number): [RegExp, string][] => {
  const middle = String(entities / 2 + 1)
  return [
    [/^ExternalBizEntityId|ExternalParentBizEntityId/, `E${middle}`],
    [/^ExternalPersonId/, `P${middle}`],
    [/^ExternalAccountId/, `A${middle}`],
    [/^ExternalProductId/, 'BENCH'],
    [/^ExternalInvestmentId/, 'I3'],
    [/^SecurityCode/, 'SEC3'],
    [/^ExternalBizTransactionId/, `T${middle}`],
    [/^ExternalTransactionId/, `N${middle}`],
    [/^ExternalDocumentId/, `D${middle}`],
    [/^ExternalOrganisationId/, 'O500'],
    [/^ExternalAddressId/, `AD${middle}`],
    [/AccountNumber/, middle.padStart(9, '0')],
    [/^(ProductID|CurrencyID|.*(Type|Status|Preference)ID)\b/, '1'],
    [/^InvestmentID/, '3'],
    [/^(CorporateAction|Report|User|Organisation|Document)ID/, '1'],
    [/ID\b|Id\b/, middle],
    [/CountryCode/, 'AU'],
    [/FirstName/, 'First77'],
    [/LastName/, `Last${middle}`],
    [/Email|^Name.*/, middle],
    [/^Username/, 'bench'],
    [/./, middle],
  ]
}

/** Parameters that are not filters, and paths that hand out no records of the register. */
const isPage = (name: string) => /^(Page|Raw$|ShowClosing$)/.test(name)
const isList = (path: string) =>
  !/^\/(Common|User|Document$|metrics|docs|openapi|.*\/(File|Status))/i.test(path)

/** Tables of which a whole scan would be felt. */
const largeRows = 50_000

/**
 * Every filter of every list read, one by one. PostgreSQL counts sequential scans by table; the
 * service's connections avoid them where there is any other way, so that one means that no index
 * could be used.
 */
export const filteredLists: Workload = async ({ service, size }) => {
  const questions = await questionsOf(service, size.entities)
  const client = new pg.Client(service.connection)
  await client.connect()
  const times: { path: string; milliseconds: number }[] = []
  const scanned = await scannedDuring(client, async () => {
    for (const path of questions) {
      const { milliseconds } = await call(service, 'GET', path)
      times.push({ path, milliseconds })
    }
  }).finally(() => client.end())
  const slowest = times.toSorted((a, b) => b.milliseconds - a.milliseconds)
  const tell = ({ path, milliseconds }: (typeof times)[number]) =>
    `GET ${path} (${milliseconds.toFixed(0)} ms)`
  const row: Result = {
    number: '10',
    work: `${questions.length} filtered list reads, one by one`,
    baseline: 'none does a sequential scan of a large table',
    subject: slowest[0]!.milliseconds,
    against: slowest[Math.floor(slowest.length / 2)]!.milliseconds,
    unit: 'ms',
    ratio: scanned.length,
    reach: 'no table scanned',
    reached: scanned.length === 0,
    note: `the slowest: ${slowest.slice(0, 5).map(tell).join('; ')}${
      scanned.length > 0 ? `; scanned: ${scanned.join(', ')}` : ''
    }`,
  }
  return [row]
}

async function questionsOf(service: Service, entities: number): Promise<string[]> {
  const answer = await ask(`${service.url}/openapi.json`)
  const { paths } = (await answer.json()) as Document
  const known = values(entities)
  return Object.entries(paths).flatMap(([path, { get }]) =>
    get && isList(path)
      ? (get.parameters ?? [])
          .filter((parameter) => parameter.in === 'query' && !isPage(parameter.name))
          .map((parameter) => question(path, parameter, get.parameters!, known))
      : [],
  )
}

/** External ids and codes are looked up in a product, where the operation takes one. */
function question(
  path: string,
  parameter: Parameter,
  others: Parameter[],
  known: [RegExp, string][],
): string {
  const { name } = parameter
  const has = (other: string) => others.some((one) => one.name === other)
  const page = has('PageSize') ? '&PageSize=1000' : ''
  const product = has('ProductID') && !/^(External)?Product/i.test(name) ? '&ProductID=1' : ''
  return `${path}?${name}=${encodeURIComponent(answerTo(parameter, known))}${product}${page}`
}

function answerTo({ name, schema }: Parameter, known: [RegExp, string][]): string {
  const own = schema.anyOf?.[0] ?? schema
  const kind = own.items ?? own
  if (kind.enum) return String(kind.enum[0])
  if (kind.type === 'boolean') return 'true'
  if (kind.format === 'date') return '2023-06-30'
  if (kind.format === 'date-time') return '2023-06-30T00:00:00Z'
  return known.find(([pattern]) => pattern.test(name))![1]
}

/** The large tables that were scanned while something was done. */
async function scannedDuring(client: pg.Client, work: () => Promise<void>) {
  const before = await scans(client)
  await work()
  await new Promise((resolve) => setTimeout(resolve, 12_000)) // until idle connections have told
  const after = await scans(client)
  return [...after.keys()].filter((table) => after.get(table)! > (before.get(table) ?? 0))
}

async function scans(client: pg.Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; count: number }>(
    `select s.relname as name, s.seq_scan::int as count
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where c.reltuples > ${largeRows}`,
  )
  return new Map(rows.map(({ name, count }) => [name, count]))
}
