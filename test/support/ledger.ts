import assert from 'node:assert/strict'
import { verify } from '../../src/operations/verify/verify.ts'
import type { Client, Reply } from './client.ts'
import { rowsOf } from './database.ts'
import { made } from './registry.ts'
import type { Service } from './service.ts'

/** As much of a service as can be reached in this process or in another. */
export type Reached = Pick<Service, 'admin' | 'connection'>

let names = 0
const unique = (what: string) => `${what}-${process.pid}-${++names}`

/** Asserts that an answer is a success with one record, and returns the record. */
export function only(reply: Reply) {
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.recordCount, 1, reply.text)
  return reply.data[0]
}

/** Asserts that an answer is a success, and returns its records. */
export function all(reply: Reply) {
  assert.equal(reply.status, 200, reply.text)
  return reply.data
}

export const newProduct = ({ admin }: Reached, more: object = {}) =>
  made(admin, '/Product', { name: 'Fund', externalProductId: unique('P'), ...more })

export const newInvestment = ({ admin }: Reached, productID: number, more: object = {}) =>
  made(admin, '/Investment', {
    productID,
    externalInvestmentId: unique('I'),
    securityCode: unique('S'),
    name: 'Class',
    ...more,
  })

export const newPrice = (
  { admin }: Reached,
  investmentID: number,
  priceDate: string,
  price: number | string,
  more: object = {},
) => made(admin, '/Investment/Price', { investmentID, priceDate, price, ...more })

export type Account = {
  accountID: number
  externalAccountId: string
  accountNumber: string
  bizEntityID: number
}

/** Inserts investors with an account each straight into the database, for tests of the ledger. */
export async function newAccounts(
  { connection }: Reached,
  productID: number,
  count: number,
): Promise<Account[]> {
  return rowsOf(
    connection,
    `with entity as (
      insert into biz_entity (product_id, biz_entity_type_id, biz_entity_status_id, name,
        external_biz_entity_id, communication_preference_copy_parent_biz_entity,
        is_director_interest, is_executive_interest)
      select $1, 1, 1, 'Investor ' || n, $3 || '-' || n, false, false, false
      from generate_series(1, $2::int) n
      returning biz_entity_id)
    insert into account (biz_entity_id, product_id, external_account_id, account_number,
      currency_id, drp_type_id, account_status_id)
    select biz_entity_id, $1, 'A-' || biz_entity_id, 'N' || (1000 + biz_entity_id), 1, 1, 1
    from entity order by biz_entity_id
    returning account_id as "accountID", external_account_id as "externalAccountId",
      account_number as "accountNumber", biz_entity_id as "bizEntityID"`,
    [productID, count, unique('E')],
  )
}

export type Fund = {
  productID: number
  externalProductId: string
  investmentID: number
  investmentIDs: number[]
  accounts: Account[]
  accountID: number
}

/** A product with accounts and investments, priced 1 from 2000 on unless another price is given. */
export async function newFund(
  service: Reached,
  options: { accounts?: number; investments?: object[]; price?: number | string | null } = {},
): Promise<Fund> {
  const { accounts = 1, investments = [{}], price = 1 } = options
  const { productID, externalProductId } = await newProduct(service)
  const investmentIDs: number[] = []
  for (const more of investments) {
    const { investmentID } = await newInvestment(service, productID, more)
    if (price !== null) await newPrice(service, investmentID, '2000-01-01', price)
    investmentIDs.push(investmentID)
  }
  const own = await newAccounts(service, productID, accounts)
  return {
    productID,
    externalProductId,
    investmentID: investmentIDs[0]!,
    investmentIDs,
    accounts: own,
    accountID: own[0]?.accountID ?? 0,
  }
}

/** The date in a time zone, some days from today; the default is the default of products. */
export const dayIn = (days = 0, timeZone = 'Australia/Sydney') =>
  new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(
    Date.now() + days * 86_400_000,
  )

/** Returns a function that posts, adding the fields that every body of a test file needs. */
export const poster =
  (client: () => Client, common: () => object = () => ({})) =>
  (kind: string, body: object | object[], extra?: Record<string, string>) => {
    const whole = (one: object) => ({ transactionDate: '2026-01-10', ...common(), ...one })
    return client().post(
      `/BizTransaction/${kind}`,
      Array.isArray(body) ? body.map(whole) : whole(body),
      extra,
    )
  }

/** Asserts that no check of `cli verify` finds anything. */
export async function assertVerified({ connection }: Pick<Service, 'connection'>) {
  const found = (await verify(connection)).filter((one) => one.found > 0 && !one.isNote)
  assert.deepEqual(found, [])
}
