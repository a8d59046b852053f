import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { backUp } from '../../src/operations/backup/backup.ts'
import { checkedBackup, restore } from '../../src/operations/backup/restore.ts'
import { collectFiles } from '../../src/platform/files/collect.ts'
import { openFiles, openStore } from '../../src/platform/files/open.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import type { Client } from '../support/client.ts'
import { emptyDatabase, freshDatabase, rowsOf } from '../support/database.ts'
import { getBytes, sha256 } from '../support/files.ts'
import { newProduct } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { startBucket } from '../support/s3.ts'
import { type Service, startService, withService } from '../support/service.ts'

const storeOf = (env: Record<string, string>) => openStore(readConfig(env))

async function newDocument(admin: Client, productID: number, bytes: Buffer) {
  const { data } = await admin.post('/Document', { documentTypeID: 6, productID })
  const content = bytes.toString('base64')
  const reply = await admin.post('/Document/File', { documentID: data.documentID, content })
  assert.equal(reply.status, 200, reply.text)
  return data.documentID as number
}

describe('The contents of a backup', () => {
  let service: Service
  const env = { REGISTRY_DATA_DIR: temporaryFolder() }
  before(async () => {
    service = await startService(env)
  })
  after(() => service.stop())

  async function collect() {
    const config = readConfig(env)
    const database = connect(config, service.connection, createLog('silent'))
    const { options } = await openFiles(config, database.transaction)
    await collectFiles(options).finally(() => database.close())
  }

  it('stay until they are copied, whoever deletes their documents meanwhile', async () => {
    const { productID } = await newProduct(service)
    const bytes = randomBytes(5000)
    const documentID = await newDocument(service.admin, productID, bytes)
    const { store } = await storeOf(env)
    const isThere = () =>
      store.open(sha256(bytes)).then(
        (content) => Boolean(content.destroy()),
        () => false,
      )
    const slowly = {
      ...store,
      open: async (hash: string) => {
        assert.equal((await service.admin.delete(`/Document?DocumentID=${documentID}`)).status, 200)
        await collect()
        return store.open(hash)
      },
    }
    const { contents } = await backUp(service.connection, slowly, temporaryFolder())
    assert.deepEqual([contents.count, contents.lost], [1, []])
    assert.ok(await isThere())
    await collect()
    assert.ok(!(await isThere()), 'afterwards they go')
  })

  it('come from a bucket and go into another, or into a folder', async () => {
    const buckets = [await startBucket(), await startBucket()] as const
    const bytes = randomBytes(100_000)
    const folder = temporaryFolder()
    let documentID = 0
    try {
      await withService(buckets[0].env, async (own) => {
        const { productID } = await newProduct(own)
        documentID = await newDocument(own.admin, productID, bytes)
        const { store } = await storeOf({ ...env, ...buckets[0].env })
        await backUp(own.connection, store, folder)
      })
      for (const place of [buckets[1].env, { REGISTRY_DATA_DIR: temporaryFolder() }]) {
        const target = { REGISTRY_DATA_DIR: temporaryFolder(), ...place }
        const connection = await emptyDatabase()
        const manifest = await checkedBackup(folder)
        await restore(connection, await storeOf(target), folder, manifest)
        const read = async ({ admin }: Service) => {
          const file = await getBytes(admin, `/Document/File?DocumentID=${documentID}`)
          assert.ok(file.bytes.equals(bytes))
        }
        await withService(target, read, connection)
      }
    } finally {
      for (const bucket of buckets) await bucket.stop()
    }
  })
})

describe('A backup of much', () => {
  it('takes no more memory than one of little, there and back', async () => {
    const connection = await freshDatabase()
    const rows = 250_000
    await rowsOf(
      connection,
      `insert into audit (operation, resource, request_id)
       select repeat('x', 400), 'Product', n::text from generate_series(1, $1::int) n`,
      [rows],
    )
    const { store, draftFolder } = await storeOf({ REGISTRY_DATA_DIR: temporaryFolder() })
    const folder = join(temporaryFolder(), 'backup')
    const megabytes = await mostMemory(async () => {
      const manifest = await backUp(connection, store, folder)
      const audit = manifest.tables.find(({ name }) => name === 'audit')!
      assert.equal(audit.rows, rows)
      assert.ok(audit.bytes > 100e6)
      await restore(await emptyDatabase(), { store, draftFolder }, folder, manifest)
    })
    assert.ok(megabytes < 80, `${megabytes} MB more for 100 MB`)
  })
})

/** The most megabytes by which this process grew during the work. */
async function mostMemory(work: () => Promise<void>): Promise<number> {
  const base = process.memoryUsage.rss()
  let most = base
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 20)
  await work().finally(() => clearInterval(timer))
  return Math.round((most - base) / 2 ** 20)
}
