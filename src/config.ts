import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMailbox } from './mailbox.ts'
import { isTimeZone } from './time-zone.ts'

/** A certificate and its key as read at the start, and their files. */
export type Tls = { cert: Buffer; key: Buffer; files: { cert: string; key: string } }

/** The configuration: checked and complete. Only this file reads the environment. */
export type Config = {
  host: string
  port: number
  /** Absent: the embedded database under dataDir. */
  databaseUrl: string | undefined
  /** The login of the tables' owner, for migrations; absent: that of databaseUrl. */
  migrationDatabaseUrl: string | undefined
  /** Standbys that reads may go to. */
  readDatabaseUrls: string[]
  databaseConnections: number
  prepareStatements: boolean
  dataDir: string
  adminUsername: string | undefined
  adminPassword: string | undefined
  jwtSecret: string | undefined
  encryptionKey: string | undefined
  previousEncryptionKeys: string[]
  /** The time zone of products that do not state one; it decides what their current day is. */
  timeZone: string
  maxPageSize: number
  maxBodyBytes: number
  maxFileBytes: number
  maxImportBytes: number
  /** Up to this many accounts, a stage of a distribution runs within its request. */
  stageInline: number
  /** The bucket for files; absent: they are stored in dataDir. */
  s3: Bucket | undefined
  /** Webhooks may be sent to this machine, also without TLS; for trials. */
  webhookAllowLocal: boolean
  /** The mail server that sends investor statements, and the sender address. */
  smtpUrl: string | undefined
  smtpFrom: string | undefined
  /** The days for which events are kept. */
  eventDays: number
  /** Whether an empty registry is filled with demonstration data at its start. */
  demo: boolean
  /** Whether this process does the background work: reports, imports, webhooks and so on. */
  worker: boolean
  /** A user without a second factor can sign in only to enrol one. */
  requireSecondFactor: boolean
  logLevel: string
  /** The most requests per minute and user; 0: no limit. */
  rateLimit: number
  metricsToken: string | undefined
  behindProxy: boolean
  /** The folder of the built console. */
  consoleDir: string
  tls: Tls | undefined
  /** Variables that begin with REGISTRY_ and that nothing reads. */
  unknown: { name: string; nearest: string | undefined }[]
}

/** An S3-compatible bucket. */
export type Bucket = {
  bucket: string
  /** Absent: Amazon's endpoint. */
  endpoint: string | undefined
  region: string
  /** Absent: the credentials of the machine itself (its role, AWS_… variables). */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined
}

type Environment = Record<string, string | undefined>

export class ConfigError extends Error {}

/** Reads and checks all settings; one error names every bad value. */
export function readConfig(env: Environment = process.env): Config {
  const readers = readersOf(env)
  const {
    text,
    integer,
    flag,
    oneOf,
    secret,
    databaseUrl,
    databaseUrls,
    encryptionKey,
    encryptionKeys,
    problems,
    read,
  } = readers
  const config: Config = {
    ...address(readers),
    port: integer('PORT', 3000, 0, 65_535),
    databaseUrl: databaseUrl('DATABASE_URL'),
    migrationDatabaseUrl: databaseUrl('REGISTRY_MIGRATION_DATABASE_URL'),
    readDatabaseUrls: databaseUrls('REGISTRY_READ_DATABASE_URL'),
    databaseConnections: integer('REGISTRY_DATABASE_CONNECTIONS', 10, 1, 500),
    prepareStatements: flag('REGISTRY_PREPARE_STATEMENTS', true),
    dataDir: resolve(text('REGISTRY_DATA_DIR') ?? 'data'),
    ...firstUser(readers),
    jwtSecret: secret('REGISTRY_JWT_SECRET', 32),
    encryptionKey: encryptionKey('REGISTRY_ENCRYPTION_KEY'),
    previousEncryptionKeys: encryptionKeys('REGISTRY_PREVIOUS_ENCRYPTION_KEYS'),
    timeZone: timeZone(readers),
    maxPageSize: integer('REGISTRY_MAX_PAGE_SIZE', 1000, 1, 100_000),
    maxBodyBytes: integer('REGISTRY_MAX_BODY_BYTES', 10 * 2 ** 20, 1024, 2 ** 30),
    maxFileBytes: integer('REGISTRY_MAX_FILE_BYTES', 25 * 2 ** 20, 1024, 2 ** 32),
    maxImportBytes: integer('REGISTRY_MAX_IMPORT_BYTES', 2 ** 30, 1024, 2 ** 40),
    stageInline: integer('REGISTRY_STAGE_INLINE', 20_000, 0, 100_000_000),
    s3: s3(readers),
    webhookAllowLocal: flag('REGISTRY_WEBHOOK_ALLOW_LOCAL', false),
    ...mail(readers),
    eventDays: integer('REGISTRY_EVENT_DAYS', 90, 1, 3650),
    demo: flag('REGISTRY_DEMO', false),
    consoleDir: fileURLToPath(new URL('../dist/console', import.meta.url)),
    worker: flag('REGISTRY_WORKER', true),
    requireSecondFactor: flag('REGISTRY_REQUIRE_SECOND_FACTOR', false),
    logLevel: oneOf('REGISTRY_LOG_LEVEL', 'info', [
      'fatal',
      'error',
      'warn',
      'info',
      'debug',
      'trace',
      'silent',
    ]),
    rateLimit: integer('REGISTRY_RATE_LIMIT', 0, 0, 1_000_000),
    metricsToken: secret('REGISTRY_METRICS_TOKEN', 16),
    unknown: [],
  }
  config.unknown = unknownNames(env, read) // last, because by now every known name has been read
  if (problems.length > 0) throw new ConfigError(`Configuration: ${problems.join('; ')}.`)
  return config
}

