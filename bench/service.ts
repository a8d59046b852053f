import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { type Connection, findEmbedded, startEmbedded } from '../src/embedded/postgres.ts'
import { migrate } from '../src/sql/migrate.ts'
import { fill, type Size } from './dataset.ts'

const password = 'a password for the bench'

export type Service = {
  url: string
  token: string
  connection: Connection
  /** Bytes that the server process holds now. */
  memory: () => number
  stop: () => Promise<void>
}

/** The data folder of a size, made and filled the first time and kept. */
export async function prepare(folder: string, size: Size, tell: (line: string) => void) {
  const done = join(folder, 'filled')
  if (existsSync(done)) return
  const server = await startEmbedded({ dataDir: folder, onEvent: () => {} })
  try {
    await migrate(server.connection)
    const client = new pg.Client(server.connection)
    await client.connect()
    await fill(client, size, tell)
    await client.end()
    writeFileSync(done, size.name)
  } finally {
    await server.stop()
  }
}

/** The service as `npm start` runs it, in a process of its own. */
export async function startService(folder: string, port: number): Promise<Service> {
  const child = spawn(process.execPath, ['dist/main.js'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      PORT: String(port),
      REGISTRY_DATA_DIR: folder,
      REGISTRY_LOG_LEVEL: 'warn',
      REGISTRY_ADMIN_USERNAME: 'bench',
      REGISTRY_ADMIN_PASSWORD: password,
    },
  })
  const url = `http://127.0.0.1:${port}`
  await answering(url, child)
  const connection = await findEmbedded(folder)
  if (!connection) throw new Error('The service runs without its database.')
  return {
    url,
    token: await signIn(url),
    connection,
    memory: () => residentBytes(child.pid!),
    stop: () => stopped(child),
  }
}

async function answering(url: string, child: ChildProcess) {
  for (let tries = 0; tries < 300 && child.exitCode === null; tries++) {
    const up = await fetch(`${url}/Common/HealthCheck`).catch(() => undefined)
    if (up?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('The service did not start.')
}

async function signIn(url: string): Promise<string> {
  const answer = await fetch(`${url}/User/Login`, {
    method: 'POST',
    headers: { Version: '2.0', 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'bench', password }),
  })
  const { accessToken } = (await answer.json()) as { accessToken: string }
  return accessToken
}

function residentBytes(pid: number): number {
  const [, kilobytes = '0'] =
    /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

async function stopped(child: ChildProcess) {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await gone
}
