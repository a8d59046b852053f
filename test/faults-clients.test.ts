import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type pg from 'pg'
import { findEmbedded } from '../src/platform/embedded/postgres.ts'
import { type Client, clientOf } from './support/client.ts'
import { freshDatabase, rowsOf } from './support/database.ts'
import { getBytes } from './support/files.ts'
import { newFund, newProduct } from './support/ledger.ts'
import { assertAllThere, startLoad, unavailable } from './support/load.ts'
import { type Node, startNode } from './support/node.ts'
import { startRegistry, temporaryFolder, until } from './support/process.ts'
import { refused } from './support/refused.ts'
import { adminPassword, type Service } from './support/service.ts'

const newDocument = async (admin: Client, productID: number) =>
  (await admin.post('/Document', { documentTypeID: 6, productID })).data.documentID as number

const upload = (admin: Client, documentID: number, bytes: Buffer) =>
  admin.post('/Document/File', { documentID, content: bytes.toString('base64') })

describe('Clients who are slow, or hang up', { concurrency: false }, () => {
  const dataDir = temporaryFolder()
  let connection: pg.ClientConfig
  let node: Node
  let documentID: number
  let base: { files: number; handles: number }
  const sockets: Socket[] = []

  before(async () => {
    connection = await freshDatabase()
    node = await startNode(connection, { REGISTRY_DATA_DIR: dataDir, REGISTRY_WORKER: 'false' })
    const { productID } = await newProduct(node as unknown as Service)
    documentID = await newDocument(node.admin, productID)
    const stored = await upload(node.admin, documentID, randomBytes(20_000_000))
    assert.equal(stored.status, 200, stored.text)
    await rowsOf(
      connection,
      `with e as (
        insert into biz_entity (product_id, biz_entity_type_id, biz_entity_status_id, name,
          communication_preference_copy_parent_biz_entity, is_director_interest,
          is_executive_interest)
        values ($1, 1, 1, 'Large', false, false, false) returning biz_entity_id)
      insert into payment_detail (biz_entity_id, payment_type_id, comments, is_for_deposit,
        is_for_distribution, is_for_redemption, is_for_other, is_default)
      select biz_entity_id, 1, repeat('x', 200), false, false, false, true, false
      from e cross join generate_series(1, 60000)`,
      [productID],
    )
    await node.admin.get('/Product')
    base = await held()
  })
  after(() => node.stop())

  /** What the node's process holds open: its sockets and files. */
  async function held() {
    const metrics = await (await fetch(`${node.url}/metrics`)).text()
    const gauge = (name: string) =>
      Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm').exec(metrics)?.[1])
    return {
      files: gauge('process_open_fds'),
      handles: gauge('nodejs_active_handles_total'),
      memory: gauge('process_resident_memory_bytes'),
    }
  }

  /** Asserts that as many sockets and files are open as before, except a few kept connections. */
  const assertNothingHeld = async () => {
    await until('everything to be let go', async () => {
      const now = await held()
      const drafts = readdirSync(join(dataDir, 'files', 'drafts')).length
      return drafts === 0 && now.files <= base.files + 10 && now.handles <= base.handles + 10
    })
    await until('the connections to be free', async () => {
      const open = await rowsOf(
        connection,
        `select state from pg_stat_activity
         where application_name = 'registry' and datname = current_database() and state <> 'idle'`,
      )
      return open.length === 0
    })
  }

  /** A client that sends these bytes and never closes the connection itself. */
  function send(text: string) {
    const { hostname, port } = new URL(node.url)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    socket.on('error', () => {})
    socket.write(text)
    sockets.push(socket)
    return socket
  }
  const ask = (line: string, more = '') =>
    send(
      `${line} HTTP/1.1\r\nHost: x\r\nVersion: 2.0\r\nAuthorization: ${node.admin.token}\r\n` +
        `${more}\r\n`,
    )
  const firstBytes = (socket: Socket) =>
    new Promise<void>((resolve) =>
      socket.once('data', () => {
        socket.pause()
        resolve()
      }),
    )

  it('in the middle of an answer leave nothing behind', async () => {
    for (const path of ['/PaymentDetail', `/Document/File?DocumentID=${documentID}`])
      for (let i = 0; i < 10; i++) {
        const socket = ask(`GET ${path}`, i % 2 ? 'Accept: application/octet-stream\r\n' : '')
        await firstBytes(socket)
        socket.destroy()
      }
    await assertNothingHeld()
  })

  it('in the middle of a file leave nothing behind', async () => {
    for (let i = 0; i < 10; i++) {
      const type = 'Content-Type: application/json\r\nContent-Length: 9000000\r\n'
      const socket = ask('POST /Document/File', type)
      socket.write(`{"documentID":${documentID},"content":"${'QUJD'.repeat(200_000)}`)
      await until('a draft', () => readdirSync(join(dataDir, 'files', 'drafts')).length > 0)
      socket.destroy()
    }
    await assertNothingHeld()
  })

  it('reading a long answer take neither the memory nor the connections of others', async () => {
    const { memory } = await held()
    const readers = Array.from({ length: 30 }, () => ask('GET /PaymentDetail'))
    await Promise.race(readers.map(firstBytes))
    for (let i = 0; i < 20; i++) {
      assert.equal((await node.admin.get('/Product')).status, 200)
      assert.equal((await node.admin.post('/Product', { name: `Meanwhile ${i}` })).status, 200)
    }
    const now = await held()
    assert.ok(now.memory < memory + 100e6, `${now.memory - memory} bytes more`)
    const waiting = await rowsOf(
      connection,
      `select from pg_stat_activity where state = 'idle in transaction'
       and datname = current_database()`,
    )
    assert.ok(waiting.length <= 3, 'a few at once')
    for (const reader of readers) reader.destroy()
    await assertNothingHeld()
    assert.equal((await node.admin.get('/PaymentDetail')).recordCount, 60_000)
  })

  it('with their headers, or with a file that stops arriving, are told so and let go', async () => {
    const received = (socket: Socket) =>
      new Promise<string>((resolve) => {
        let text = ''
        socket.on('data', (bytes) => {
          text += bytes
        })
        socket.on('end', () => resolve(text))
      })
    const slow = Array.from({ length: 20 }, () => send('GET /Product HTTP/1.1\r\nHost: x\r\nX-A: '))
    const type = 'Content-Type: application/json\r\nContent-Length: 9000000\r\n'
    const stuck = Array.from({ length: 5 }, () => ask('POST /Document/File', type))
    for (const socket of stuck)
      socket.write(`{"documentID":${documentID},"content":"${'QUJD'.repeat(20_000)}`)
    // Others do not notice; nor does one who sends a file slowly, but does send it.
    const content = randomBytes(400_000)
    const body = JSON.stringify({ documentID, content: content.toString('base64') })
    const moving = ask(
      'PUT /Document/File',
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`,
    )
    let sent = 0
    const timer = setInterval(() => {
      if (sent < body.length) moving.write(body.slice(sent, sent + 20_000))
      sent += 20_000
    }, 900)
    for (const text of await Promise.all([...slow, ...stuck].map(received))) {
      assert.match(text, /^HTTP\/1\.1 408 /)
      assert.match(text, /"code":"timeout"/)
    }
    assert.match(await received(moving), /^HTTP\/1\.1 200 /)
    clearInterval(timer)
    const stored = await getBytes(node.admin, `/Document/File?DocumentID=${documentID}`)
    assert.ok(stored.bytes.equals(content))
    await assertNothingHeld()
    for (const socket of sockets) socket.destroy()
  })
})

const isRoot = process.getuid?.() === 0
const canMount = () => {
  const folder = temporaryFolder()
  const done = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status === 0
  if (done) spawnSync('umount', [folder])
  return done
}
const skip =
  !isRoot || process.platform !== 'linux' || !canMount() ? 'needs root, to mount a disk' : false

/** Mounts a disk of this size at a folder while the work runs. */
async function withDisk(folder: string, size: string, work: () => Promise<void>) {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const options = ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', folder]
  assert.equal(spawnSync('mount', options).status, 0)
  try {
    await work()
  } finally {
    await until('the disk to go', () => spawnSync('umount', [folder]).status === 0)
  }
}

describe('A full disk', { skip, concurrency: false }, () => {
  it('for files refuses the file with 503, keeps none of it, and passes', () => {
    const dataDir = temporaryFolder()
    return withDisk(join(dataDir, 'files'), '1m', async () => {
      const env = { REGISTRY_DATA_DIR: dataDir, REGISTRY_WORKER: 'false' }
      const node = await startNode(await freshDatabase(), env)
      try {
        const { admin } = node
        const { productID } = await newProduct(node as unknown as Service)
        const documentID = await newDocument(admin, productID)
        const reply = await upload(admin, documentID, randomBytes(3_000_000))
        unavailable(reply)
        refused(reply, 503, 'storage_full')
        assert.deepEqual(readdirSync(join(dataDir, 'files', 'drafts')), [])
        const missing = await admin.get(`/Document/File?DocumentID=${documentID}`)
        refused(missing, 404)
        const small = randomBytes(100_000)
        assert.equal((await upload(admin, documentID, small)).status, 200)
        const { bytes } = await getBytes(admin, `/Document/File?DocumentID=${documentID}`)
        assert.ok(bytes.equals(small))
      } finally {
        await node.stop()
      }
    })
  })

  it('for the database refuses writes with 503, loses none, and passes', () => {
    const disk = join(temporaryFolder(), 'disk')
    return withDisk(disk, '200m', async () => {
      const dataDir = join(disk, 'data')
      const program = await startRegistry({
        REGISTRY_DATA_DIR: dataDir,
        REGISTRY_ADMIN_PASSWORD: adminPassword,
        REGISTRY_ADMIN_USERNAME: 'admin',
      })
      try {
        const anyone = clientOf(program.url)
        const admin = await anyone.signIn('admin', adminPassword)
        const connection = (await findEmbedded(dataDir))!.connection
        const service = { url: program.url, connection, anyone, admin } as Service
        const fund = await newFund(service, { accounts: 8 })
        const load = startLoad(admin, fund)
        await load.goesOn()
        const ballast = join(disk, 'ballast')
        fill(ballast)
        await until('the disk to be felt', () => load.refusals() > 20)
        rmSync(ballast)
        await load.goesOn()
        await assertAllThere(service, fund, await load.stop())
      } finally {
        program.kill('SIGTERM')
        await program.exited
      }
    })
  })
})

/** Writes a file until the disk is full to the last byte. */
function fill(file: string) {
  const bytes = Buffer.alloc(2 ** 20)
  try {
    for (;;) writeFileSync(file, bytes, { flag: 'a' })
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
  }
}