function mail({ text, problem }: Readers) {
  const smtpUrl = text('REGISTRY_SMTP_URL')
  if (smtpUrl !== undefined && !/^smtps?:\/\/[^\s]+$/.test(smtpUrl))
    problem(
      'REGISTRY_SMTP_URL',
      'must be the URL of a mail server, such as smtp://mail.example.com:25',
    )
  const smtpFrom = text('REGISTRY_SMTP_FROM')
  if (smtpFrom !== undefined && !isMailbox(smtpFrom))
    problem('REGISTRY_SMTP_FROM', 'must be an e-mail address alone, such as mail@example.com')
  return { smtpUrl, smtpFrom }
}

/** Functions that read one variable each, by kind. They collect the problems and the names read. */
function readersOf(env: Environment) {
  const problems: string[] = []
  const problem = (name: string, words: string) => problems.push(`${name} ${words}`)
  const read = new Set<string>()
  const text = (name: string) => {
    read.add(name)
    return env[name]?.trim() || undefined
  }

  const integer = (name: string, fallback: number, least: number, most: number) => {
    const given = text(name)
    if (given === undefined) return fallback
    const value = /^\d+$/.test(given) ? Number(given) : Number.NaN
    if (!(value >= least && value <= most))
      problem(name, `must be a number from ${least} to ${most}`)
    return value
  }
  const flag = (name: string, fallback: boolean) => {
    const given = text(name)?.toLowerCase()
    if (given !== undefined && given !== 'true' && given !== 'false')
      problem(name, 'must be true or false')
    return given === undefined ? fallback : given === 'true'
  }
  const oneOf = (name: string, fallback: string, values: string[]) => {
    const given = text(name) ?? fallback
    if (!values.includes(given)) problem(name, `must be one of ${values.join(', ')}`)
    return given
  }
  const secret = (name: string, least: number) => {
    const given = text(name)
    if (given !== undefined && given.length < least)
      problem(name, `must be at least ${least} characters`)
    return given
  }
  const file = (name: string) => {
    const path = text(name)
    if (path === undefined) return undefined
    try {
      return readFileSync(path)
    } catch {
      problem(name, `names a file that cannot be read (${path})`)
      return undefined
    }
  }
  return {
    text,
    integer,
    flag,
    oneOf,
    secret,
    file,
    ...placeAndKeyReaders(text, problem),
    problem,
    problems,
    read,
  }
}

