import rateLimit from '@fastify/rate-limit'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { apiKeyEndpoints } from './access/api-key/routes.ts'
import { touchKey } from './access/api-key/sql.ts'
import { approvalGate, requestsSealedWith } from './access/approval/gate.ts'
import { approvalEndpoints } from './access/approval/routes.ts'
import { auditEndpoints } from './access/audit/routes.ts'
import type { Veil } from './access/audit/veil.ts'
import { authenticator, readAgain } from './access/caller/authenticate.ts'
import { factorsSealedWith } from './access/second-factor/sql.ts'
import { userEndpoints } from './access/user/routes.ts'
import { wasUsed } from './access/user/sign-in.ts'
import { tokensWith } from './access/user/token.ts'
import { commonEndpoints } from './catalogue/common/routes.ts'
import { investmentEndpoints } from './catalogue/investment/routes.ts'
import { productEndpoints } from './catalogue/product/routes.ts'
import { giveTimeZone } from './catalogue/product/today.ts'
import type { Config } from './config.ts'
import { followerOf } from './integration/event/follow.ts'
import { eventEndpoints } from './integration/event/routes.ts'
import { importEndpoints } from './integration/import/routes.ts'
import { webhookDocument } from './integration/webhook/document.ts'
import { webhookEndpoints } from './integration/webhook/routes.ts'
import { webhookVault } from './integration/webhook/vault.ts'
import { bizEventEndpoints } from './ledger/biz-event/routes.ts'
import { postingDoor } from './ledger/biz-transaction/door.ts'
import { bizTransactionEndpoints } from './ledger/biz-transaction/routes.ts'
import { holdingEndpoints } from './ledger/holding/routes.ts'
import { restoreResiduals } from './money/distribution/residual.ts'
import { distributionEndpoints } from './money/distribution/routes.ts'
import { refuseClosing } from './money/distribution/under-way.ts'
import { leaveDrafts } from './money/payment-run/leave.ts'
import { paymentRunEndpoints } from './money/payment-run/routes.ts'
import { withholdingRateEndpoints } from './money/withholding-rate/routes.ts'
import { serveConsole } from './operations/console/serve.ts'
import { sessionPath } from './operations/console/session.ts'
import { gaugesOf } from './operations/gauges.ts'
import { addressEndpoints } from './parties/address/routes.ts'
import { entityDoor } from './parties/biz-entity/door.ts'
import { withoutHiddenParents } from './parties/biz-entity/hidden-parents.ts'
import { bizEntityEndpoints } from './parties/biz-entity/routes.ts'
import { namesUnseen } from './parties/biz-entity/unseen.ts'
import { communicationEndpoints } from './parties/communication/routes.ts'
import { organisationEndpoints } from './parties/organisation/routes.ts'
import { organisationTable } from './parties/organisation/sql.ts'
import { paymentDetailEndpoints } from './parties/payment-detail/routes.ts'
import { personEndpoints } from './parties/person/routes.ts'
import { personTable } from './parties/person/sql.ts'
import { agreeOnKeys } from './parties/sealed/keys.ts'
import { completeSealed } from './parties/sealed/rotate.ts'
import { type Vault, vaultOf } from './parties/sealed/vault.ts'
import { taxStandingEndpoints } from './parties/tax-standing/routes.ts'
import { importFiles, openFiles } from './platform/files/open.ts'
import { callerOf } from './platform/http/caller.ts'
import { type Endpoint, methodOf, pathOf, type WriteEndpoint } from './platform/http/endpoint.ts'
import { conditionReader, taggingsOf } from './platform/http/etag.ts'
import { serveMetrics } from './platform/http/metrics.ts'
import { mount } from './platform/http/mount.ts'
import { openapiDocument } from './platform/http/openapi.ts'
import { serveReference, serveRoot } from './platform/http/reference.ts'
import { answerUnknownPaths, createServer } from './platform/http/server.ts'
import { tryLater } from './platform/refusal.ts'
import { readEncryptionKeys, readSecrets, type Secrets, sealedWith } from './platform/secrets.ts'
import type { Database } from './platform/sql/handle.ts'
import { agreeOnSecret } from './platform/sql/one-secret.ts'
import { documentEndpoints } from './records/document/routes.ts'
import { holdEndpoints } from './records/hold/routes.ts'
import { reportEndpoints } from './records/report/routes.ts'
import { searchEndpoints } from './records/search/routes.ts'
import { version } from './version.ts'

