// The load of load.ts by autocannon, in a process of its own: prints what wrk would tell.
import autocannon from 'autocannon'

const { url, token, call, size, connections, seconds } = JSON.parse(process.argv[2])
const upTo = (most) => 1 + Math.floor(Math.random() * most)
const filled = (text) =>
  text?.replace(/\{([ni])\}/g, (_, place) => String(place === 'n' ? upTo(size) : upTo(12)))

const result = await autocannon({
  url,
  connections,
  duration: seconds,
  requests: [
    {
      method: call.method,
      headers: {
        Authorization: token,
        Version: '2.0',
        ...(call.body && { 'Content-Type': 'application/json' }),
      },
      setupRequest: (request) => ({
        ...request,
        path: filled(call.path),
        ...(call.body && { body: filled(call.body) }),
      }),
    },
  ],
})
process.stdout.write(
  JSON.stringify({
    perSecond: result.requests.total / result.duration,
    p50: result.latency.p50,
    failed: result.non2xx + result.errors,
  }),
)
