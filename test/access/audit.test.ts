import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { refused } from '../support/refused.ts'
import { adminPassword as password, type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

type Entry = {
  auditID: number
  occurredDate: string
  userID: number | null
  username: string | null
  operation: string
  resource: string
  resourceIDs: number[]
  productID: number | null
  changes: Record<string, unknown> | null
  requestID: string
}

const rows = (text: string, values: unknown[] = []) => rowsOf(service.connection, text, values)
const trail = async (query: string, client = service.admin): Promise<Entry[]> => {
  const reply = await client.get(`/Audit?PageSize=1000&${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.data
}
const size = async () => (await rows('select count(*)::int from audit'))[0].count as number

/** The audit records that some work leaves. */
async function left(work: () => Promise<unknown>): Promise<Entry[]> {
  const [{ last }] = await rows('select coalesce(max(audit_id), 0)::int as last from audit')
  await work()
  return (await trail('')).filter(({ auditID }) => auditID > last)
}

describe('A write', () => {
  it('leaves one record: when, who, what, which, what changed, under which request', async () => {
    const body = { name: 'Traced', externalProductId: 'TR', unknown: 'field' }
    let productID = 0
    const entries = await left(async () => {
      const reply = await service.admin.post('/Product', body, { 'X-Request-Id': 'trace-1' })
      productID = reply.data[0].productID
    })
    const [{ userID }] = (await service.admin.get('/User?Username=admin')).data
    assert.equal(entries.length, 1)
    const { auditID, occurredDate, ...entry } = entries[0]!
    assert.ok(auditID > 0)
    assert.match(occurredDate, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.deepEqual(entry, {
      userID,
      username: 'admin',
      operation: 'POST /Product',
      resource: 'Product',
      resourceIDs: [productID],
      productID,
      changes: { name: 'Traced', externalProductId: 'TR' },
      requestID: 'trace-1',
    })
  })

  it('of many, asked for by the id of one record, shows what concerns that record', async () => {
    const people = ['One', 'Two', 'Three'].map((lastName) => ({ firstName: 'Ann', lastName }))
    const { data } = await service.admin.post('/Person', people)
    const { personID } = data[1]
    const [entry] = await trail(`Resource=Person&ResourceID=${personID}`)
    assert.deepEqual(entry!.resourceIDs, [personID])
    assert.deepEqual(entry!.changes, people[1])
    const [all] = (await trail('Resource=Person')).slice(-1)
    assert.equal(all!.resourceIDs.length, 3)
    const [alone] = (await service.admin.post('/Person', { firstName: 'Bo', lastName: 'X' })).data
    const [single] = await trail(`Resource=Person&ResourceID=${alone.personID}`)
    assert.deepEqual(single!.resourceIDs, [alone.personID])
  })

  it('that changes tells from what to what; one that removes tells what was', async () => {
    const [product] = (await service.admin.post('/Product', { name: 'A', description: 'd' })).data
    const { productID } = product
    const [changed] = await left(() =>
      service.admin.put('/Product', { productID, name: 'B', description: 'd', currencyID: 8 }),
    )
    assert.deepEqual(changed!.changes!.name, { from: 'A', to: 'B' })
    assert.deepEqual(changed!.changes!.currencyID, { from: 1, to: 8 })
    assert.ok(!('description' in changed!.changes!))
    const [gone] = await left(() => service.admin.delete(`/Product?ProductID=${productID}`))
    const deleted = gone!.changes!.deleted as { name: string }
    assert.deepEqual([gone!.operation, deleted.name], ['DELETE /Product', 'B'])
  })

  it('and its record are one transaction', async () => {
    const [{ productID }] = (await service.admin.post('/Product', { name: 'One' })).data
    const [{ same }] = await rows(
      `select p.xmin = a.xmin as same from product p
       join audit a on a.resource = 'Product' and a.resource_id = p.product_id
       where p.product_id = $1`,
      [productID],
    )
    assert.ok(same)
  })

  it('that cannot be recorded does not happen', async () => {
    await rows('revoke insert on audit from registry_service')
    const reply = await service.admin.post('/Product', { name: 'Unrecorded' })
    await rows('grant insert on audit to registry_service')
    refused(reply, 500, 'internal')
    assert.doesNotMatch(reply.text, /audit|denied/)
    assert.equal((await rows(`select from product where name = 'Unrecorded'`)).length, 0)
  })

  it('that is refused leaves nothing', async () => {
    const reader = await service.userWith({ role: 'ReadOnly' })
    await service.admin.post('/Product', { name: 'Held', externalProductId: 'HELD' })
    const key = { 'Idempotency-Key': 'audited' }
    await service.admin.post('/Product', { name: 'Keyed' }, key)
    const before = await size()
    const refusals = [
      await service.admin.post('/Product', {}),
      await service.admin.post('/Product', { name: 'x' }, { Version: '1' }),
      await service.anyone.post('/Product', { name: 'x' }),
      await reader.post('/Product', { name: 'x' }),
      await service.admin.put('/Product', { productID: 99_999, name: 'x' }),
      await service.admin.call('PATCH', '/Product', { name: 'x' }),
      await service.admin.post('/Product', { name: 'x', externalProductId: 'HELD' }),
      await service.admin.post('/Product', 'name=x', { 'Content-Type': 'text/plain' }),
      await service.admin.post('/Product', { name: 'x' }, key),
      await service.admin.delete('/Product?ProductID=99999'),
    ]
    assert.deepEqual(
      refusals.map(({ status }) => status),
      [400, 400, 401, 403, 404, 405, 409, 415, 422, 404],
    )
    assert.equal(await size(), before)
  })

  it('of users never tells a password', async () => {
    const secrets = [
      'a password for ann',
      'another for ann',
      'a third one for ann',
      'and a last one',
    ]
    const [first = '', second = '', third = '', last = ''] = secrets
    const user = { username: 'ann', password: first, role: 'ReadOnly' }
    const entries = await left(async () => {
      const [{ userID }] = (await service.admin.post('/User', user)).data
      const rights = { role: 'Operator', isActive: true }
      await service.admin.put('/User', { userID, password: second, ...rights })
      const ann = await service.anyone.signIn('ann', second)
      await ann.put('/User/Password', { currentPassword: second, newPassword: third })
      await service.admin.put('/User/Password', { userID, newPassword: last })
    })
    assert.deepEqual(
      entries.map(({ operation }) => operation),
      ['POST /User', 'PUT /User', 'POST /User/Login', 'PUT /User/Password', 'PUT /User/Password'],
    )
    const [made, changed, , own, reset] = entries.map(({ changes }) => changes)
    assert.deepEqual(made, { username: 'ann', password: '***', role: 'ReadOnly' })
    assert.deepEqual(changed, { role: { from: 'ReadOnly', to: 'Operator' }, password: '***' })
    assert.deepEqual([own, reset], [{ password: '***' }, { password: '***' }])
    for (const secret of secrets) assert.ok(!JSON.stringify(entries).includes(secret))
  })

  it('of a session is one too: sign-in, failed sign-in, refresh, reuse, sign-out', async () => {
    const login = { username: 'Bo', password }
    await service.admin.post('/User', { ...login, role: 'ReadOnly' })
    const entries = await left(async () => {
      const { refreshToken } = (await service.anyone.post('/User/Login', login)).data
      await service.anyone.post('/User/Login', { ...login, password: 'a wrong password' })
      await service.anyone.post('/User/RefreshToken', { refreshToken })
      await service.anyone.post('/User/RefreshToken', { refreshToken })
      const client = await service.anyone.signIn('BO', password)
      await client.post('/User/Logout')
    })
    assert.deepEqual(
      entries.map(({ operation, username, changes }) => [operation, username, changes]),
      [
        ['POST /User/Login', 'Bo', null],
        ['POST /User/Login', 'Bo', { signIn: 'failed' }],
        ['POST /User/RefreshToken', 'Bo', null],
        ['POST /User/RefreshToken', 'Bo', { session: 'ended: a refresh token was used twice' }],
        ['POST /User/Login', 'Bo', null],
        ['POST /User/Logout', 'Bo', null],
      ],
    )
  })

  it('happens once in the trail for the first user of an empty registry', async () => {
    const [first] = await trail('Resource=User')
    assert.deepEqual([first!.operation, first!.changes], ['first start', { role: 'Administrator' }])
  })
})

describe('The trail', () => {
  it('cannot be changed, nor lookups, by the role that the service has', async () => {
    const may = async (table: string, right: string) =>
      (
        await rows('select has_table_privilege($1, $2, $3) as may', [
          'registry_service',
          table,
          right,
        ])
      )[0].may
    assert.ok(await may('audit', 'INSERT'))
    for (const right of ['UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER'])
      assert.equal(await may('audit', right), false, right)
    for (const right of ['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'])
      assert.equal(await may('lookup', right), false, right)
    for (const statement of ['update audit set username = null', 'delete from audit'])
      await assert.rejects(rows(`set role registry_service; ${statement}`), /permission denied/)
  })

  it('is read with Audit.Read alone', async () => {
    refused(await (await service.userWith({ role: 'ReadOnly' })).get('/Audit'), 403)
    const auditor = await service.userWith({ permissions: ['Audit.Read'] })
    assert.ok((await trail('', auditor)).length > 0)
  })

  it('is filtered by resource, id, user and time', async () => {
    const [{ productID }] = (await service.admin.post('/Product', { name: 'Filter' })).data
    await service.admin.put('/Product', { productID, name: 'Filter 2' })
    const both = await trail(`Resource=Product&ResourceID=${productID}`)
    assert.deepEqual(
      both.map(({ operation }) => operation),
      ['POST /Product', 'PUT /Product'],
    )
    assert.deepEqual(await trail('Resource=product'), [], 'values keep their case')
    assert.ok((await trail('Resource=User')).every(({ resource }) => resource === 'User'))
    const admin = await trail('Username=ADMIN')
    assert.ok(admin.length > 0 && admin.every(({ username }) => username === 'admin'))
    assert.deepEqual(await trail('OccurredDate.lessThan=2020-01-01'), [])
    const { occurredDate } = both[0]!
    const then = await trail(
      `Resource=Product&ResourceID=${productID}&OccurredDate=${occurredDate}`,
    )
    assert.ok(then.length >= 1)
    refused(await service.admin.get('/Audit?Resource='), 400)
    refused(await service.admin.get('/Audit?ResourceID=x'), 400)
  })

  it('finds a record among the many that one write was about', async () => {
    await rows(`insert into audit (operation, resource, resource_ids, request_id)
      values ('POST /Many', 'Person', array[7001, 7002, 7003], 'many')`)
    const [entry] = await trail('Resource=Person&ResourceID=7002')
    assert.deepEqual(entry!.resourceIDs, [7002])
    assert.deepEqual(await trail('Resource=Person&ResourceID=7004'), [])
  })

  it('shows a user with some products what was done to these and nothing else', async () => {
    const [mine] = (await service.admin.post('/Product', { name: 'Mine' })).data
    const user = await service.userWith({ role: 'Operator', productIDs: [mine.productID] })
    const seen = await trail('', user)
    assert.deepEqual(
      seen.map(({ operation, productID }) => [operation, productID]),
      [['POST /Product', mine.productID]],
    )
  })
})
