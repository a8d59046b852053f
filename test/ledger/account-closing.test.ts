import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { post } from '../../src/ledger/biz-transaction/post.ts'
import { operator } from '../../src/operations/cli/registry.ts'
import { unitOfWork, type Write, type Written } from '../../src/platform/sql/unit-of-work.ts'
import type { Reply } from '../support/client.ts'
import { waitingForLocks } from '../support/database.ts'
import { configure, stage } from '../support/distribution.ts'
import { openAsService } from '../support/explain.ts'
import { all, assertVerified, type Fund, newFund, only, poster } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

let first: Service
let second: Service
before(async () => {
  first = await startService()
  second = await startService({}, first.connection)
})
after(async () => {
  await first.stop()
  await second.stop()
})
afterEach(() => assertVerified(first))

const send = poster(() => first.admin)
const closed = { account: 3, entity: 4 }

const entityOf = async ({ accounts }: Fund) =>
  all(await second.admin.get(`/BizEntity?BizEntityID=${accounts[0]!.bizEntityID}`))[0]

/** Changes the account, or its entity. */
async function changing(
  fund: Fund,
  account: object,
  more: object = {},
): Promise<() => Promise<Reply>> {
  const entity = await entityOf(fund)
  const accounts = [{ ...entity.accounts[0], ...account }]
  const bizEntityParties = [{ person: { firstName: 'Ann', lastName: 'Example' } }]
  return () => second.admin.put('/BizEntity', { ...entity, bizEntityParties, accounts, ...more })
}

/** Closes the account by its own status, or by its entity's. */
const closing = (fund: Fund, by: 'account' | 'entity') =>
  by === 'entity'
    ? changing(fund, {}, { bizEntityStatusID: closed.entity })
    : changing(fund, { accountStatusID: closed.account })

/** How many sessions wait for a lock, on any server. */
const waiting = () => waitingForLocks(first.connection)

const units = async ({ accountID, investmentID }: Fund) => {
  const query = `AccountID=${accountID}&InvestmentID=${investmentID}`
  return all(await first.admin.get(`/BizEntity/Account/Holdings?${query}`))[0]?.quantity ?? 0
}

const write: Write = {
  userID: null,
  username: 'slow',
  operation: 'POST /BizTransaction/Deposit',
  resource: 'BizTransaction',
  event: 'biztransaction.posted',
  requestID: 'slow',
}

/** Starts a posting that has written its rows, but commits only when it is told to. */
async function postingSlowly({ accountID, investmentID }: Fund) {
  const database = openAsService(first.connection)
  const body = { accountID, investmentID, amount: '5', transactionDate: '2026-01-20' }
  const request = { operation: 'Deposit' as const, bodies: [body], path: () => '' }
  let end = () => {}
  const told = new Promise<void>((resolve) => {
    end = resolve
  })
  await new Promise<void>((resolve, reject) => {
    unitOfWork(database, write, async (tx) => {
      const [posted] = await post(tx, operator, [request], { waits: true })
      resolve()
      await told
      return posted as Written // nothing speaks against it
    })
      .catch(reject)
      .finally(() => database.close())
  })
  return end
}

describe('An account that is closed while something is posted to it', () => {
  for (const by of ['account', 'entity'] as const) {
    it(`by the ${by}’s status waits for the posting, and sees its units`, async () => {
      const fund = await newFund(first)
      const own = { accountID: fund.accountID, investmentID: fund.investmentID }
      only(await send('Deposit', { ...own, amount: 10 }))
      only(await send('Redemption', { ...own, quantity: 10 }))
      const close = await closing(fund, by)
      const commit = await postingSlowly(fund)
      let ended = false
      const attempt = close().finally(() => {
        ended = true
      })
      await until('the closing waits or ends', async () => ended || (await waiting()) === 1)
      assert.equal(ended, false, 'it was closed over a posting that is under way')
      commit()
      const { status, errors, text } = await attempt
      assert.equal(status, 409, text)
      assert.equal(errors[0]?.code, 'has_units')
      assert.equal(await units(fund), 5)
    })
  }

  it('has either its first units or its end, never both', async () => {
    for (let round = 0; round < 24; round++) {
      const fund = await newFund(first)
      const own = { accountID: fund.accountID, investmentID: fund.investmentID }
      const close = await closing(fund, round % 2 === 0 ? 'account' : 'entity')
      const replies = await Promise.all([
        ...Array.from({ length: 1 + (round % 3) }, () => send('Deposit', { ...own, amount: 5 })),
        close(),
      ])
      const last = replies.pop()! // the closing
      const posted = replies.filter(({ status }) => status === 200).length
      for (const { status, text } of [...replies, last])
        assert.ok(status === 200 || status === 409, text)
      assert.equal(await units(fund), 5 * posted)
      assert.equal(last.status, posted > 0 ? 409 : 200, last.text)
    }
  })
})

describe('The currency of an account', () => {
  it('does not change beside its first posting, also where it was entitled before', async () => {
    const fund = await newFund(first)
    const distribution = await configure(first, fund, { distributionAmountPerUnit: 1 })
    const preCalculatedAccounts = [{ accountID: fund.accountID, amount: 5 }]
    await stage(first.admin, 'Declare', distribution, { preCalculatedAccounts })
    const change = await changing(fund, { currencyID: 3 })
    const commit = await postingSlowly(fund)
    let ended = false
    const attempt = change().finally(() => {
      ended = true
    })
    await until('the change waits or ends', async () => ended || (await waiting()) === 1)
    commit()
    refused(await attempt, 409, 'has_transactions')
  })
})
