import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Service, startService } from './support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

describe('POST /Product', () => {
  it('creates a product with a system-assigned id and defaults', async () => {
    const reply = await service.admin.post('/Product', { name: 'Income', externalProductId: 'INC' })
    assert.equal(reply.status, 200)
    assert.equal(reply.recordCount, 1)
    const [product] = reply.data
    assert.ok(product.productID > 0)
    assert.deepEqual(
      [product.externalProductId, product.name, product.currencyID, product.isActive],
      ['INC', 'Income', 1, true],
    )
    assert.match(product.createdDate, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  })
})
