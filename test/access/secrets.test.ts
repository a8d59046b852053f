import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { backUp } from '../../src/operations/backup/backup.ts'
import { findEmbedded } from '../../src/platform/embedded/postgres.ts'
import { localStore } from '../../src/platform/files/local-store.ts'
import { allowed, copies } from '../support/allowed-secrets.ts'
import { type Canaries, partsOf, searchFolder } from '../support/canaries.ts'
import { type Client, clientOf, type Reply } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { type Ask, type Carried, everyOperation, rightStatus } from '../support/every-operation.ts'
import { type Call, misplaced } from '../support/misplaced.ts'
import { type Node, startNode } from '../support/node.ts'
import { goldenOperations, readDocument, servedBy } from '../support/openapi.ts'
import { temporaryFolder } from '../support/process.ts'
import { pagesOf } from '../support/readers.ts'

/**
 * The tests send secrets through every operation, in requests that succeed, that are refused, and
 * that fail in the database. Then they search every place where a secret might have stayed.
 */
const secrets = {
  'tax file number': ['937 461 285', '51 837 462', '846 193 527', '718 264 935'],
  TIN: ['TIN/Bilby+48 211', 'Dunnart 5533-77', 'Potoroo&6612', 'Numbat "9"-440'],
  password: [
    'Zebra & correct+horse',
    'Walrus battery/staple',
    'Xerus "stable" handle',
    'Tapir in the morning',
  ],
  'wrong password': ['Yak wrongly typed in'],
  'document password': ['Urchin under a rock', 'Vole beside the road'],
  'bank account': ['4417 9902 6158', '8805-3317-2240'],
  IBAN: ['GB82 WEST 1234 5698 7654 32'],
  'cheque account': ['7723 1148 9056'],
  'encryption key': ['Okapi-encryption-key-of-32-bytes'],
  'JWT secret': ['Narwhal signs what this registry hands out'],
  'metrics token': ['Marmot counts requests'],
}
const [adminPassword, user, replaced, reset] = secrets.password as [string, string, string, string]
const [number, other] = secrets['bank account'] as [string, string]
const carried: Carried = {
  name: 'Quokkavale', // no secret: it shows that a place is searched
  passwords: {
    admin: adminPassword,
    user,
    replaced,
    reset,
    document: secrets['document password'],
  },
  taxFileNumbers: secrets['tax file number'],
  tins: secrets.TIN,
  bankAccounts: { number, other, cheque: secrets['cheque account'][0]!, iban: secrets.IBAN[0]! },
}
const control = 'Kookaburra-was-here'
const canaries: Canaries = new Map(
  Object.entries({ name: [carried.name], control: [control], ...secrets }).map(([kind, values]) => [
    kind,
    new Set<string>(values),
  ]),
)

const expected = allowed.flatMap(({ kinds, places }) =>
  kinds.flatMap((kind) => places.map((place) => `${kind}: ${place}`)),
)

const dataDir = temporaryFolder()
const seenFolder = temporaryFolder()
const backupFolder = temporaryFolder()
const seen = new Map<string, (string | Buffer)[]>()
const walked = new Map<string, Ask>()
let node: Node
let connection: pg.ClientConfig
let found: Set<string>

const note = (place: string, ...texts: (string | Buffer)[]) =>
  seen.set(place, [...(seen.get(place) ?? []), ...texts])
const learn = (kind: string, ...values: string[]) => {
  for (const value of values) canaries.set(kind, (canaries.get(kind) ?? new Set()).add(value))
}

before(async () => {
  node = await startNode(undefined, {
    REGISTRY_DATA_DIR: dataDir,
    REGISTRY_LOG_LEVEL: 'trace',
    REGISTRY_SMTP_URL: 'smtp://127.0.0.1:9',
    REGISTRY_SMTP_FROM: 'registry@example.com',
    REGISTRY_ADMIN_PASSWORD: adminPassword,
    REGISTRY_ENCRYPTION_KEY: Buffer.from(secrets['encryption key'][0]!).toString('base64'),
    REGISTRY_JWT_SECRET: secrets['JWT secret'][0]!,
    REGISTRY_METRICS_TOKEN: secrets['metrics token'][0]!,
  })
  learn('access token', ...partsOfToken(node.admin.token!))
  connection = (await findEmbedded(dataDir))!.connection
  learn('database password', String(connection.password))
  // As an administrator in search of a slow query would.
  await rowsOf(connection, 'alter system set log_min_duration_statement = 0')
  await rowsOf(connection, 'select pg_reload_conf()')
  await refusals()
  await walk()
  await faults()
  await mistakes()
  await gather()
  found = search()
})

