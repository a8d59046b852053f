import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { collectFiles } from '../../src/platform/files/collect.ts'
import { openFiles } from '../../src/platform/files/open.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import { type Client, clientOf } from '../support/client.ts'
import { freshDatabase, rowsOf, urlOf } from '../support/database.ts'
import { getBytes, sendForm, sha256 } from '../support/files.ts'
import { newProduct } from '../support/ledger.ts'
import { start, temporaryFolder, until } from '../support/process.ts'
import { startBucket } from '../support/s3.ts'
import { adminPassword, type Service, startService } from '../support/service.ts'

/** Only Linux reports the peak memory of a process. */
const notLinux = process.platform !== 'linux'

let service: Service
let dataDir: string
before(async () => {
  dataDir = temporaryFolder()
  service = await startService({ REGISTRY_DATA_DIR: dataDir })
})
after(() => service.stop())

const contents = (folder: string) =>
  readdirSync(join(folder, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

const newDocument = async (client: Client, productID: number) => {
  const reply = await client.post('/Document', { documentTypeID: 6, productID })
  assert.equal(reply.status, 200, reply.text)
  return reply.data.documentID as number
}
const upload = async (client: Client, documentID: number, bytes: Buffer, method = 'POST') => {
  const content = bytes.toString('base64')
  const reply = await client.call(method, '/Document/File', { documentID, content })
  assert.equal(reply.status, 200, reply.text)
}
const download = async (client: Client, documentID: number) =>
  (await getBytes(client, `/Document/File?DocumentID=${documentID}`)).bytes

/** Collects unused files, as the worker does. */
async function collect(own = service, env: Record<string, string> = {}) {
  const config = readConfig({ REGISTRY_DATA_DIR: dataDir, ...env })
  const database = connect(config, own.connection, createLog('silent'))
  const { options } = await openFiles(config, database.transaction)
  await collectFiles(options).finally(() => database.close())
}

describe('Contents', () => {
  it('lie under the hash of their bytes, once, whatever their names', async () => {
    const { productID } = await newProduct(service)
    const bytes = randomBytes(1000)
    const ids = [await newDocument(service.admin, productID)]
    ids.push(await newDocument(service.admin, productID))
    for (const id of ids) await upload(service.admin, id, bytes)
    const hash = sha256(bytes)
    const place = join(dataDir, 'files', hash.slice(0, 2), hash.slice(2, 4), hash)
    assert.ok(readFileSync(place).equals(bytes))
    assert.equal(contents(dataDir).filter((name) => name === hash).length, 1)
    assert.deepEqual(readdirSync(join(dataDir, 'files', 'drafts')), [])
  })

  it('that were replaced or deleted go; those that something refers to stay', async () => {
    const { productID } = await newProduct(service)
    const [kept, replaced, deleted] = [randomBytes(99), randomBytes(99), randomBytes(99)]
    const one = await newDocument(service.admin, productID)
    const two = await newDocument(service.admin, productID)
    const three = await newDocument(service.admin, productID)
    await upload(service.admin, one, replaced)
    await upload(service.admin, one, kept, 'PUT')
    await upload(service.admin, two, kept)
    await upload(service.admin, three, deleted)
    await service.admin.delete(`/Document?DocumentID=${two}`)
    await service.admin.delete(`/Document?DocumentID=${three}`)
    await collect()
    const left = contents(dataDir)
    assert.ok(left.includes(sha256(kept)))
    assert.ok(!left.includes(sha256(replaced)) && !left.includes(sha256(deleted)))
    assert.ok((await download(service.admin, one)).equals(kept))
    await upload(service.admin, await newDocument(service.admin, productID), deleted)
    assert.ok(contents(dataDir).includes(sha256(deleted)))
  })

  it('without a reference stay for a day: somebody may be about to refer to them', async () => {
    const { productID } = await newProduct(service)
    const bytes = randomBytes(500)
    const one = await newDocument(service.admin, productID)
    await upload(service.admin, one, bytes)
    const claimedAgo = (time: string) =>
      rowsOf(
        service.connection,
        `update stored_file set claimed_date = now() - $2::interval where sha256 = $1`,
        [sha256(bytes), time],
      )
    await service.admin.delete(`/Document?DocumentID=${one}`)
    await claimedAgo('23 hours')
    await collect()
    assert.ok(contents(dataDir).includes(sha256(bytes)))
    await claimedAgo('25 hours')
    await collect()
    assert.ok(!contents(dataDir).includes(sha256(bytes)))
  })

  it('that are refused leave nothing, and nothing of theirs goes that others store', async () => {
    const { productID } = await newProduct(service)
    const [stray, second, shared] = [randomBytes(500), randomBytes(500), randomBytes(500)]
    const full = await newDocument(service.admin, productID)
    await upload(service.admin, full, shared)
    const refusedWith = async (documentID: number, bytes: Buffer) => {
      const content = bytes.toString('base64')
      return (await service.admin.post('/Document/File', { documentID, content })).status
    }
    assert.equal(await refusedWith(99999999, stray), 404)
    assert.equal(await refusedWith(full, second), 409)
    assert.equal(await refusedWith(full, shared), 409)
    await collect()
    const left = contents(dataDir)
    assert.ok(!left.includes(sha256(stray)) && !left.includes(sha256(second)))
    assert.ok(left.includes(sha256(shared)))
    const [row] = await rowsOf(
      service.connection,
      `select claimed_date > now() - interval '1 hour' as fresh from stored_file where sha256 = $1`,
      [sha256(shared)],
    )
    assert.equal(row?.fresh, true)
  })

  it('that never arrived whole are cleared away after a day', async () => {
    const draft = join(dataDir, 'files', 'drafts', 'left-behind')
    writeFileSync(draft, 'half')
    await collect()
    assert.ok(contents(dataDir).includes('left-behind'))
    const longAgo = Date.now() / 1000 - 100_000
    utimesSync(draft, longAgo, longAgo)
    await collect()
    assert.ok(!contents(dataDir).includes('left-behind'))
  })

  it('stay whole while the same is stored, deleted and collected at once', async () => {
    const { productID } = await newProduct(service)
    const bytes = randomBytes(5000)
    const store = async () => {
      const id = await newDocument(service.admin, productID)
      const content = bytes.toString('base64')
      const reply = await service.admin.post('/Document/File', { documentID: id, content })
      return reply.status === 200 ? id : undefined
    }
    const ids: number[] = []
    for (let round = 0; round < 8; round++) {
      const gone = await store()
      const [, ...stored] = await Promise.all([
        service.admin.delete(`/Document?DocumentID=${gone}`),
        store(),
        collect(),
        store(),
      ])
      ids.push(...stored.filter((id) => typeof id === 'number'))
    }
    assert.ok(ids.length > 0)
    await collect()
    for (const id of ids) assert.ok((await download(service.admin, id)).equals(bytes))
  })
})

describe('A node that is killed', () => {
  const env = (connection: object, folder: string) => ({
    PORT: '0',
    DATABASE_URL: urlOf(connection),
    REGISTRY_DATA_DIR: folder,
    REGISTRY_LOG_LEVEL: 'silent',
    REGISTRY_ADMIN_USERNAME: 'admin',
    REGISTRY_ADMIN_PASSWORD: adminPassword,
    REGISTRY_WORKER: 'false',
  })
  const startMain = async (connection: object, folder: string) => {
    const program = start(['--import', 'tsx', 'src/main.ts'], env(connection, folder))
    const url = await until('the node to listen', () => {
      if (!program.isUp()) throw new Error(program.errors())
      return /API +(http\S+)/.exec(program.output())?.[1]
    })
    return { program, admin: await clientOf(url).signIn('admin', adminPassword) }
  }

  it('in the middle of uploads has whole files or none', async () => {
    const connection = await freshDatabase()
    const folder = temporaryFolder()
    const first = await startMain(connection, folder)
    const [product] = (await first.admin.post('/Product', { name: 'P' })).data
    const sent = new Map<number, Buffer>()
    const done = new Set<number>()
    let down = false
    const uploads = Array.from({ length: 4 }, async () => {
      while (!down) {
        const id = await newDocument(first.admin, product.productID)
        const bytes = randomBytes(1_500_000)
        sent.set(id, bytes)
        await upload(first.admin, id, bytes)
        done.add(id)
      }
    })
    await until('some uploads', () => done.size >= 6)
    down = true
    first.program.kill('SIGKILL')
    await Promise.allSettled(uploads)
    await first.program.exited
    const { program, admin } = await startMain(connection, folder)
    for (const [id, bytes] of sent) {
      const reply = await getBytes(admin, `/Document/File?DocumentID=${id}`)
      if (done.has(id)) assert.equal(reply.status, 200)
      assert.ok(reply.status === 404 || reply.bytes.equals(bytes))
    }
    program.kill('SIGTERM')
    assert.equal(await program.exited, 0)
  })

  const peak = (pid: number) => {
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  }

  it('or not needs little memory for a file of 25 MiB', { skip: notLinux }, async () => {
    const { program, admin } = await startMain(await freshDatabase(), temporaryFolder())
    const [product] = (await admin.post('/Product', { name: 'P' })).data
    const pass = async (bytes: Buffer) => {
      const ids = [await newDocument(admin, product.productID)]
      ids.push(await newDocument(admin, product.productID))
      await upload(admin, ids[0]!, bytes)
      const file = { bytes, name: 'a.txt', type: 'text/plain' }
      const form = await sendForm(admin, '/Document/File', { documentID: ids[1]! }, file)
      assert.equal(form.status, 200, form.text)
      for (const id of ids) {
        assert.equal(sha256(await download(admin, id)), sha256(bytes))
        const json = await admin.get(`/Document/File?DocumentID=${id}`)
        assert.equal(sha256(Buffer.from(json.data.content, 'base64')), sha256(bytes))
      }
    }
    // Warm: the code, the buffers of sockets and files, and what the heap grows to by itself.
    for (let i = 0; i < 5; i++) await pass(Buffer.alloc(2 ** 20, 'a line of text\n'))
    const before = peak(program.pid)
    await pass(Buffer.alloc(25 * 2 ** 20, 'a line of text\n'))
    const grown = peak(program.pid) - before
    // A single copy of the file would be 25, and its base64 33.
    assert.ok(grown < 24, `${grown} MiB more`)
    program.kill('SIGTERM')
    await program.exited
  })
})
describe('A bucket', () => {
  it('takes the place of the folder: the same bytes, collected the same', async () => {
    const bucket = await startBucket()
    try {
      const own = await startService(bucket.env)
      const { productID } = await newProduct(own)
      const sizes = [1, 100_000, 7_000_000]
      for (const size of sizes) {
        const bytes = randomBytes(size)
        const id = await newDocument(own.admin, productID)
        await upload(own.admin, id, bytes)
        assert.ok((await download(own.admin, id)).equals(bytes))
        const { data } = await own.admin.get(`/Document/File?DocumentID=${id}`)
        assert.ok(Buffer.from(data.content, 'base64').equals(bytes))
        assert.ok(bucket.holds(sha256(bytes)))
        await own.admin.delete(`/Document?DocumentID=${id}`)
        await collect(own, bucket.env)
        assert.ok(!bucket.holds(sha256(bytes)))
      }
      await own.stop()
    } finally {
      await bucket.stop()
    }
  })

  it('that does not answer is told with 503, and nothing is stored', async () => {
    const bucket = await startBucket()
    const own = await startService(bucket.env)
    const { productID } = await newProduct(own)
    const id = await newDocument(own.admin, productID)
    await bucket.stop()
    const body = { documentID: id, content: 'aGVsbG8=' }
    const reply = await own.admin.post('/Document/File', body)
    assert.equal(reply.status, 503, reply.text)
    assert.equal((await own.admin.get(`/Document/File?DocumentID=${id}`)).status, 404)
    await own.stop()
  })
})
