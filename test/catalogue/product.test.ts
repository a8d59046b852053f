import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { rowsOf, skipSpread, whileReferredTo } from '../support/database.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

let made = 0
const create = async (body: object = {}) => {
  const reply = await service.admin.post('/Product', { name: `Product ${++made}`, ...body })
  assert.equal(reply.status, 200, reply.text)
  return reply.data[0]
}
const read = async (productID: number, client: Client = service.admin) =>
  (await client.get(`/Product?ProductID=${productID}`)).data

describe('POST /Product', () => {
  it('creates a product with a system-assigned id and defaults', async () => {
    const reply = await service.admin.post('/Product', { name: 'Income', externalProductId: 'INC' })
    assert.equal(reply.status, 200)
    assert.equal(reply.recordCount, 1)
    const [{ productID, createdDate, updatedDate, ...rest }] = reply.data
    assert.ok(productID > 0)
    assert.match(createdDate, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.equal(updatedDate, createdDate)
    const defaults = {
      externalProductId: 'INC',
      name: 'Income',
      currencyID: 1,
      description: null,
      isActive: true,
      timeZone: 'Australia/Sydney',
      lockedDate: null,
      bankDetailCoolOffDays: 0,
      taxComponentKinds: [],
      withholding: false,
    }
    for (const [name, value] of Object.entries(defaults)) assert.deepEqual(rest[name], value, name)
    assert.deepEqual(await read(productID), reply.data)
  })

  it('keeps what it is given', async () => {
    const given = {
      externalProductId: 'Ünïcode 1',
      name: 'Yen',
      currencyID: 8,
      description: 'd'.repeat(2000),
      isActive: false,
    }
    const { externalProductId, name, currencyID, description, isActive } = await create(given)
    assert.deepEqual({ externalProductId, name, currencyID, description, isActive }, given)
  })

  it('takes null, and 0 for a lookup, as not given', async () => {
    const product = await create({ externalProductId: null, currencyID: 0, isActive: null })
    assert.deepEqual(
      [product.externalProductId, product.currencyID, product.isActive],
      [null, 1, true],
    )
  })

  it('takes an external id of 50 characters and refuses 51; an empty one is none', async () => {
    await create({ externalProductId: '😀'.repeat(50) })
    const long = await service.admin.post('/Product', {
      name: 'x',
      externalProductId: 'x'.repeat(51),
    })
    refused(long, 400, 'too_long')
    const { externalProductId } = await create({ externalProductId: '' })
    assert.equal(externalProductId, null)
    refused(await service.admin.post('/Product', { name: 'x', description: 'x'.repeat(2001) }), 400)
    refused(await service.admin.post('/Product', { name: 'x'.repeat(201) }), 400, 'too_long')
    refused(await service.admin.post('/Product', { name: ' \t' }), 400, 'invalid_value')
    refused(await service.admin.post('/Product', {}), 400, 'required')
  })

  it('refuses an external id that another product has, also when they arrive at once', async () => {
    await create({ externalProductId: 'DUP' })
    const again = await service.admin.post('/Product', { name: 'x', externalProductId: 'DUP' })
    refused(again, 409, 'duplicate')
    assert.deepEqual(fieldsOf(again), ['externalProductId'])
    await create({ externalProductId: 'dup' })
    const race = await Promise.all(
      Array.from({ length: 10 }, () =>
        service.admin.post('/Product', { name: 'Race', externalProductId: 'RACE' }),
      ),
    )
    assert.equal(race.filter(({ status }) => status === 200).length, 1)
    assert.equal(race.filter(({ status }) => status === 409).length, 9)
  })
})

describe('GET /Product', () => {
  it('finds one by its native or its external id; the native one wins', async () => {
    const { productID } = await create({ externalProductId: 'FIND' })
    const found = async (query: string) =>
      (await service.admin.get(`/Product?${query}`)).data.map(
        (product: { productID: number }) => product.productID,
      )
    assert.deepEqual(await found(`ProductID=${productID}`), [productID])
    assert.deepEqual(await found('ExternalProductId=FIND'), [productID])
    assert.deepEqual(await found('ProductID=0&ExternalProductId=FIND'), [productID])
    assert.deepEqual(await found(`ProductID=${productID}&ExternalProductId=other`), [productID])
    assert.deepEqual(await found('ProductID=99999&ExternalProductId=FIND'), [])
    assert.deepEqual(await found('ExternalProductId=find'), [])
  })

  it('pages through all in the order of their ids', async () => {
    for (let i = 0; i < 3; i++) await create()
    const all = (await service.admin.get('/Product?PageSize=1000')).data
    const ids = all.map((product: { productID: number }) => product.productID)
    assert.deepEqual(
      ids,
      ids.toSorted((a: number, b: number) => a - b),
    )
    const paged = []
    for (let number = 1; ; number++) {
      const { data, recordCount } = await service.admin.get(
        `/Product?PageNumber=${number}&PageSize=2`,
      )
      assert.equal(recordCount, data.length)
      paged.push(...data)
      if (recordCount < 2) break
    }
    assert.deepEqual(paged, all)
  })
})

describe('PUT /Product', () => {
  it('does not wait for those who write what refers to it', { skip: skipSpread }, async () => {
    const { productID } = await create()
    const reply = await whileReferredTo(
      service.connection,
      { table: 'product', id: productID },
      () => service.admin.put('/Product', { productID, name: 'Renamed' }),
    )
    assert.equal(reply.status, 200, reply.text)
  })

  it('replaces: what is left out or null is cleared or has its default again', async () => {
    const product = await create({
      externalProductId: 'PUT',
      description: 'Old',
      currencyID: 3,
      isActive: false,
    })
    const { productID } = product
    const reply = await service.admin.put('/Product', { productID, name: 'New', description: null })
    assert.deepEqual(
      { ...reply.data[0], updatedDate: null },
      {
        ...product,
        name: 'New',
        externalProductId: null,
        description: null,
        currencyID: 1,
        isActive: true,
        updatedDate: null,
      },
    )
    assert.deepEqual(await read(productID), reply.data)
  })

  it('takes back what GET gave; createdDate never moves', async () => {
    const product = await create({ externalProductId: 'BACK', description: 'Same' })
    const changed = { ...product, createdDate: '1999-01-01T00:00:00Z' }
    const [after] = (await service.admin.put('/Product', changed)).data
    assert.deepEqual({ ...after, updatedDate: null }, { ...product, updatedDate: null })
  })

  it('goes by the external id where no native one is given', async () => {
    const { productID } = await create({ externalProductId: 'BY-EXT' })
    const change = { externalProductId: 'BY-EXT', name: 'Found' }
    assert.equal((await service.admin.put('/Product', change)).data[0].productID, productID)
    refused(await service.admin.put('/Product', { name: 'None' }), 400, 'required')
    const unknown = await service.admin.put('/Product', { externalProductId: 'NO', name: 'x' })
    refused(unknown, 404, 'not_found')
    assert.match(unknown.message ?? '', /externalProductId "NO"/)
    const native = { productID: 99_999, externalProductId: 'BY-EXT', name: 'x' }
    refused(await service.admin.put('/Product', native), 404, 'not_found')
  })

  it('refuses an external id that another product has, and changes nothing then', async () => {
    await create({ externalProductId: 'HELD' })
    const product = await create({ externalProductId: 'MINE' })
    refused(await service.admin.put('/Product', { ...product, externalProductId: 'HELD' }), 409)
    assert.deepEqual(await read(product.productID), [product])
  })
})

describe('The logo of an issuer', () => {
  it('is a document of the product itself; others are not there', async () => {
    const [own, foreign] = [await create(), await create()]
    const documentOf = async ({ productID }: { productID: number }) => {
      const reply = await service.admin.post('/Document', { documentTypeID: 6, productID })
      assert.equal(reply.status, 200, reply.text)
      return reply.data.documentID as number
    }
    const logoDocumentID = await documentOf(own)
    const issuer = { name: 'Issuer', logoDocumentID }
    const write = (change: object) => service.admin.put('/Product', { ...own, issuer: change })
    assert.equal((await write(issuer)).data[0].issuer.logoDocumentID, logoDocumentID)
    for (const absent of [999_999, await documentOf(foreign)]) {
      const reply = await write({ ...issuer, logoDocumentID: absent })
      refused(reply, 404, 'not_found')
      assert.deepEqual(fieldsOf(reply), ['issuer.logoDocumentID'])
    }
    refused(await service.admin.post('/Product', { name: 'New', issuer }), 404, 'not_found')
    // One that went since does not stand in the way of other changes.
    const gone = await service.admin.delete(`/Document?DocumentID=${logoDocumentID}`)
    assert.equal(gone.status, 200, gone.text)
    assert.equal((await write({ ...issuer, name: 'Other' })).status, 200)
    assert.equal((await write({ name: 'None' })).data[0].issuer.logoDocumentID, null)
  })
})

describe('The e-mail address of an issuer', () => {
  it('is one mailbox, or none; one of old stays as long as it is not changed', async () => {
    const own = await create()
    const write = (email: unknown) =>
      service.admin.put('/Product', { ...own, issuer: { name: 'Issuer', email } })
    for (const email of ['funds', 'a@b,c@d', 'Boss <a@b>', `${'a'.repeat(250)}@b.cd`, 'a@b\nc']) {
      const replies = [await write(email)]
      if (email.length <= 254) replies.push(await post({ name: 'Issuer', email }))
      for (const reply of replies) {
        refused(reply, 400)
        assert.deepEqual(fieldsOf(reply), ['issuer.email'])
      }
    }
    const shown = async (email: unknown) => (await write(email)).data[0].issuer.email
    assert.equal(await shown(' funds@example.com '), 'funds@example.com')
    for (const none of [null, undefined, '', ' ']) assert.equal(await shown(none), null)
    const old = 'Funds <funds@example.com>'
    await rowsOf(
      service.connection,
      `update product set issuer = json_build_object('name', 'Issuer', 'email', $2::text)
       where product_id = $1`,
      [own.productID, old],
    )
    assert.equal((await read(own.productID))[0].issuer.email, old)
    assert.equal(await shown(old), old)
    refused(await write(`Our ${old}`), 400, 'invalid_value')
  })

  const post = (issuer: object) => service.admin.post('/Product', { name: 'New', issuer })
})

describe('DELETE /Product', () => {
  it('removes a product by either id, for ever', async () => {
    const one = await create({ externalProductId: 'GONE' })
    const reply = await service.admin.delete('/Product?ExternalProductId=GONE')
    assert.deepEqual(
      [reply.status, reply.result, reply.recordCount, reply.data],
      [200, true, 0, null],
    )
    assert.deepEqual(await read(one.productID), [])
    refused(await service.admin.delete(`/Product?ProductID=${one.productID}`), 404, 'not_found')
    refused(await service.admin.delete('/Product'), 400, 'required')
    refused(await service.admin.delete('/Product?PageSize=1'), 400)
  })

  it('is refused while a user has the product in their scope', async () => {
    const { productID } = await create()
    await service.userWith({ role: 'ReadOnly', productIDs: [productID] })
    refused(await service.admin.delete(`/Product?ProductID=${productID}`), 409, 'in_use')
    assert.equal((await read(productID)).length, 1)
  })

  it('is refused while a webhook or an approval rule names the product', async () => {
    const { productID } = await create()
    const path = `/Product?ProductID=${productID}`
    const { admin } = service
    const productIDs = [productID]
    const hook = { url: 'https://example.com/', productIDs }
    const [{ webhookID }] = (await admin.post('/Webhook', hook)).data
    const rule = { resource: 'Hold', productIDs, isActive: false }
    const [{ approvalRuleID }] = (await admin.post('/ApprovalRule', rule)).data
    const isRefusedFor = async (what: RegExp) => {
      const reply = await admin.delete(path)
      refused(reply, 409, 'in_use')
      assert.match(reply.message!, what)
    }
    await isRefusedFor(/webhook/)
    await admin.delete(`/Webhook?WebhookID=${webhookID}`)
    await isRefusedFor(/approval rule/)
    await admin.delete(`/ApprovalRule?ApprovalRuleID=${approvalRuleID}`)
    const [gone, ...named] = await Promise.all([
      admin.delete(path),
      ...[1, 2, 3, 4].map(() => admin.post('/Webhook', hook)),
      ...[1, 2, 3, 4].map(() => admin.post('/ApprovalRule', rule)),
    ])
    const expected = gone!.status === 200 ? [404] : [200, 404]
    for (const { status, text } of named) assert.ok(expected.includes(status), text)
    assert.equal(
      gone!.status === 200,
      named.every(({ status }) => status === 404),
    )
  })

  it('happens once when it is asked for twice at once', async () => {
    const { productID } = await create()
    const path = `/Product?ProductID=${productID}`
    const race = await Promise.all([1, 2, 3, 4].map(() => service.admin.delete(path)))
    assert.deepEqual(race.map(({ status }) => status).sort(), [200, 404, 404, 404])
  })
})

describe('A user with some products', () => {
  it('sees and touches them and no others, which behave as if absent', async () => {
    const mine = await create({ externalProductId: 'IN' })
    const foreign = await create({ externalProductId: 'OUT' })
    const user = await service.userWith({ role: 'Operator', productIDs: [mine.productID] })
    assert.deepEqual((await user.get('/Product')).data, [mine])
    assert.deepEqual(await read(foreign.productID, user), [])
    assert.deepEqual((await user.get('/Product?ExternalProductId=OUT')).data, [])
    const absent = await user.put('/Product', { productID: 99_999, name: 'x' })
    const hidden = await user.put('/Product', { productID: foreign.productID, name: 'x' })
    refused(hidden, 404, 'not_found')
    assert.equal(
      hidden.text.replaceAll(String(foreign.productID), 'N'),
      absent.text.replaceAll('99999', 'N'),
    )
    refused(await user.put('/Product', { externalProductId: 'OUT', name: 'x' }), 404)
    refused(await user.delete(`/Product?ProductID=${foreign.productID}`), 404, 'not_found')
    assert.deepEqual(await read(foreign.productID), [foreign])
    const change = { productID: mine.productID, name: 'Mine' }
    assert.equal((await user.put('/Product', change)).data[0].name, 'Mine')
  })

  it('creates none, even with the permission', async () => {
    const user = await service.userWith({ role: 'Operator', productIDs: [] })
    refused(await user.post('/Product', { name: 'x' }), 403, 'scope')
    assert.deepEqual((await user.get('/Product')).data, [])
  })
})