/** A token and its signature, which is the secret part; the rest only says whose token it is. */
const partsOfToken = (token: string) => [token, token.split('.')[2]!]

async function send(
  { operation, query, body, headers }: Ask,
  extra: Record<string, string> = {},
  client: Client = node.admin,
): Promise<Reply> {
  const [method, path] = operation.split(' ') as [string, string]
  const search = new URLSearchParams(query as Record<string, string>).toString()
  const place = search ? `${path}?${search}` : path
  const reply = await client.call(method, place, body, { ...extra, ...headers })
  tell(operation, reply)
  return reply
}

function tell(operation: string, reply: Reply) {
  const kind = reply.status < 300 ? 'answer' : 'error'
  note(`${kind} of ${operation}`, reply.text, JSON.stringify([...reply.headers]))
  const { accessToken, refreshToken, secret, recoveryCodes = [] } = reply.data ?? {}
  if (operation === 'POST /User/SecondFactor' && secret) learn('second factor', secret)
  learn('recovery code', ...recoveryCodes)
  if (operation === 'POST /ApiKey' && reply.data) learn('API key', reply.data[0].key)
  if (accessToken) learn('access token', ...partsOfToken(accessToken))
  if (refreshToken) learn('refresh token', refreshToken)
}

/** Calls every operation. Writes first fail in the database, then succeed, and are sent again. */
async function walk() {
  const conversation = everyOperation(carried)
  let asked = 0
  for (let next = conversation.next(); !next.done; ) {
    const ask = next.value
    const isNew = isWrite(ask) && !walked.has(ask.operation)
    walked.set(ask.operation, ask)
    if (isNew) assert.equal((await withoutAudit(() => send(ask))).status, 500, ask.operation)
    const key = { 'Idempotency-Key': `walk-${++asked}` }
    const reply = await send(ask, isWrite(ask) ? key : {})
    assert.ok(rightStatus(ask).includes(reply.status), `${ask.operation}: ${reply.text}`)
    if (isNew && ask.operation !== 'POST /User/Logout') await send(ask)
    if (ask.operation === 'GET /Report/File') await keepReport(reply)
    if (ask.operation === 'GET /Report/Status') await sleep(reply.data.reportStatusID < 3 ? 50 : 0)
    next = conversation.next(reply)
  }
}

const isWrite = ({ operation }: Ask) => !/^GET|Preview$/.test(operation)

/** Runs a write that fails at its end, because it cannot insert its audit record. */
async function withoutAudit(work: () => Promise<Reply>): Promise<Reply> {
  await rowsOf(connection, 'revoke insert on audit from registry_service')
  const reply = await work()
  await rowsOf(connection, 'grant insert on audit to registry_service')
  return reply
}

/** Causes failures of reads, and of writes whose error message or details quote a value. */
async function faults() {
  await rowsOf(connection, 'revoke select on all tables in schema public from registry_service')
  const signedIn = 'session, app_user, app_user_product'
  await rowsOf(connection, `grant select on ${signedIn} to registry_service`)
  for (const ask of walked.values()) if (!isWrite(ask)) await send(ask)
  await rowsOf(connection, 'grant select on all tables in schema public to registry_service')
  const ways: [string, string[]][] = [
    ['add constraint never check (false) not valid', ['person', 'payment_detail', 'biz_event']],
    ['add constraint never check (account_number::int > 0) not valid', ['payment_detail']],
  ]
  const operations = ['POST /Person', 'POST /PaymentDetail', 'POST /BizEvent/NoticeOfDeposit']
  const asks = operations.map((operation) => withoutExternal(walked.get(operation)!))
  const failed: number[] = []
  for (const [change, tables] of ways) {
    for (const table of tables) await rowsOf(connection, `alter table ${table} ${change}`)
    for (const ask of asks) failed.push((await send(ask)).status)
    for (const table of tables)
      await rowsOf(connection, `alter table ${table} drop constraint never`)
  }
  assert.deepEqual(failed, [500, 500, 500, 200, 500, 200])
}

