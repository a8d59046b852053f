import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { dayIn, only } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService, withService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

let made = 0
const create = async (body: object = {}) => {
  const reply = await service.admin.post('/Product', { name: `Day ${++made}`, ...body })
  assert.equal(reply.status, 200, reply.text)
  return reply.data[0]
}
const change = (product: object, body: object) =>
  service.admin.put('/Product', { ...product, ...body })

describe('The time zone of a product', () => {
  it('is kept as given, and stays where a PUT does not name it', async () => {
    const product = await create({ timeZone: 'Pacific/Auckland' })
    assert.equal(product.timeZone, 'Pacific/Auckland')
    const { productID, name } = product
    const renamed = await service.admin.put('/Product', { productID, name: `${name} renamed` })
    assert.equal(renamed.data[0].timeZone, 'Pacific/Auckland')
    const cleared = await service.admin.put('/Product', { productID, name, timeZone: null })
    assert.equal(cleared.data[0].timeZone, 'Australia/Sydney')
  })

  it('is refused where nobody knows it', async () => {
    for (const timeZone of ['Sydney/Australia', '+10:00', 'now', '']) {
      const reply = await service.admin.post('/Product', { name: 'Nowhere', timeZone })
      refused(reply, 400)
      assert.deepEqual(fieldsOf(reply), ['timeZone'])
    }
    refused(await change(await create(), { timeZone: 5 }), 400, 'wrong_type')
  })

  it('is the installation’s where none is given, also for products from before', () =>
    withService({ REGISTRY_TIME_ZONE: 'Asia/Tokyo' }, async (own) => {
      const reply = await own.admin.post('/Product', { name: 'Tokyo' })
      assert.equal(reply.data[0].timeZone, 'Asia/Tokyo')
      await rowsOf(own.connection, 'update product set time_zone = null')
      await withService(
        { REGISTRY_TIME_ZONE: 'Europe/Paris' },
        async (later) => {
          const { data } = await later.admin.get('/Product')
          assert.equal(data[0].timeZone, 'Europe/Paris')
        },
        own.connection,
      )
    }))
})

describe('The locked date of a product', () => {
  it('goes forward with Product.Write, and back only with Product.Unlock', async () => {
    const product = await create({ lockedDate: '2026-06-30' })
    const operator = await service.userWith({ role: 'Operator' })
    const put = (lockedDate: unknown) => operator.put('/Product', { ...product, lockedDate })
    assert.equal((await put('2026-07-31')).data[0].lockedDate, '2026-07-31')
    refused(await put('2026-07-30'), 403, 'permission_missing')
    refused(await put(null), 403, 'permission_missing')
    const back = await change(product, { lockedDate: '2026-01-31' })
    assert.equal(back.data[0].lockedDate, '2026-01-31')
    assert.equal((await change(product, { lockedDate: null })).data[0].lockedDate, null)
  })

  it('is ahead of the product only by who may take it back', async () => {
    const product = await create({ timeZone: 'Pacific/Kiritimati' })
    const operator = await service.userWith({ role: 'Operator' })
    const put = (lockedDate: string, by = operator) =>
      by.put('/Product', { ...product, lockedDate })
    const [today, tomorrow] = [0, 1].map((days) => dayIn(days, product.timeZone)) as [
      string,
      string,
    ]
    refused(await put(tomorrow), 400, 'out_of_range')
    refused(await put('9999-12-31'), 400, 'out_of_range')
    only(await put(today))
    only(await put('9999-12-31', service.admin))
    only(await put('9999-12-31')) // it stays as it is
    refused(await put(today), 403)
    only(await put(today, service.admin))
  })

  it('stays where a PUT does not name it, and each change is in the audit trail', async () => {
    const { productID, name } = await create({ lockedDate: '2026-06-30' })
    const renamed = await service.admin.put('/Product', { productID, name: `${name} renamed` })
    assert.equal(renamed.data[0].lockedDate, '2026-06-30')
    await service.admin.put('/Product', { productID, name, lockedDate: null })
    const { data } = await service.admin.get(`/Audit?Resource=Product&ResourceID=${productID}`)
    const last = data.at(-1)
    assert.deepEqual(last.changes.lockedDate, { from: '2026-06-30', to: null })
  })
})