/** The tables that hold tax numbers. */
const taxed = [personTable, organisationTable]

const veil: Veil = { namesUnseen, over: withoutHiddenParents }

/** The endpoints that need nothing but a request and the database. */
const plainEndpoints: Endpoint[] = [
  ...apiKeyEndpoints,
  ...investmentEndpoints,
  ...bizEventEndpoints,
  ...holdingEndpoints,
  ...withholdingRateEndpoints,
  ...taxStandingEndpoints,
  ...addressEndpoints,
  ...communicationEndpoints,
  ...paymentDetailEndpoints,
  ...holdEndpoints,
]

/**
 * Checks that all nodes of the database have the same secrets and keys, because they share the
 * values made with them.
 */
async function agreeWithOthers(
  database: Database,
  vault: Vault,
  { secretID }: Secrets,
  logger: FastifyBaseLogger,
) {
  const warn = (words: string) => logger.warn(words)
  await agreeOnSecret(database, database.bell, secretID, warn)
  await agreeOnKeys(database, vault, taxed, warn)
  // In the background: the search finds tax numbers stored before it existed once their digests are
  // made.
  completeSealed(database, vault, taxed).catch(({ message }: Error) =>
    logger.warn({ message }, 'digests of tax numbers are left for the next start'),
  )
}

/** Assembles the service: the endpoints of every resource on one server. */
export async function buildApp(
  config: Config,
  database: Database,
  logger: FastifyBaseLogger,
  stopping: AbortSignal = new AbortController().signal,
) {
  const secrets = readSecrets(config)
  const { tokenKey, fingerprintKey, sealKey, nameKey, factorKey, requestKey } = secrets
  const tokens = tokensWith(tokenKey)
  const vault = vaultOf(readEncryptionKeys(config))
  await agreeWithOthers(database, vault, secrets, logger)
  await giveTimeZone(database, config.timeZone)
  const { files, options } = await openFiles(config, database.transaction)
  const imported = importFiles(config, options)
  const endpointOf = (operation: string) => writes.byOperation.get(operation.toLowerCase())
  const endpoints: Endpoint[] = [
    ...userEndpoints({
      database,
      tokens,
      nameKey,
      stopping,
      factors: factorsSealedWith(factorKey),
      requireSecondFactor: config.requireSecondFactor,
    }),
    ...plainEndpoints,
    ...commonEndpoints(version, stopping, database.takesWrites),
    ...productEndpoints({ timeZone: config.timeZone, refuseClosing }),
    ...distributionEndpoints(config.stageInline),
    ...paymentRunEndpoints(database),
    ...bizTransactionEndpoints(postingDoor(database), { leaveDrafts, restoreResiduals }),
    ...bizEntityEndpoints(vault, entityDoor(database, vault)),
    ...personEndpoints(vault),
    ...organisationEndpoints(vault),
    ...documentEndpoints(database, files, nameKey),
    ...reportEndpoints(database, files, config),
    ...searchEndpoints(vault),
    ...auditEndpoints(database, veil),
    ...approvalEndpoints({
      database,
      sealed: requestsSealedWith(requestKey),
      veil,
      endpointOf,
      writes: () => writes.all,
      conditionOf: (endpoint, headers) => conditionReader(endpoint, taggings)(headers),
    }),
    ...eventEndpoints(followerOf(database.bell, stopping, readAgain)),
    ...importEndpoints(database, imported),
    ...webhookEndpoints(webhookVault(config).seal, config.webhookAllowLocal),
  ]
  const writes = writesAmong(endpoints)
  const taggings = taggingsOf(endpoints)
  const { maxBodyBytes, maxPageSize, behindProxy, tls, metricsToken, rateLimit: perMinute } = config
  const app = await createServer({ logger, maxBodyBytes, behindProxy, tls, stopping })
  serveMetrics(app, { database, token: metricsToken, gauges: (to) => gaugesOf(to, database) })
  await serveReference(app, () => openapiDocument(endpoints, version, maxPageSize, webhookDocument))
  serveRoot(app, version)
  const { countRefused, refuseGuess } = await limitRates(app, perMinute)
  const touch = toucher(database, logger)
  const authenticate = authenticator({ handle: database, tokens, touch, refuseGuess })
  await serveConsole(app, {
    folder: config.consoleDir,
    maxPageSize,
    secure: behindProxy || tls !== undefined,
    authenticate,
    wasUsed: (refreshToken, secondsAgo) => wasUsed(database, refreshToken, secondsAgo),
    retryKey: secrets.consoleKey,
  })
  mount(app, endpoints, {
    database,
    authenticate,
    maxPageSize,
    maxBodyBytes,
    countRefused,
    fingerprintKey,
    sealed: sealedWith(sealKey, 'The answer was kept under another JWT secret.'),
    approvals: approvalGate(database, requestsSealedWith(requestKey)),
  })
  answerUnknownPaths(app, methodsByPath(endpoints))
  await app.ready()
  return app
}