/** The same request without external ids, so that it creates a new record. */
const withoutExternal = (ask: Ask): Ask => ({
  ...ask,
  body: Object.fromEntries(
    Object.entries(ask.body!).filter(([name]) => !name.startsWith('external')),
  ),
})

/** Sends secrets where they do not belong: in all fields and parameters, in headers and paths. */
async function refusals() {
  const document = await readDocument(node.anyone)
  const kinds = Object.values(secrets).map(([value]) => value!)
  // Every operation sees every kind, in three rounds of which each has them in other places.
  for (const round of [0, 1, 2]) {
    let at = round
    const next = () => kinds[at++ % kinds.length]!
    const wrong = servedBy(document).flatMap((one) => misplaced(document, one, next))
    for (let i = 0; i < wrong.length; i += 20)
      await Promise.all(wrong.slice(i, i + 20).map((call) => refuse(...call)))
  }
}

async function refuse(...[operation, path, body, headers]: Call) {
  const reply = await node.admin.call(operation.split(' ')[0]!, path, body, headers)
  tell(operation, reply)
  const isRefused = reply.status >= 400 && reply.status < 500
  const takesAnything = /^\/(Common\/Lookup|Search)/.test(path)
  assert.ok(isRefused || takesAnything, `${operation}: ${reply.text}`)
}

/** Makes the mistakes of users, and the attempts of thieves. */
async function mistakes() {
  const wrong = secrets['wrong password'][0]!
  const { anyone } = node
  await send({ operation: 'POST /User/Login', body: { username: 'admin', password: wrong } })
  await send({ operation: 'POST /User/Login', body: { username: wrong, password: wrong } })
  await send({ operation: 'POST /User/Login', body: { username: reset, password: wrong } })
  const change = { currentPassword: wrong, newPassword: replaced }
  await send({ operation: 'PUT /User/Password', body: change })
  await send(withoutExternal(walked.get('POST /PaymentDetail')!)) // one that stays
  const used = [...canaries.get('refresh token')!]
  for (const refreshToken of used)
    await send({ operation: 'POST /User/RefreshToken', body: { refreshToken } }, {}, anyone)
  const { data } = await send(withoutExternal(walked.get('POST /Document')!))
  const query = { DocumentID: data.documentID }
  for (const password of [wrong, ''])
    await send({
      ...{ operation: 'GET /Document/File', query },
      headers: { 'X-Document-Password': password },
    })
  // An id that is not there is named to whoever asked for it (decisions 1).
  const sought = { ExternalAddressId: control }
  await send({ operation: 'GET /Address', query: sought }, { 'X-Request-Id': control })
}

async function keepReport({ data }: Reply) {
  const { fileName, content } = data as { fileName: string; content: string }
  const file = Buffer.from(content, 'base64')
  const parts = fileName.endsWith('.xlsx') ? partsOf(file) : []
  const pages = fileName.endsWith('.pdf') ? await pagesOf(file) : []
  const texts = pages.flatMap((page) => [page, page.replaceAll(/\s/g, '')])
  note(`report ${fileName}`, file, ...parts, ...texts)
}

