// A registry reduced to its database, for embedded.test.ts: says that it is up (or why it is not),
// keeps running, and stops at SIGTERM.
import { startEmbedded } from '../../src/platform/embedded/postgres.ts'

const [dataDir = ''] = process.argv.slice(2)
const say = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`)

try {
  const { connection, stop } = await startEmbedded({
    dataDir,
    settings: { shared_buffers: '16MB' },
    onEvent: () => {},
  })
  process.once('SIGTERM', stop)
  say({ connection })
} catch (error) {
  say({ refusal: (error as Error).message })
}
