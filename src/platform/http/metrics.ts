import type { FastifyInstance, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { forbidden } from '../refusal.ts'
import { isSecret } from '../secrets.ts'
import type { Database } from '../sql/handle.ts'

export type MetricsOptions = {
  database: Database
  token: string | undefined
  /** Registers further gauges; returns a function that updates them, called before each scrape. */
  gauges: (register: Registry) => () => Promise<void>
}

/** Prometheus metrics: requests by route and status, latency, the pool, the event loop. */
export function serveMetrics(app: FastifyInstance, { database, token, gauges }: MetricsOptions) {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const latency = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [register],
  })
  new Gauge({
    name: 'database_connections',
    help: 'Connections of the pools, and requests that wait for one.',
    labelNames: ['state'],
    registers: [register],
    collect() {
      for (const [state, count] of Object.entries(database.counts())) this.set({ state }, count)
    },
  })
  const refresh = gauges(register)
  const observer = observersOf(latency)
  app.addHook('onResponse', ({ method, routeOptions }, { statusCode, elapsedTime }, done) => {
    observer(method, routeOptions.url ?? '(none)', statusCode).observe(elapsedTime / 1000)
    done()
  })
  app.get('/metrics', async (request, reply) => {
    if (!mayScrape(request, token))
      throw forbidden(
        'metrics',
        'Metrics are for this machine and for holders of the metrics token.',
      )
    await refresh()
    return reply.type(register.contentType).send(await register.metrics())
  })
}

/** Caches the few label sets: looking one up costs more than counting. */
function observersOf(latency: Histogram<'method' | 'route' | 'status'>) {
  const known = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>()
  return (method: string, route: string, status: number) => {
    const key = `${method} ${route} ${status}`
    const found = known.get(key) ?? latency.labels(method, route, String(status))
    known.set(key, found)
    return found
  }
}

function mayScrape({ raw, headers }: FastifyRequest, token: string | undefined): boolean {
  const given = headers.authorization?.replace(/^Bearer +/i, '')
  if (token && given && isSecret(given, token)) return true
  // A proxy on this machine connects from loopback for all callers, but adds a forwarding header.
  const forwarded = headers['x-forwarded-for'] ?? headers.forwarded
  return !forwarded && /^(::ffff:)?127\.|^::1$/.test(raw.socket.remoteAddress ?? '')
}
