import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { mostInRecord } from '../../src/platform/sql/unit-of-work.ts'
import { isSpread, rowsOf } from '../support/database.ts'
import { all, assertVerified, newFund, only } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

/** Postings that arrive together may share an audit record (docs/decisions/0430). */
let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())
afterEach(() => assertVerified(service))

type Entry = {
  auditID: number
  resourceIDs: number[]
  requestID: string
  changes: { amount: string; accountID: number }
}

const day = '2026-01-10'

/** Sends many requests at once, each for another account, by two users in turns. */
async function crowd() {
  const fund = await newFund(service, { accounts: 60 })
  const { investmentID, accounts } = fund
  const first = accounts.map(({ accountID }) => {
    return { accountID, investmentID, transactionDate: day, amount: 1 }
  })
  all(await service.admin.post('/BizTransaction/Deposit', first))
  const other = await service.userWith({ role: 'Operator' })
  const [{ last }] = await rowsOf(
    service.connection,
    'select max(audit_id)::int as last from audit',
  )
  const posted = await Promise.all(
    accounts.map(async ({ accountID }, n) => {
      const body = { accountID, investmentID, transactionDate: day, amount: 10 + n }
      const headers = { 'X-Request-Id': `crowd-${fund.productID}-${n}` }
      const by = n % 3 === 0 ? other : service.admin
      const { bizTransactionID } = only(
        await by.post('/BizTransaction/Deposit', body, headers),
      ) as unknown as { bizTransactionID: number }
      return { id: bizTransactionID, request: headers['X-Request-Id'], amount: 10 + n, accountID }
    }),
  )
  return { fund, posted, last: last as number }
}

const pages = async (query: string): Promise<Entry[]> => {
  const entries: Entry[] = []
  for (let cursor = ''; ; ) {
    const reply = await service.admin.get(`/Audit?${query}${cursor}`)
    assert.equal(reply.status, 200, reply.text)
    entries.push(...reply.data)
    const next = reply.headers.get('next-cursor')
    if (!next) return entries
    cursor = `&Cursor=${next}`
  }
}

describe('Postings that arrive together', () => {
  it('share records, in which each request has a line of its own, however it is read', async () => {
    const { posted, last } = await crowd()
    const [{ records, requests }] = await rowsOf(
      service.connection,
      `select count(*)::int as records, sum(coalesce(cardinality(request_ids), 1))::int as requests
       from audit where audit_id > $1`,
      [last],
    )
    assert.equal(requests, posted.length)
    assert.ok(isSpread || records < posted.length, 'none of them shared a record')
    const lines = (await pages('PageSize=1000')).filter(({ auditID }) => auditID > last)
    assert.equal(new Set(lines.map(({ auditID }) => auditID)).size, posted.length)
    const byID = new Map(lines.map((line) => [line.resourceIDs[0], line]))
    for (const { id, request, amount, accountID } of posted) {
      const line = byID.get(id)!
      assert.deepEqual([line.resourceIDs, line.requestID], [[id], request])
      assert.deepEqual([line.changes.amount, line.changes.accountID], [String(amount), accountID])
      const [alone, ...others] = await pages(`Resource=BizTransaction&ResourceID=${id}`)
      assert.deepEqual([alone, others.length], [line, 0])
    }
    // Records of any kind with one of these ids, of which some stand in the midst of a crowd's.
    for (const { id } of posted.slice(0, 40)) {
      const own = await pages(`ResourceID=${id}`)
      const back = await pages(`ResourceID=${id}&Order=desc&PageSize=1`)
      assert.deepEqual(back.toReversed(), own)
    }
    const whole = await pages('PageSize=1000&Resource=BizTransaction')
    for (const size of [1, 7, 50]) {
      assert.deepEqual(await pages(`PageSize=${size}&Resource=BizTransaction`), whole)
      const back = await pages(`PageSize=${size}&Resource=BizTransaction&Order=desc`)
      assert.deepEqual(back.toReversed(), whole)
    }
    const second = await service.admin.get('/Audit?PageSize=7&PageNumber=2&IncludeTotal=true')
    const everything = await pages('PageSize=1000')
    assert.deepEqual(second.data, everything.slice(7, 14))
    assert.equal(JSON.parse(second.text).totalCount, everything.length)
  })

  it('leave as many numbers to a record as it may have lines', { skip: isSpread }, async () => {
    const [{ step }] = await rowsOf(
      service.connection,
      `select increment_by::int as step from pg_sequences
       where sequencename = 'audit_audit_id_seq'`,
    )
    assert.equal(step, mostInRecord)
  })

  it('are of their own users, also for who asks by name', async () => {
    const { posted, last } = await crowd()
    const admins = (await pages('PageSize=1000&Username=admin')).filter(
      ({ auditID, requestID }) => auditID > last && requestID.startsWith('crowd-'),
    )
    const expected = posted.filter((_, n) => n % 3 !== 0).map(({ id }) => id)
    assert.deepEqual(new Set(admins.flatMap(({ resourceIDs }) => resourceIDs)), new Set(expected))
  })

  it('are each told in the feed once', async () => {
    const { fund, posted } = await crowd()
    const told: number[] = []
    let after = ''
    // What is told ends where the oldest transaction that still runs began.
    await until('all to be told', async () => {
      const query = `?ProductID=${fund.productID}&Type=biztransaction.posted&PageSize=10${after}`
      const { data, text } = await service.admin.get(`/Event${query}`)
      told.push(...data.flatMap(({ ids }: { ids: number[] }) => ids))
      after = `&After=${JSON.parse(text).cursor}`
      return posted.every(({ id }) => told.includes(id)) || undefined
    })
    assert.equal(new Set(told).size, told.length)
  })
})
