import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '../../client/src/index.ts'
import { runCli, startRegistry, temporaryFolder } from '../support/process.ts'

const dataDir = temporaryFolder()
const env = { REGISTRY_DATA_DIR: dataDir }

let password = ''

/** The part of the generated types that this test reads. */
type List<One> = {
  get: {
    parameters: { query?: { ProductID?: number; PageSize?: number } }
    responses: { 200: { content: { 'application/json': { data: One[] } } } }
  }
}
type Paths = {
  '/Product': List<{ productID: number }>
  '/BizEntity': List<{ bizEntityTypeID: number }>
  '/Distribution': List<{ distributionStatusID: number }>
  '/PaymentRun': List<{ state: string; payments: { count: number } }>
}

describe('The demonstration', { concurrency: false }, () => {
  it('fills an empty registry with a living one, which a whole verify finds right', async () => {
    assert.equal((await runCli(['migrate'], env)).code, 0)
    const made = await runCli(['demo'], env)
    assert.equal(made.code, 0, made.errors)
    password = /password (\S+)/.exec(made.output)?.[1] ?? ''
    const checked = await runCli(['verify'], env)
    assert.equal(checked.code, 0, checked.output)
  })

  it('refuses a registry that has data, and a start with it goes on without', async () => {
    const again = await runCli(['demo'], env)
    assert.equal(again.code, 1)
    assert.match(again.errors, /has data already/)
    const registry = await startRegistry({ ...env, REGISTRY_DEMO: 'true' })
    try {
      const client = createClient<Paths>({
        baseUrl: registry.url,
        credentials: { username: 'morgan', password },
      })
      const { data: products } = await client.get('/Product')
      assert.equal(products.length, 3)
      const ProductID = products[0]!.productID
      const kinds: number[] = []
      for await (const one of client.list('/BizEntity', { ProductID, PageSize: 250 }))
        kinds.push(one.bizEntityTypeID)
      assert.equal(kinds.length, 900)
      assert.deepEqual([...new Set(kinds)].sort(), [1, 2, 3, 4, 5])
      const { data: distributions } = await client.get('/Distribution', { ProductID })
      const states = new Set(distributions.map((one) => one.distributionStatusID))
      assert.deepEqual([...states].sort(), [1, 4])
      const { data: runs } = await client.get('/PaymentRun', { ProductID })
      assert.deepEqual(
        runs.map(({ state }) => state),
        ['Closed', 'Sent', 'Draft'],
      )
      assert.ok(runs.every(({ payments }) => payments.count > 20))
    } finally {
      registry.kill('SIGTERM')
      await registry.exited
    }
  })
})
