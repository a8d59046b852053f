import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { urlOf } from '../support/database.ts'
import { eventsAfter, feedEnd } from '../support/events.ts'
import { newProduct } from '../support/ledger.ts'
import { cliCommand, runCli, start, temporaryFolder, until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const environment = () => ({
  DATABASE_URL: urlOf(service.connection),
  REGISTRY_DATA_DIR: temporaryFolder(),
})

describe('cli events', () => {
  it('prints what happened, a line for each event, and ends', async () => {
    const cursor = await feedEnd(service.admin)
    const { productID } = await newProduct(service)
    await eventsAfter(service.admin, cursor, 1)
    const { code, output, errors } = await runCli(['events', '--after', cursor], environment())
    assert.equal(code, 0, errors)
    const told = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      told.map(({ type, ids }) => [type, ids]),
      [['product.created', [productID]]],
    )
    const wrong = await runCli(['events', '--after', 'nonsense'], environment())
    assert.deepEqual([wrong.code, wrong.output], [1, ''])
    assert.match(wrong.errors, /After must be the cursor of an event/)
  })

  it('goes on printing with --follow', async () => {
    const cursor = await feedEnd(service.admin)
    const program = start(
      cliCommand(['events', '--follow', '--after', cursor, '--type', 'product.created']),
      environment(),
    )
    try {
      for (let i = 1; i <= 2; i++) {
        const { productID } = await newProduct(service)
        await until('the event', () => program.output().includes(`"ids":[${productID}]`))
      }
    } finally {
      program.kill('SIGTERM')
      await program.exited
    }
  })
})
