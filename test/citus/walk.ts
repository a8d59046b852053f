import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { freshDatabase } from '../support/database.ts'
import { type Node, startNode } from '../support/node.ts'
import { encryptionKey, mailNowhere } from '../support/service.ts'
import { walkEveryOperation } from '../support/walker.ts'

/** `npm run test:citus` runs this first: it calls every operation once, and each must succeed. */
let service: Node
before(async () => {
  const env = { ...mailNowhere, REGISTRY_ENCRYPTION_KEY: encryptionKey }
  service = await startNode(await freshDatabase(), env)
})
after(() => service?.stop())

describe('Every operation', () => {
  it('works where the ledger is spread over several servers', async () => {
    assert.deepEqual(await walkEveryOperation(service.admin), [])
  })
})
