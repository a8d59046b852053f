import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isSpread, rowsOf } from '../support/database.ts'
import { newAccounts, newProduct } from '../support/ledger.ts'
import { walksBothWays } from '../support/pages.ts'
import { type Service, startService } from '../support/service.ts'

type Account = { id: number; entity: number; product: number }

let service: Service
let accounts: Account[]

/** Sets ids as far apart as in a very large register, which is read in steps (by-windows.ts). */
const farApart = 'alter sequence biz_entity_biz_entity_id_seq increment by 1009'

/** Gives every third entity another account, created much later. */
const more = `
  insert into account (biz_entity_id, product_id, account_number, currency_id, drp_type_id,
    account_status_id)
  select biz_entity_id, product_id, 'M' || place, 1, 1, 1
  from (select *, row_number() over (order by biz_entity_id desc) as place from biz_entity) e
  where place % 3 = 0`

before(async () => {
  service = await startService()
  if (!isSpread) await rowsOf(service.connection, farApart)
  const { productID } = await newProduct(service)
  await newAccounts(service, productID, 1500)
  const other = await newProduct(service)
  await newAccounts(service, other.productID, 100)
  await rowsOf(service.connection, more)
  accounts = await rowsOf(
    service.connection,
    `select a.account_id as id, a.biz_entity_id as entity, e.product_id as product
    from account a join biz_entity e on e.biz_entity_id = a.biz_entity_id`,
  )
})
after(() => service.stop())

const asked: [string, (account: Account) => boolean][] = [
  ['AccountID.greaterThan=40', ({ id }) => id > 40],
  ['AccountID.greaterThanOrEqual=1400', ({ id }) => id >= 1400],
  ['AccountID.lessThan=1550', ({ id }) => id < 1550],
  ['AccountID.lessThanOrEqual=300', ({ id }) => id <= 300],
  ['AccountID.greaterThan=300&AccountID.lessThan=1900', ({ id }) => id > 300 && id < 1900],
  ['AccountID.greaterThan=999999', () => false],
  ['ProductID=1&AccountID.greaterThan=250', ({ id, product }) => id > 250 && product === 1],
  ['ProductID=2&AccountID.greaterThan=250', ({ id, product }) => id > 250 && product === 2],
]

const inOrder = (fits: (account: Account) => boolean) =>
  [...new Set(accounts.filter(fits).map(({ entity }) => entity))].toSorted((a, b) => a - b)

describe('A list of entities by their accounts from one on', () => {
  for (const [query, fits] of asked)
    it(`has each of them once, page by page: ${query}`, async () => {
      const wanted = inOrder(fits)
      await walksBothWays((page) => read(`${query}&${page}`), wanted, [7, 400, 1000])
      const { data, body } = await read(`${query}&PageSize=30&PageNumber=2&IncludeTotal=true`)
      assert.deepEqual(data, wanted.slice(30, 60))
      assert.equal(body.totalCount, wanted.length)
    })

  it('has none of a product that the caller does not see', async () => {
    const user = await service.userWith({ role: 'Operator', productIDs: [2] })
    const { data } = await user.get('/BizEntity?AccountID.greaterThan=40&PageSize=1000')
    assert.deepEqual(
      data.map(({ bizEntityID }: { bizEntityID: number }) => bizEntityID),
      inOrder(({ id, product }) => id > 40 && product === 2),
    )
  })
})

async function read(query: string): Promise<{ data: number[]; body: Record<string, unknown> }> {
  const reply = await service.admin.get(`/BizEntity?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return {
    data: reply.data.map(({ bizEntityID }: { bizEntityID: number }) => bizEntityID),
    body: JSON.parse(reply.text),
  }
}
