import pg from 'pg'
import { ask, atMost, call, type Result, result, type Workload } from '../measure.ts'
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

/** The values to filter by, by the parameter's name: a record in the middle of the register. */
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

/** Parameters that are not filters. The pattern in `isList` has the paths that list no records. */
const isPage = (name: string) =>
  /^(Page|Cursor$|Order$|IncludeTotal$|Raw$|ShowClosing$|After$|Wait$)/.test(name)
const isList = (path: string) =>
  !/^\/(Common|User|Document$|metrics|docs|openapi|.*\/(File|Status))/i.test(path)

/** A table with more rows than this is large: reading all of it takes noticeable time. */
const largeRows = 50_000
/** The rows of a page, and how many rows of a large table a list may read for each of them. */
const pageSize = 1000
const mostPerRow = 10

/**
 * Reads every list with each of its filters, one at a time. PostgreSQL counts for each table the
 * rows that it read by sequential scans and through indexes, including those that a filter then
 * discarded. So a walk through a whole index shows as much as a walk through the table.
 */
export const filteredLists: Workload = async ({ service, size }) => {
  const questions = await questionsOf(service, size.entities)
  const client = new pg.Client(service.connection)
  await client.connect()
  const times: { path: string; milliseconds: number }[] = []
  const wasteful: string[] = []
  for (const [path, asked] of questions) {
    const read = await readDuring(client, async () => {
      for (const question of asked) {
        const { milliseconds } = await call(service, 'GET', question)
        times.push({ path: question, milliseconds })
      }
    })
    const most = asked.length * pageSize * mostPerRow
    for (const { table, rows } of read)
      if (rows > most) wasteful.push(`${path} read ${rows.toLocaleString('en')} of ${table}`)
  }
  await client.end()
  return [rowOf(times, wasteful)]
}

type Time = { path: string; milliseconds: number }

function rowOf(times: Time[], wasteful: string[]): Result {
  const slowest = times.toSorted((a, b) => b.milliseconds - a.milliseconds)
  const tell = ({ path, milliseconds }: Time) => `GET ${path} (${milliseconds.toFixed(0)} ms)`
  return {
    number: '10',
    work: `${times.length} filtered list reads, one by one`,
    baseline: `none reads more than ${mostPerRow} rows of a large table for each it may show`,
    subject: slowest[0]!.milliseconds,
    against: slowest[Math.floor(slowest.length / 2)]!.milliseconds,
    unit: 'ms',
    ratio: wasteful.length,
    reach: 'no table walked',
    reached: wasteful.length === 0,
    note: `the slowest: ${slowest.slice(0, 5).map(tell).join('; ')}${
      wasteful.length > 0 ? `; walked: ${wasteful.join(', ')}` : ''
    }`,
  }
}

/**
 * S7: every filter of every paged list against the same list without the filter, each the best of
 * three reads. The filter whose page is slowest relative to its list counts.
 */
export const filteredPages: Workload = async ({ service, size }) => {
  const best = async (path: string) => {
    const times: number[] = []
    for (let n = 0; n < 3; n++) times.push((await call(service, 'GET', path)).milliseconds)
    return Math.min(...times)
  }
  const asked: { question: string; ms: number; plain: number }[] = []
  for (const [path, questions] of await questionsOf(service, size.entities)) {
    const paged = questions.filter((one) => one.includes('&PageSize='))
    const product = paged.some((one) => one.includes('&ProductID=1')) ? 'ProductID=1&' : ''
    const plain = `${path}?${product}PageSize=${pageSize}`
    if (paged.length === 0) continue
    const usual = await best(plain)
    for (const question of paged) asked.push({ question, ms: await best(question), plain: usual })
  }
  const by = (one: { ms: number; plain: number }) => one.ms / one.plain
  const slowest = asked.reduce((a, b) => (by(b) > by(a) ? b : a))
  const beyond = asked.filter((one) => by(one) > 3)
  const what = {
    number: 'S7',
    work: `a page of ${pageSize} by any filter of any list (${slowest.question})`,
    baseline: 'without one',
    unit: 'ms',
    note: `${beyond.length} of ${asked.length} above three times${beyond
      .map(({ question, ...one }) => `; ${question} ${by(one).toFixed(1)}`)
      .join('')}`,
  }
  return [result(what, { subject: slowest.ms, against: slowest.plain }, atMost(3))]
}

/** The path and filtered queries of each list; lists that require a filter are left out. */
async function questionsOf(service: Service, entities: number): Promise<[string, string[]][]> {
  const answer = await ask(`${service.url}/openapi.json`)
  const { paths } = (await answer.json()) as Document
  const known = values(entities)
  const found: [string, string[]][] = []
  for (const [path, { get }] of Object.entries(paths)) {
    if (!get || !isList(path) || !(await answersAlone(service, path))) continue
    const parameters = get.parameters ?? []
    const asked = parameters
      .filter((parameter) => parameter.in === 'query' && !isPage(parameter.name))
      .map((parameter) => question(path, parameter, parameters, known))
    found.push([path, asked])
  }
  return found
}

const answersAlone = async ({ url, token }: Service, path: string) =>
  (await ask(url + path, { headers: { Version: '2.0', Authorization: token } })).ok

/** A filtered query; it names the product where it can, which external ids and codes need. */
function question(
  path: string,
  parameter: Parameter,
  others: Parameter[],
  known: [RegExp, string][],
): string {
  const { name } = parameter
  const has = (other: string) => others.some((one) => one.name === other)
  const page = has('PageSize') ? `&PageSize=${pageSize}` : ''
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

type Read = { table: string; rows: number }

/** How many rows of each large table were read while `work` ran. */
async function readDuring(client: pg.Client, work: () => Promise<void>): Promise<Read[]> {
  const before = await readSoFar(client)
  await work()
  await new Promise((resolve) => setTimeout(resolve, 12_000)) // until idle connections have told
  const after = await readSoFar(client)
  return [...after].map(([table, rows]) => ({ table, rows: rows - (before.get(table) ?? 0) }))
}

async function readSoFar(client: pg.Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; count: string }>(
    `select s.relname as name, s.seq_tup_read + coalesce(
        (select sum(i.idx_tup_read) from pg_stat_user_indexes i where i.relid = s.relid), 0)
        as count
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where c.reltuples > ${largeRows}`,
  )
  return new Map(rows.map(({ name, count }) => [name, Number(count)]))
}
