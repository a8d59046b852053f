import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { entityOf, unique } from '../support/investors.ts'
import { newProduct, only } from '../support/ledger.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let productID: number
before(async () => {
  service = await startService()
  productID = (await newProduct(service)).productID
})
after(() => service.stop())

const post = (body: unknown) => service.admin.post('/PaymentDetail', body)
const put = (body: unknown) => service.admin.put('/PaymentDetail', body)
const newEntity = async (more: object = {}) =>
  only(await service.admin.post('/BizEntity', entityOf(productID, more)))
const defaultsOf = async (bizEntityID: number) => {
  const { paymentDetails } = only(await service.admin.get(`/BizEntity?BizEntityID=${bizEntityID}`))
  return paymentDetails.map(({ isDefault }: { isDefault: boolean }) => isDefault)
}

describe('POST /PaymentDetail', () => {
  it('keeps every field as it was sent', async () => {
    const { bizEntityID } = await newEntity()
    const sent = {
      externalPaymentDetailId: unique('D'),
      paymentTypeID: 4,
      bizEntityID,
      bsb: '062-000',
      accountNumber: '00-1234',
      accountName: 'Ann',
      address: '1 Bank Street',
      comments: 'c',
      currencyID: 5,
      iban: 'GB82 WEST 1234 5698 7654 32',
      swift: 'WPACAU2S',
      intermediaryBankAccountName: 'n',
      intermediaryBankAccountNumber: '9',
      intermediaryBankAddress: 'a',
      intermediaryBankName: 'b',
      intermediaryBankSWIFT: 'AGRIFRPP882',
      isForDeposit: true,
      isForDistribution: true,
      isForRedemption: true,
      isForOther: true,
      isDefault: true,
      message: 'm',
      personalName: 'p',
      reference: 'r',
    }
    const detail = only(await post(sent))
    for (const [field, value] of Object.entries(sent)) assert.deepEqual(detail[field], value, field)
    const read = (query: string) => service.admin.get(`/PaymentDetail?${query}`)
    assert.deepEqual((await read(`PaymentDetailID=${detail.paymentDetailID}`)).data, [detail])
    const external = sent.externalPaymentDetailId
    assert.deepEqual((await read(`ExternalPaymentDetailId=${external}`)).data, [detail])
    assert.deepEqual((await read('PaymentDetailID=999999')).data, [])
  })

  it('checks BSB, IBAN and SWIFT, and needs an entity that exists', async () => {
    const { bizEntityID } = await newEntity()
    const wrong = {
      bsb: ['06200', '0620000', '06-2000', 'abc-def'],
      iban: ['GB82WEST12345698765433', 'AU82WEST12345698765432', 'nonsense'],
      swift: ['AGRIFRPP8', 'AGRIF2PP', 'WPACZZ2S', 'wpacau2s'],
      intermediaryBankSWIFT: ['X'],
    }
    for (const [field, values] of Object.entries(wrong))
      for (const value of values)
        assert.deepEqual(fieldsOf(await post({ bizEntityID, [field]: value })), [field], value)
    for (const iban of ['DE89370400440532013000', 'NO9386011117947'])
      assert.equal((await post({ bizEntityID, iban, bsb: '062000' })).status, 200)
    refused(await post({ bsb: '062000' }), 400, 'required')
    refused(await post({ bizEntityID: 999999 }), 404, 'not_found')
  })
})

describe('The default of a purpose', () => {
  it('is one per entity: a new one takes the place of the old', async () => {
    const { bizEntityID } = await newEntity()
    const other = await newEntity({ paymentDetails: [{ isDefault: true, isForDeposit: true }] })
    const add = (more: object) => post({ bizEntityID, isDefault: true, ...more })
    only(await add({ isForDeposit: true, isForRedemption: true }))
    only(await add({ isForDistribution: true }))
    assert.deepEqual(await defaultsOf(bizEntityID), [true, true])
    const third = only(await add({ isForDeposit: true }))
    assert.deepEqual(await defaultsOf(bizEntityID), [false, true, true])
    only(await put({ ...third, isForDeposit: false, isForDistribution: true }))
    assert.deepEqual(await defaultsOf(bizEntityID), [false, false, true])
    assert.deepEqual(await defaultsOf(other.bizEntityID), [true])
  })

  it('stays one within one request and under concurrency, and two may change places', async () => {
    const { bizEntityID } = await newEntity()
    const one = { bizEntityID, isDefault: true, isForOther: true }
    const list = await post([one, one, one])
    assert.deepEqual(await defaultsOf(bizEntityID), [false, false, true])
    assert.equal(list.data[2].isDefault, true)
    const replies = await Promise.all(Array.from({ length: 8 }, () => post(one)))
    for (const reply of replies) assert.equal(reply.status, 200, reply.text)
    assert.equal((await defaultsOf(bizEntityID)).filter(Boolean).length, 1)
    const entity = await newEntity({
      paymentDetails: [
        { isDefault: true, isForDeposit: true },
        { isDefault: true, isForRedemption: true },
      ],
    })
    const [a, b] = entity.paymentDetails
    const swapped = [
      { ...a, isForDeposit: false, isForRedemption: true },
      { ...b, isForDeposit: true, isForRedemption: false },
    ]
    const after = only(
      await service.admin.put('/BizEntity', { ...entity, paymentDetails: swapped }),
    )
    assert.deepEqual(after.paymentDetails, swapped)
  })
})

