import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { rowsOf, waitingForLocks } from '../support/database.ts'
import {
  account,
  choose,
  configure,
  entitled,
  fundOf,
  keyOf,
  stage,
} from '../support/distribution.ts'
import { assertVerified, type Fund, only } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
/** A second node on the same database. */
let other: Service
before(async () => {
  service = await startService()
  other = await startService({}, service.connection)
})
after(async () => {
  await other.stop()
  await service.stop()
})

const stages = ['Declare', 'Payment', 'DrpAllotment'] as const
const twoClasses = { investments: [{}, { unitDecimals: 0 }] }
const offered = (fund: Fund, more: object = {}) => ({
  distributionAmountPerUnit: 0.1,
  drpIndicatorID: 2,
  drpInvestmentID: fund.investmentIDs[1],
  drpPrice: 3,
  ...more,
})

describe('Two distributions at the same stage', () => {
  it('do not both spend what is left from before', async () => {
    const fund = await fundOf(service, Array(40).fill(100), twoClasses)
    await rowsOf(service.connection, 'update account set drp_type_id = 2 where product_id = $1', [
      fund.productID,
    ])
    const ready = async () => {
      const distribution = await configure(service, fund, offered(fund))
      await stage(service.admin, 'Declare', distribution)
      await stage(service.admin, 'Payment', distribution)
      return distribution
    }
    await stage(service.admin, 'DrpAllotment', await ready())
    const [a, b] = [await ready(), await ready()]
    await Promise.all([
      stage(service.admin, 'DrpAllotment', a),
      stage(other.admin, 'DrpAllotment', b),
    ])
    // 1 left, then 11 = 3 × 3 + 2, then 12 = 4 × 3: which of them was second does not matter.
    const units = [a, b].map(async (one) => (await entitled(service.admin, one))[0].drpUnits)
    assert.deepEqual((await Promise.all(units)).sort(), [3, 4])
    const [left] = await rowsOf(
      service.connection,
      'select sum(amount)::text as sum from drp_residual where product_id = $1',
      [fund.productID],
    )
    assert.equal(Number(left.sum), 0)
    await assertVerified(service)
  })
})

describe('Residuals that are paid out', () => {
  it('are those of the accounts it has locked, not of who leaves while it waits', async () => {
    const fund = await fundOf(service, [100, 100], twoClasses)
    const { productID, investmentID } = fund
    const [first, second] = [account(fund, 0), account(fund, 1)]
    for (const one of [first, second]) await choose(service, one, 2)
    const distribution = await configure(service, fund, offered(fund))
    for (const name of stages) await stage(service.admin, name, distribution)
    await choose(service, first, 1)
    const holder = new pg.Client(service.connection)
    await holder.connect()
    await holder.query('begin')
    await holder.query(
      'select from ledger_account where product_id = $1 and account_id = $2 for update',
      [productID, first],
    )
    const pay = () =>
      other.admin.post('/Distribution/PayResiduals', {
        productID,
        investmentID,
        date: '2025-08-01',
      })
    const paying = pay()
    await until('it waits', async () => (await waitingForLocks(service.connection)) > 0)
    // Later than the day that residuals are paid on: its order in the account would be lost.
    const redemption = { accountID: second, investmentID, quantity: 100 }
    only(
      await service.admin.post('/BizTransaction/Redemption', {
        ...redemption,
        transactionDate: '2025-09-01',
      }),
    )
    await holder.query('rollback')
    await holder.end()
    assert.equal(only(await paying).accountID, first)
    await assertVerified(service)
    assert.equal(only(await pay()).accountID, second)
    await assertVerified(service)
  })
})

describe('A stage called from two nodes at once', () => {
  it('is done once: one wins and the others get 409', async () => {
    const fund = await fundOf(service, Array(60).fill(10), twoClasses)
    await choose(service, account(fund, 0), 2)
    const distribution = await configure(service, fund, offered(fund))
    for (const name of stages) {
      const race = await Promise.all(
        [service, other, service, other].map(({ admin }) =>
          admin.post(`/Distribution/${name}`, keyOf(distribution)),
        ),
      )
      assert.deepEqual(race.map(({ status }) => status).sort(), [200, 409, 409, 409], name)
    }
    const { data } = await service.admin.get(
      `/BizTransaction?ProductID=${fund.productID}&BizTransactionTypeID=10&PageSize=1000`,
    )
    assert.equal(data.length, 59)
    await assertVerified(service)
  })

  it('goes through while its accounts are posted to; nothing is lost or out of order', async () => {
    const fund = await fundOf(service, Array(50).fill(10), twoClasses)
    await rowsOf(
      service.connection,
      'update account set drp_type_id = 3, drp_value = 50 where product_id = $1',
      [fund.productID],
    )
    let going = true
    const posting = [service, other].map(async ({ admin }, n) => {
      for (let i = n; going; i += 2) {
        const body = {
          accountID: account(fund, i % 50),
          investmentID: fund.investmentIDs[i % 2],
          amount: 1,
          // On the days of the payment and the allotment, and after them.
          transactionDate: i % 3 ? '2025-07-15' : '2025-08-01',
        }
        const reply = await admin.post('/BizTransaction/Deposit', body)
        assert.equal(reply.status, 200, reply.text)
      }
    })
    for (let round = 0; round < 4; round++) {
      const distribution = await configure(service, fund, offered(fund, { drpPrice: 0.25 }))
      for (const name of stages) await stage(service.admin, name, distribution)
    }
    going = false
    await Promise.all(posting)
    await assertVerified(service)
  })
})
