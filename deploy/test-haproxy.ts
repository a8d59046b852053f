import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Two nodes behind HAProxy, each stopped and started again under load: no call may fail. */
const dataDir = mkdtempSync(join(tmpdir(), 'registry-haproxy-'))
const password = 'a password for this trial'
const settings = {
  ...process.env,
  REGISTRY_DATA_DIR: dataDir,
  REGISTRY_BEHIND_PROXY: 'true',
  REGISTRY_LOG_LEVEL: 'warn',
  REGISTRY_JWT_SECRET: 'a secret that both nodes of this trial share',
  REGISTRY_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  REGISTRY_ADMIN_USERNAME: 'admin',
  REGISTRY_ADMIN_PASSWORD: password,
}
const started = new Set<ChildProcess>()

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  assert.ok(address && typeof address === 'object')
  return address.port
}

function start(file: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  started.add(child)
  child.once('exit', () => started.delete(child))
  return child
}

async function until(what: string, look: () => Promise<boolean>) {
  for (const begun = Date.now(); Date.now() - begun < 180_000; await sleep(100))
    if (await look().catch(() => false)) return
  throw new Error(`Waited in vain for ${what}.`)
}

const isWell = async (port: number) =>
  (await fetch(`http://127.0.0.1:${port}/Common/HealthCheck`)).status === 200

async function startNode(port: number): Promise<ChildProcess> {
  const node = start(process.execPath, [join('scripts', 'run.mjs'), 'main'], {
    ...settings,
    PORT: String(port),
  })
  await until(`the node on ${port}`, () => isWell(port))
  return node
}

async function stop(child: ChildProcess): Promise<number | null> {
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  return code
}

type Tally = { done: number; failed: string[]; isOver: boolean }

/** Writes and reads through the proxy for as long as the trial goes on. */
async function call(url: string, token: string, caller: number, tally: Tally) {
  const headers = { Version: '2.0', Authorization: token, 'Content-Type': 'application/json' }
  for (let n = 0; !tally.isOver; n++) {
    const body = JSON.stringify({ name: `Through the proxy ${caller}-${n}` })
    const asked =
      n % 2 === 0
        ? fetch(`${url}/Product`, { method: 'POST', headers, body })
        : fetch(`${url}/Product?PageSize=1`, { headers })
    const answer = await asked.then(
      async (reply) => `${reply.status} ${await reply.text()}`,
      (error: Error) => String(error.cause ?? error),
    )
    if (answer.startsWith('200 ')) tally.done++
    else tally.failed.push(answer.slice(0, 200))
  }
}

async function signIn(url: string): Promise<string> {
  const reply = await fetch(`${url}/User/Login`, {
    method: 'POST',
    headers: { Version: '2.0', 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
  })
  const { accessToken } = (await reply.json()) as { accessToken: string }
  return accessToken
}

async function trial() {
  const ports = [await freePort(), await freePort(), await freePort()] as const
  const [front, ...nodes] = ports
  const url = `http://127.0.0.1:${front}`
  const running = [await startNode(nodes[0]), await startNode(nodes[1])]
  start('haproxy', ['-db', '-q', '-f', join('deploy', 'haproxy', 'haproxy.cfg')], {
    ...process.env,
    REGISTRY_BIND: `127.0.0.1:${front}`,
    REGISTRY_NODE_ONE: `127.0.0.1:${nodes[0]}`,
    REGISTRY_NODE_TWO: `127.0.0.1:${nodes[1]}`,
  })
  await until('HAProxy', () => isWell(front))
  assert.equal((await fetch(`${url}/metrics`)).status, 404)
  const token = await signIn(url)
  const tally: Tally = { done: 0, failed: [], isOver: false }
  const callers = [1, 2, 3, 4].map((caller) => call(url, token, caller, tally))
  for (const [i, port] of nodes.entries()) {
    const before = tally.done
    await until('calls through both', async () => tally.done > before + 20)
    assert.equal(await stop(running[i]!), 0)
    const alone = tally.done
    await until('calls through the other', async () => tally.done > alone + 20)
    running[i] = await startNode(port)
  }
  tally.isOver = true
  await Promise.all(callers)
  assert.deepEqual(tally.failed, [])
  process.stdout.write(`${tally.done} calls through HAProxy, both nodes restarted, none failed.\n`)
}

try {
  await trial()
} finally {
  for (const child of started) child.kill('SIGTERM')
  await Promise.all([...started].map((child) => once(child, 'exit')))
  rmSync(dataDir, { recursive: true, force: true })
}