/** The writes that can wait for approval, as a list and by operation. */
function writesAmong(endpoints: Endpoint[]) {
  const all = endpoints.flatMap((endpoint): WriteEndpoint[] =>
    endpoint.kind === 'write' || endpoint.kind === 'shared' ? [endpoint] : [],
  )
  return { all, byOperation: new Map(all.map((one) => [one.operation.toLowerCase(), one])) }
}

/** Records the use of an API key in the background; the request does not wait for it. */
const toucher = (database: Database, logger: FastifyBaseLogger) => (apiKeyID: number) => {
  database
    .transaction((tx) => touchKey(tx, apiKeyID))
    .catch(({ message }: Error) => logger.warn({ message }, 'the use of a key was not noted'))
}

/** The most addresses of which is known that they have used up their rate. */
const mostSpent = 10_000

/**
 * Limits requests per node and user, or address of a caller who is not signed in; they are counted
 * before the body is read. `countRefused` counts a request that was refused before it came so far,
 * and `refuseGuess` refuses whoever it has refused for one too many, without counting.
 */
async function limitRates(app: FastifyInstance, perMinute: number) {
  if (perMinute === 0) return { countRefused: async () => undefined, refuseGuess: () => {} }
  const refusal = (ttl: number) =>
    tryLater(429, 'rate_limit', 'Too many requests; slow down.', Math.ceil(ttl / 1000))
  await app.register(rateLimit, {
    max: perMinute,
    timeWindow: 60_000,
    hook: 'preParsing',
    keyGenerator: callerOf,
    errorResponseBuilder: (_request, { ttl }) => refusal(ttl),
  })
  const count = app.createRateLimit()
  /** Until when callers have used up their rate, by the monotonic clock. */
  const spent = new Map<string, number>()
  const countRefused = async (request: FastifyRequest) => {
    const counted = await count(request)
    if (counted.isAllowed || !counted.isExceeded) return undefined
    if (spent.size >= mostSpent) spent.clear()
    spent.set(callerOf(request), performance.now() + counted.ttl)
    return refusal(counted.ttl)
  }
  const refuseGuess = (ip: string) => {
    const left = (spent.get(callerOf({ actor: null, ip })) ?? 0) - performance.now()
    if (left > 0) throw refusal(left)
  }
  return { countRefused, refuseGuess }
}

function methodsByPath(endpoints: Endpoint[]): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const endpoint of endpoints) {
    const path = pathOf(endpoint).toLowerCase()
    methods.set(path, [...(methods.get(path) ?? []), methodOf(endpoint)])
  }
  const pages = ['/', '/openapi.json', '/docs', '/metrics', '/console']
  for (const path of pages) methods.set(path, ['GET'])
  methods.set(sessionPath, ['POST', 'PUT', 'DELETE'])
  return methods
}
