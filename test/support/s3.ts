import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Server = {
  run: () => Promise<{ port: number }>
  close: () => Promise<void>
  httpServer: { closeAllConnections: () => void }
}
type Options = { port: number; address: string; silent: boolean; directory: string }
const S3rver = createRequire(import.meta.url)('s3rver') as new (
  options: Options & { configureBuckets: { name: string }[] },
) => Server

/** Starts an S3 server with one bucket; returns it with the settings that point to it. */
export async function startBucket() {
  const directory = mkdtempSync(join(tmpdir(), 'registry-s3-'))
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: 'files' }],
  })
  const { port } = await server.run()
  return {
    env: {
      REGISTRY_S3_BUCKET: 'files',
      REGISTRY_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      REGISTRY_S3_ACCESS_KEY_ID: 'S3RVER',
      REGISTRY_S3_SECRET_ACCESS_KEY: 'S3RVER',
    },
    holds: (sha256: string) =>
      readdirSync(directory, { recursive: true, encoding: 'utf8' }).some(
        (name) => name.includes(sha256) && name.includes('_object') && !name.includes('metadata'),
      ),
    stop: async () => {
      server.httpServer.closeAllConnections() // clients keep theirs for a minute
      await server.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