/** The readers of variables that name databases or hold encryption keys. */
function placeAndKeyReaders(
  text: (name: string) => string | undefined,
  problem: (name: string, words: string) => void,
) {
  const databaseUrls = (name: string) => {
    const given = (text(name) ?? '').split(/\s+/).filter(Boolean)
    if (given.some((url) => !/^postgres(ql)?:\/\//.test(url)))
      problem(name, 'must begin with postgres:// or postgresql://')
    else if (!given.every(isUrl))
      problem(
        name,
        'is not a valid URL: special characters in a password must be encoded, such as %23 for #',
      )
    return given
  }
  const databaseUrl = (name: string) => {
    if (!/\s/.test(text(name) ?? '')) return databaseUrls(name)[0]
    problem(name, 'must be one URL, with %20 for a blank in it')
    return undefined
  }
  const encryptionKey = (name: string) => {
    const given = text(name)
    if (given !== undefined && !isKey(given))
      problem(name, 'must be one key of 32 bytes in base64 (openssl rand -base64 32)')
    return given
  }
  const encryptionKeys = (name: string) => {
    const given = (text(name) ?? '').split(',').filter(Boolean)
    if (!given.every(isKey))
      problem(name, 'must be keys of 32 bytes in base64, separated by commas')
    return given
  }
  return { databaseUrl, databaseUrls, encryptionKey, encryptionKeys }
}

type Readers = ReturnType<typeof readersOf>

function timeZone({ text, problem }: Readers) {
  const given = text('REGISTRY_TIME_ZONE') ?? 'Australia/Sydney'
  if (!isTimeZone(given))
    problem('REGISTRY_TIME_ZONE', 'must be an IANA time zone, such as Australia/Sydney')
  return given
}

function s3({ text, problem }: Readers): Bucket | undefined {
  const bucket = text('REGISTRY_S3_BUCKET')
  const endpoint = text('REGISTRY_S3_ENDPOINT')
  const region = text('REGISTRY_S3_REGION') ?? 'us-east-1'
  const accessKeyId = text('REGISTRY_S3_ACCESS_KEY_ID')
  const secretAccessKey = text('REGISTRY_S3_SECRET_ACCESS_KEY')
  if (endpoint !== undefined && !/^https?:\/\/\S+$/.test(endpoint))
    problem('REGISTRY_S3_ENDPOINT', 'must begin with http:// or https://')
  if (Boolean(accessKeyId) !== Boolean(secretAccessKey))
    problem('REGISTRY_S3_ACCESS_KEY_ID', 'and REGISTRY_S3_SECRET_ACCESS_KEY are needed together')
  if (bucket === undefined) {
    if (endpoint ?? accessKeyId) problem('REGISTRY_S3_BUCKET', 'is needed with the S3 settings')
    return undefined
  }
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined
  return { bucket, endpoint, region, credentials }
}

/** Requires TLS, or a proxy that speaks it, unless the registry listens on this machine only. */
function address({ text, flag, file, problem }: Readers) {
  const host = text('HOST') ?? '127.0.0.1'
  const behindProxy = flag('REGISTRY_BEHIND_PROXY', false)
  const [cert, key] = [file('REGISTRY_TLS_CERT'), file('REGISTRY_TLS_KEY')]
  const files = { cert: text('REGISTRY_TLS_CERT')!, key: text('REGISTRY_TLS_KEY')! }
  if (Boolean(cert) !== Boolean(key))
    problem('REGISTRY_TLS_CERT', 'and REGISTRY_TLS_KEY are needed together')
  else if (cert && key && !fitTogether(cert, key))
    problem('REGISTRY_TLS_CERT', 'and REGISTRY_TLS_KEY must be a PEM certificate and its key')
  if (!isLoopback(host) && !behindProxy && !cert)
    problem(
      'HOST',
      `${host} is not a loopback address: set REGISTRY_TLS_CERT and REGISTRY_TLS_KEY, ` +
        'or REGISTRY_BEHIND_PROXY=true where a proxy speaks TLS',
    )
  return { host, behindProxy, tls: cert && key ? { cert, key, files } : undefined }
}

function firstUser({ text, secret, problem }: Readers) {
  const adminUsername = text('REGISTRY_ADMIN_USERNAME')
  const adminPassword = secret('REGISTRY_ADMIN_PASSWORD', 12)
  if (adminUsername && adminUsername.length > 100)
    problem('REGISTRY_ADMIN_USERNAME', 'must be at most 100 characters')
  if (adminPassword && adminPassword.length > 256)
    problem('REGISTRY_ADMIN_PASSWORD', 'must be at most 256 characters')
  if (adminPassword && !adminUsername)
    problem('REGISTRY_ADMIN_USERNAME', 'is needed with REGISTRY_ADMIN_PASSWORD')
  return { adminUsername, adminPassword }
}

/**
 * Variables meant for the registry that nothing reads: most likely misspelt. They do not stop the
 * start, since a variable of the next version may be set before that version is installed.
 */
const unknownNames = (env: Environment, read: ReadonlySet<string>) =>
  Object.keys(env)
    .filter((name) => /^REGISTRY_/.test(name) && !read.has(name))
    .map((name) => ({ name, nearest: nearest(name, [...read]) }))

export const unknownWords = (unknown: Config['unknown']) =>
  unknown
    .map(
      ({ name, nearest }) =>
        `${name} is not a setting of the registry and is ignored` +
        `${nearest ? `. Did you mean ${nearest}?` : '.'}`,
    )
    .join('\n')

/** The known name with the fewest letters to change, if these are at most five. */
function nearest(name: string, names: string[]): string | undefined {
  const [best] = names
    .map((known) => ({ known, letters: lettersBetween(name, known) }))
    .filter(({ letters }) => letters <= 5)
    .sort((one, other) => one.letters - other.letters)
  return best?.known
}

/** The number of letters to insert, delete or change to turn one word into the other. */
function lettersBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++)
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (letter === other[j] ? 0 : 1)))
    row = next
  }
  return row.at(-1)!
}

/**
 * Accepts what the driver accepts: also a URL without a host that has one in its query
 * (?host=/run/postgresql).
 */
const isUrl = (url: string) => URL.canParse(url) || URL.canParse(url.replace('@/', '@host/'))

/**
 * Whether a text is one key of 32 bytes. The letters are counted, since Node decodes two keys in
 * one text as the first of them.
 */
export const isKey = (text: string) =>
  Buffer.from(text, 'base64').length === 32 && text.match(/[\w+/-]/g)?.length === 43

const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

export function fitTogether(cert: Buffer, key: Buffer): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}
