// Runs a load of load.ts with autocannon, in its own process; prints the figures that wrk would.
import autocannon from 'autocannon'

const { url, token, call, size, stride, connections, seconds } = JSON.parse(process.argv[2])
const upTo = (most) => 1 + Math.floor(Math.random() * most)
let walked = upTo(size)
let unique = Date.now() * 1000
const places = {
  n: () => upTo(size),
  i: () => upTo(12),
  u: () => ++unique,
  w: () => {
    walked = (walked + stride) % size
    return walked + 1
  },
}
const filled = (text) => text.replace(/\{([niuw])\}/g, (_, place) => String(places[place]()))
const body = () =>
  call.times
    ? `[${Array.from({ length: call.times }, () => filled(call.body)).join(',')}]`
    : filled(call.body)

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
        headers: {
          ...request.headers,
          ...Object.fromEntries(
            Object.entries(call.headers ?? {}).map(([name, text]) => [name, filled(text)]),
          ),
        },
        ...(call.body && { body: body() }),
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