describe('GET /PaymentDetail without an id', () => {
  it('streams all records, more than any page holds, with the right count', async () => {
    const { bizEntityID } = await newEntity()
    await rowsOf(
      service.connection,
      `insert into payment_detail (biz_entity_id, comments, is_for_deposit, is_for_distribution,
         is_for_redemption, is_for_other, is_default)
       select $1, n::text, false, false, false, false, false from generate_series(1, 5000) n`,
      [bizEntityID],
    )
    const [{ count }] = await rowsOf(
      service.connection,
      'select count(*)::int as count from payment_detail',
    )
    const reply = await service.admin.get('/PaymentDetail')
    assert.deepEqual([reply.status, reply.result, reply.recordCount], [200, true, count])
    const ids = reply.data.map(
      ({ paymentDetailID }: { paymentDetailID: number }) => paymentDetailID,
    )
    assert.equal(new Set(ids).size, count)
    assert.deepEqual(
      ids,
      ids.toSorted((a: number, b: number) => a - b),
    )
  })

  it('goes page by page where pages are asked for, as every list does', async () => {
    const { bizEntityID } = await newEntity()
    const made = []
    for (const comments of ['a', 'b', 'c'])
      made.push(only(await post({ bizEntityID, comments, paymentTypeID: 1 })).paymentDetailID)
    const read = (more: string) =>
      service.admin.get(`/PaymentDetail?BizEntityID=${bizEntityID}&${more}`)
    const idsOf = ({ data }: { data: { paymentDetailID: number }[] }) =>
      data.map(({ paymentDetailID }) => paymentDetailID)
    const first = await read('PageSize=2&IncludeTotal=true')
    assert.deepEqual(idsOf(first), made.slice(0, 2))
    const { nextCursor, totalCount } = JSON.parse(first.text)
    assert.equal(totalCount, 3)
    assert.equal(first.headers.get('next-cursor'), nextCursor)
    const rest = await read(`PageSize=2&Cursor=${nextCursor}`)
    assert.deepEqual(idsOf(rest), made.slice(2))
    assert.equal(JSON.parse(rest.text).nextCursor, undefined)
    assert.deepEqual(idsOf(await read('Order=desc')), made.toReversed())
    assert.deepEqual(idsOf(await read('PageNumber=2&PageSize=1')), made.slice(1, 2))
    refused(await read('Cursor=x'), 400, 'invalid_cursor')
    refused(await read('PageSize=100000'), 400, 'page_size_exceeded')
  })

  it('gives its connection back when the client hangs up in the middle', async () => {
    const { bizEntityID } = await newEntity()
    await rowsOf(
      service.connection,
      `insert into payment_detail (biz_entity_id, comments, is_for_deposit, is_for_distribution,
         is_for_redemption, is_for_other, is_default)
       select $1, repeat('x', 1900), false, false, false, false, false
       from generate_series(1, 20000) n`,
      [bizEntityID],
    )
    // More of them than the pool has connections: each must end for the next to begin.
    for (let i = 0; i < 12; i++) {
      const leaving = new AbortController()
      const answer = await fetch(`${service.url}/PaymentDetail`, {
        headers: { Version: '2.0', Authorization: service.admin.token! },
        signal: leaving.signal,
      })
      const reader = answer.body!.getReader()
      await reader.read()
      leaving.abort()
    }
    assert.equal((await service.admin.get('/Person')).status, 200)
    const waiting = async () =>
      (
        await rowsOf(
          service.connection,
          `select from pg_stat_activity where datname = current_database()
           and state like 'idle in transaction%'`,
        )
      ).length
    for (let tries = 0; (await waiting()) > 0 && tries < 100; tries++)
      await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(await waiting(), 0)
  })
})

describe('DELETE /PaymentDetail', () => {
  it('removes the record by either id', async () => {
    const { bizEntityID } = await newEntity()
    const { paymentDetailID } = only(await post({ bizEntityID }))
    const path = `/PaymentDetail?PaymentDetailID=${paymentDetailID}`
    assert.equal((await service.admin.delete(path)).status, 200)
    refused(await service.admin.delete(path), 404, 'not_found')
    refused(await service.admin.delete('/PaymentDetail'), 400, 'required')
  })
})