/** Collects everything that is left behind as files; the data folder consists of files already. */
async function gather() {
  const forwarded = { 'X-Forwarded-For': '203.0.113.7' }
  const anyone = clientOf(node.url)
  for (const Authorization of [secrets['metrics token'][0]!, secrets['JWT secret'][0]!])
    note('metrics', (await anyone.get('/metrics', { ...forwarded, Authorization })).text)
  await rowsOf(connection, `select '${control}'`)
  const tables = await rowsOf(
    connection,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  for (const { name } of tables) {
    const [{ text }] = await rowsOf(
      connection,
      `select coalesce(string_agg(r::text, e'\\n'), '') as text from ${name} r`,
    )
    note(`table ${name}`, text)
  }
  await backUp(connection, localStore(join(dataDir, 'files')), backupFolder)
  await rowsOf(connection, 'checkpoint')
  await node.stop()
  note('log of the service', node.output())
}

function search(): Set<string> {
  const [places, work] = [join(seenFolder, 'places'), join(seenFolder, 'work')]
  for (const folder of [places, work]) mkdirSync(folder)
  const names = [...seen.keys()]
  for (const [i, name] of names.entries())
    writeFileSync(join(places, String(i)), joined(seen.get(name)!))
  return new Set([
    ...searchFolder(places, canaries, work, (file) => names[Number(file)]!),
    ...searchFolder(backupFolder, canaries, work, () => 'backup'),
    ...searchFolder(dataDir, canaries, work, (file) => {
      const [top, ...rest] = file.split('/')
      if (top === 'keys') return `key file ${rest.join('/')}`
      if (top === 'postgres') return 'database files'
      return top === 'postgres.log' ? 'log of PostgreSQL' : `stored ${top}`
    }),
  ])
}

const joined = (texts: (string | Buffer)[]) =>
  Buffer.concat(texts.flatMap((text) => [Buffer.from(text as string), Buffer.from('\n')]))

describe('A secret', () => {
  it('has travelled through every operation, and a new one would have to be added', () => {
    assert.deepEqual([...walked.keys()].sort(), [...goldenOperations().keys()].sort())
  })

  it('is found where it must be, and nowhere else', () => {
    const kinds = new Set([...Object.keys(secrets), ...allowed.flatMap((one) => one.kinds)])
    const places = [...found].filter((one) => kinds.has(one.slice(0, one.indexOf(':'))))
    assert.deepEqual(places.sort(), [...new Set(expected)].sort())
  })

  it('would be found: what is no secret is, in every place', () => {
    const formats = ['csv', 'xlsx', 'pdf', 'json']
    const reports = [...seen.keys()].filter((place) => place.startsWith('report '))
    assert.equal(reports.length, 7 * formats.length)
    // As CSV, the ranges of holdings are numbers only.
    const named = reports.filter((place) => place !== 'report Report 6.csv')
    const places = [
      ...[...named, 'stored files', ...copies, 'answer of GET /Audit'],
      ...['person', 'audit', 'biz_entity', 'idempotency'].map((name) => `table public.${name}`),
      ...['POST', 'PUT', 'GET'].map((method) => `answer of ${method} /Person`),
    ].map((place) => `name: ${place}`)
    const controls = ['log of the service', 'log of PostgreSQL', 'error of GET /Address']
    const sought = [...places, ...controls.map((place) => `control: ${place}`)]
    assert.deepEqual(
      sought.filter((one) => !found.has(one)),
      [],
    )
    assert.match(String(seen.get('metrics')), /route="\/PaymentDetail",status="500"/)
    assert.equal(seen.get('metrics')!.length, 2)
  })

  it('and even a name is in no log and no metrics', () => {
    const told = ['log of the service', 'log of PostgreSQL', 'metrics'].map((at) => `name: ${at}`)
    assert.deepEqual(
      told.filter((one) => found.has(one)),
      [],
    )
    assert.doesNotMatch(node.output(), /\$argon2id\$/)
  })

  it('is recognised however it is written', () => {
    const folder = temporaryFolder()
    const values = [...canaries.values()].flatMap((set) => [...set])
    const written = (text: string) => [
      text,
      text.replaceAll(' ', ''),
      JSON.stringify({ text }),
      new URLSearchParams({ text }).toString(),
      encodeURIComponent(text),
      Buffer.from(text).toString('hex'),
      ...['', 'x', 'yz'].map((head) => Buffer.from(`${head}${text}tail`).toString('base64')),
      Buffer.from(`y${text}tail`).toString('base64url'),
    ]
    const [places, work] = ['places', 'work'].map((name) => join(folder, name)) as [string, string]
    for (const name of [places, work]) mkdirSync(name)
    const files = values.flatMap(written)
    for (const [i, text] of files.entries()) writeFileSync(join(places, String(i)), `\0${text}\0`)
    const hits = new Set([...searchFolder(places, canaries, work, String)].map(fileOf))
    assert.deepEqual(
      files.filter((_, i) => !hits.has(String(i))),
      [],
    )
  })
})

const fileOf = (hit: string) => hit.slice(hit.indexOf(': ') + 2)
