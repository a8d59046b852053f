import rateLimit from '@fastify/rate-limit'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { addressEndpoints } from './address/routes.ts'
import { auditEndpoints } from './audit/routes.ts'
import { bizEntityEndpoints } from './biz-entity/routes.ts'
import { bizEventEndpoints } from './biz-event/routes.ts'
import { postingDoor } from './biz-transaction/batch.ts'
import { bizTransactionEndpoints } from './biz-transaction/routes.ts'
import { commonEndpoints } from './common/routes.ts'
import { communicationEndpoints } from './communication/routes.ts'
import type { Config } from './config.ts'
import { distributionEndpoints } from './distribution/routes.ts'
import { documentEndpoints } from './document/routes.ts'
import { openFiles } from './files/open.ts'
import { holdingEndpoints } from './holding/routes.ts'
import { type Endpoint, methodOf, pathOf } from './http/endpoint.ts'
import { serveMetrics } from './http/metrics.ts'
import { mount } from './http/mount.ts'
import { openapiDocument } from './http/openapi.ts'
import { serveReference } from './http/reference.ts'
import { answerUnknownPaths, createServer } from './http/server.ts'
import { investmentEndpoints } from './investment/routes.ts'
import { agreeOnKeys } from './investor/keys.ts'
import { vaultOf } from './investor/vault.ts'
import { organisationEndpoints } from './organisation/routes.ts'
import { organisationTable } from './organisation/sql.ts'
import { paymentDetailEndpoints } from './payment-detail/routes.ts'
import { personEndpoints } from './person/routes.ts'
import { personTable } from './person/sql.ts'
import { productEndpoints } from './product/routes.ts'
import { tryLater } from './refusal.ts'
import { reportEndpoints } from './report/routes.ts'
import { readEncryptionKeys, readSecrets, seal, unseal } from './secrets.ts'
import type { Database } from './sql/handle.ts'
import { userEndpoints } from './user/routes.ts'
import { sessionsOf } from './user/session.ts'
import { tokensWith } from './user/token.ts'
import { version } from './version.ts'

/** The assembled service: every resource's endpoints on one server. */
export async function buildApp(
  config: Config,
  database: Database,
  logger: FastifyBaseLogger,
  stopping: AbortSignal = new AbortController().signal,
) {
  const { tokenKey, fingerprintKey, sealKey, nameKey } = readSecrets(config)
  const tokens = tokensWith(tokenKey)
  const vault = vaultOf(readEncryptionKeys(config))
  await agreeOnKeys(database, vault, [personTable, organisationTable])
  const { files } = await openFiles(config, database.transaction)
  const endpoints: Endpoint[] = [
    ...userEndpoints(tokens, nameKey),
    ...commonEndpoints(version, stopping),
    ...productEndpoints,
    ...investmentEndpoints,
    ...bizEventEndpoints,
    ...holdingEndpoints,
    ...distributionEndpoints,
    ...bizTransactionEndpoints(postingDoor(database)),
    ...bizEntityEndpoints(vault),
    ...personEndpoints(vault),
    ...organisationEndpoints(vault),
    ...addressEndpoints,
    ...communicationEndpoints,
    ...paymentDetailEndpoints,
    ...documentEndpoints(database, files, nameKey),
    ...reportEndpoints(database, files),
    ...auditEndpoints,
  ]
  const { maxBodyBytes, maxPageSize, behindProxy, tls, metricsToken, rateLimit: perMinute } = config
  const app = await createServer({ logger, maxBodyBytes, behindProxy, tls, stopping })
  serveMetrics(app, { database, token: metricsToken })
  await serveReference(app, openapiDocument(endpoints, version, maxPageSize))
  if (perMinute > 0) await limitRates(app, perMinute)
  mount(app, endpoints, {
    database,
    authenticate: sessionsOf(database, tokens),
    maxPageSize,
    maxBodyBytes,
    fingerprintKey,
    sealed: {
      seal: (text) => seal(sealKey, text),
      unseal: (text) => unseal(sealKey, text),
    },
  })
  answerUnknownPaths(app, methodsByPath(endpoints))
  await app.ready()
  return app
}

/** Counted per user and node, before the body is read. */
const limitRates = (app: FastifyInstance, perMinute: number) =>
  app.register(rateLimit, {
    max: perMinute,
    timeWindow: 60_000,
    hook: 'preParsing',
    keyGenerator: ({ actor, ip }) => (actor ? `user ${actor.userID}` : ip),
    errorResponseBuilder: (_request, { ttl }) =>
      tryLater(429, 'rate_limit', 'Too many requests; slow down.', Math.ceil(ttl / 1000)),
  })

function methodsByPath(endpoints: Endpoint[]): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const endpoint of endpoints) {
    const path = pathOf(endpoint).toLowerCase()
    methods.set(path, [...(methods.get(path) ?? []), methodOf(endpoint)])
  }
  for (const path of ['/openapi.json', '/docs', '/metrics']) methods.set(path, ['GET'])
  return methods
}
