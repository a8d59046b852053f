import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { Reply } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { newProduct, only } from '../support/ledger.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

/** Runs on one server, but is told that the ledger is spread: what it does then works on both. */
let service: Service
let productID: number
before(async () => {
  const isSpread = async () => true
  service = await startService({}, undefined, (database) => ({ ...database, isSpread }))
  productID = (await newProduct(service)).productID
})
after(() => service.stop())

const entity = (name: string, more: object = {}) => ({
  name,
  externalBizEntityId: name,
  bizEntityTypeID: 1,
  bizEntityStatusID: 1,
  accounts: [{ productID }],
  bizEntityParties: [{ person: { externalPersonId: name, firstName: name } }],
  ...more,
})
const post = (body: object, headers: Record<string, string> = {}): Promise<Reply> =>
  service.admin.post('/BizEntity', body, headers)
const rows = (text: string, values: unknown[] = []) => rowsOf(service.connection, text, values)
const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

it('Entities that arrive together share transactions, each told of to its caller', async () => {
  const names = Array.from({ length: 24 }, (_, n) => `shared ${n}`)
  const replies = await times(24, (n) => post(entity(names[n]!)))
  const told = replies.map(only)
  assert.deepEqual(
    told.map(({ name }) => name),
    names,
  )
  for (const one of told) {
    const read = await service.admin.get(`/BizEntity?BizEntityID=${one.bizEntityID}`)
    assert.deepEqual(only(read), one)
  }
  const ids = told.map(({ bizEntityID }) => bizEntityID)
  const [written] = await rows(
    `select count(distinct xmin::text)::int as n from biz_entity where biz_entity_id = any($1)`,
    [ids],
  )
  assert.ok(written.n < 24, `${written.n} transactions for 24 entities`)
  const trail = await rows(
    `select resource_id::int as id, changes->0->>'name' as name from audit
    where operation = 'POST /BizEntity' and resource_id = any($1) order by resource_id`,
    [ids],
  )
  const byID = told.toSorted((a, b) => a.bizEntityID - b.bizEntityID)
  assert.deepEqual(
    trail,
    byID.map(({ bizEntityID, name }) => ({ id: bizEntityID, name })),
  )
})

it('One that is refused takes no other down, and is told what it would be alone', async () => {
  const wrong = { accounts: [{ productID: 999_999 }] }
  const replies = await times(12, (n) => post(entity(`mixed ${n}`, n === 5 ? wrong : {})))
  for (const [n, reply] of replies.entries())
    if (n !== 5) assert.equal(only(reply).name, `mixed ${n}`)
  const alone = await post(entity('alone', wrong))
  refused(replies[5]!, 404, 'not_found')
  assert.deepEqual(replies[5]!.errors, alone.errors)
  assert.deepEqual(
    (await service.admin.get('/BizEntity?ExternalBizEntityId=mixed%205')).recordCount,
    0,
  )
})

it('The same request under one key, sent many times at once, makes one entity', async () => {
  const key = { 'Idempotency-Key': 'once for all' }
  const replies = await times(8, () => post(entity('keyed'), key))
  const [first] = replies.map(({ text }) => text)
  for (const { status, text } of replies) assert.deepEqual([status, text], [200, first])
  const [made] = await rows(`select count(*)::int as n from biz_entity where name = 'keyed'`)
  assert.equal(made.n, 1)
})

it('A person whom several bring is one, and has what one of them says', async () => {
  const person = (n: number) => ({
    bizEntityParties: [{ person: { externalPersonId: 'one', firstName: `Name ${n}` } }],
  })
  const replies = await times(8, (n) => post(entity(`of one ${n}`, person(n))))
  const parties = replies.map((reply) => only(reply).bizEntityParties[0])
  assert.equal(new Set(parties.map(({ personID }) => personID)).size, 1)
  for (const [n, party] of parties.entries()) assert.equal(party.person.firstName, `Name ${n}`)
})

it('A person whom two name by id and by external id has what both of them say', async () => {
  const by = { externalPersonId: 'either' }
  const nested = (name: string, person: object) =>
    post(entity(name, { bizEntityParties: [{ person }] }))
  const [{ personID }] = only(await nested('either', by)).bizEntityParties
  const replies = await Promise.all([
    ...Array.from({ length: 6 }, (_, n) => post(entity(`before either ${n}`))),
    nested('by external id', { ...by, firstName: 'Ann' }),
    nested('by id', { personID, lastName: 'Lee' }),
  ])
  for (const reply of replies) only(reply)
  const { firstName, lastName } = only(await service.admin.get(`/Person?PersonID=${personID}`))
  assert.deepEqual([firstName, lastName], ['Ann', 'Lee'])
})

it('Of two with one external id one is refused', async () => {
  const replies = await times(6, () => post(entity('twin')))
  const [made, ...others] = replies.toSorted((a, b) => a.status - b.status)
  only(made!)
  for (const reply of others) refused(reply, 409, 'duplicate')
})
