import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { updateProduct } from '../../src/catalogue/product/save.ts'
import type { ProductUpdate } from '../../src/catalogue/product/schema.ts'
import type { Body } from '../../src/ledger/biz-transaction/legs.ts'
import { post } from '../../src/ledger/biz-transaction/post.ts'
import { rollBack } from '../../src/ledger/biz-transaction/rollback.ts'
import { operator } from '../../src/operations/cli/registry.ts'
import type { Tx } from '../../src/platform/sql/handle.ts'
import { unitOfWork, type Write, type Written } from '../../src/platform/sql/unit-of-work.ts'
import type { Reply } from '../support/client.ts'
import { waitingForLocks } from '../support/database.ts'
import { openAsService } from '../support/explain.ts'
import { all, assertVerified, type Fund, newFund, only, poster } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())
afterEach(() => assertVerified(service))

const send = poster(() => service.admin)
const ownOf = ({ accountID, investmentID }: Fund) => ({ accountID, investmentID })
const day = '2026-01-20'
const surroundings = { timeZone: 'Etc/UTC', refuseClosing: async () => {} }

const lockedTo = async ({ productID }: Fund, lockedDate: string) => {
  const [product] = all(await service.admin.get(`/Product?ProductID=${productID}`))
  return { ...product, lockedDate }
}

const posted = { resource: 'BizTransaction', event: 'biztransaction.posted' } as const
const rolledBack = { resource: 'BizTransaction', event: 'biztransaction.rolledback' } as const
const updated = { resource: 'Product', event: 'product.updated' } as const
const about = { userID: null, username: 'slow', operation: 'PUT /Slow', requestID: 'slow' }

/** Starts work that has written its rows, but commits only when it is told to. */
async function slowly(what: Pick<Write, 'resource' | 'event'>, work: (tx: Tx) => Promise<Written>) {
  const database = openAsService(service.connection)
  let end = () => {}
  const told = new Promise<void>((resolve) => {
    end = resolve
  })
  await new Promise<void>((resolve, reject) => {
    unitOfWork(database, { ...about, ...what }, async (tx) => {
      const written = await work(tx)
      resolve()
      await told
      return written
    })
      .catch(reject)
      .finally(() => database.close())
  })
  return end
}

const deposits = (body: Body) =>
  slowly(posted, async (tx) => {
    const request = { operation: 'Deposit' as const, bodies: [body], path: () => '' }
    const [written] = await post(tx, operator, [request], { waits: true })
    return written as Written // nothing speaks against it
  })

/** The reply to a request that must wait until other work commits. */
async function afterwards(request: Promise<Reply>, commit: () => void): Promise<Reply> {
  let ended = false
  const reply = request.finally(() => {
    ended = true
  })
  const waits = async () => ended || (await waitingForLocks(service.connection)) > 0
  await until('it waits or ends', waits)
  const hasWaited = !ended
  commit()
  await reply
  assert.ok(hasWaited, 'it did not wait for what is under way')
  return reply
}

describe('A period that is locked while something is dated in it', () => {
  it('waits for a posting that is under way', async () => {
    const fund = await newFund(service)
    const body = { ...ownOf(fund), amount: '5', transactionDate: day }
    const commit = await deposits(body)
    only(await afterwards(service.admin.put('/Product', await lockedTo(fund, day)), commit))
    refused(await send('Deposit', { ...body, amount: 5 }), 409, 'period_locked')
  })

  it('is told to try again shortly where that takes long, and stays as it was', async () => {
    const fund = await newFund(service, { accounts: 2 })
    const body = { ...ownOf(fund), amount: '5', transactionDate: day }
    const commit = await deposits(body)
    const reply = await service.admin.put('/Product', await lockedTo(fund, day))
    refused(reply, 503, 'busy')
    assert.match(reply.message!, /The period cannot be locked while .*posted.* import.*try again/)
    assert.ok(reply.headers.get('retry-after'))
    // Who asks to post meanwhile is not held up by somebody who has given up.
    only(await send('Deposit', { ...body, amount: 7, accountID: fund.accounts[1]!.accountID }))
    commit()
    const { lockedDate } = only(await service.admin.get(`/Product?ProductID=${fund.productID}`))
    assert.equal(lockedDate, null)
  })

  it('waits for a rollback that is under way', async () => {
    const fund = await newFund(service)
    const body = { ...ownOf(fund), amount: 5, transactionDate: day }
    const { bizTransactionID } = only(await send('Deposit', body))
    const effects = { leaveDrafts: async () => {}, restoreResiduals: async () => {} }
    const commit = await slowly(rolledBack, (tx) =>
      rollBack(tx, operator, { bizTransactionID }, effects),
    )
    only(await afterwards(service.admin.put('/Product', await lockedTo(fund, day)), commit))
  })

  it('lets nothing in that came while it was being locked', async () => {
    const fund = await newFund(service)
    const body = { ...ownOf(fund), amount: 5, transactionDate: day }
    const { bizTransactionID } = only(await send('Deposit', body))
    const requests = [
      () => send('Deposit', body),
      () => send('Deposit', [body, body]),
      () => send('Redemption', { ...ownOf(fund), quantity: 1, transactionDate: day }),
      () => service.admin.put('/BizTransaction', { bizTransactionID, amount: 6 }),
      () => service.admin.put('/BizTransaction/Rollback', { bizTransactionID }),
    ]
    for (const [n, request] of requests.entries()) {
      const [from, to] = [`2026-01-${10 + n}`, `2026-02-${10 + n}`]
      only(await service.admin.put('/Product', await lockedTo(fund, from)))
      const update = (await lockedTo(fund, to)) as ProductUpdate
      const commit = await slowly(updated, (tx) =>
        updateProduct(tx, operator, surroundings, update),
      )
      refused(await afterwards(request(), commit), 409, 'period_locked')
    }
    const [{ quantity }] = all(
      await service.admin.get(`/BizEntity/Account/Holdings?AccountID=${fund.accountID}`),
    )
    assert.equal(quantity, 5)
  })
})
