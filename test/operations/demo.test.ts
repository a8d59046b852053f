import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clientOf } from '../support/client.ts'
import { runCli, startRegistry, temporaryFolder } from '../support/process.ts'

const dataDir = temporaryFolder()
const env = { REGISTRY_DATA_DIR: dataDir }

let password = ''

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
      const client = await clientOf(registry.url).signIn('morgan', password)
      const products = await client.get('/Product')
      assert.equal(products.recordCount, 3)
      const { productID } = products.data[0]
      const investors = await client.get(`/BizEntity?ProductID=${productID}&PageSize=1000`)
      assert.equal(investors.recordCount, 900)
      const kinds = new Set(
        investors.data.map((one: { bizEntityTypeID: number }) => one.bizEntityTypeID),
      )
      assert.deepEqual([...kinds].sort(), [1, 2, 3, 4, 5])
      const distributions = await client.get(`/Distribution?ProductID=${productID}`)
      const states = new Set(
        distributions.data.map((one: { distributionStatusID: number }) => one.distributionStatusID),
      )
      assert.deepEqual([...states].sort(), [1, 4])
    } finally {
      registry.kill('SIGTERM')
      await registry.exited
    }
  })
})
