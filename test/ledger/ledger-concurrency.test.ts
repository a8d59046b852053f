import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import pg from 'pg'
import type { Client, Reply } from '../support/client.ts'
import { rowsOf } from '../support/database.ts'
import { all, assertVerified, type Fund, newFund, only, poster } from '../support/ledger.ts'
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
afterEach(async () => {
  await assertVerified(first)
  // A process tells the statistics what it did when it is idle, so this is the count so far.
  const [row] = await rowsOf(
    first.connection,
    'select deadlocks from pg_stat_database where datname = current_database()',
  )
  assert.equal(Number(row.deadlocks), 0, 'no deadlock so far')
})

const rows = (text: string, values: unknown[] = []) => rowsOf(first.connection, text, values)
/** Repeats a request that was refused because an account is busy, as is common on slow machines. */
const patiently =
  (post: ReturnType<typeof poster>): typeof post =>
  async (...given) => {
    for (;;) {
      const reply = await post(...given)
      if (reply.status !== 503 || reply.errors?.[0]?.code !== 'busy') return reply
    }
  }
const onFirst = patiently(poster(() => first.admin))
const onSecond = patiently(poster(() => second.admin))
const onBoth = (n: number) => (n % 2 === 0 ? onFirst : onSecond)
const holding = async (accountID: number, investmentID: number, client: Client = first.admin) => {
  const query = `AccountID=${accountID}&InvestmentID=${investmentID}`
  return all(await client.get(`/BizEntity/Account/Holdings?${query}`))[0]?.quantity ?? 0
}
const total = async ({ productID }: Fund) =>
  Number(
    (await rows('select sum(quantity) as sum from holding where product_id = $1', [productID]))[0]
      .sum,
  )
const counted = async ({ productID }: Fund) =>
  (
    await rows('select count(*)::int as n from biz_transaction where product_id = $1', [productID])
  )[0].n
const succeeded = (replies: Reply[]) => replies.filter(({ status }) => status === 200)
const noFaults = (replies: Reply[]) => {
  for (const { status, text } of replies) assert.ok(status < 500, text)
}
const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

/** Opens a database session that locks an account, as a long piece of work would. */
async function holdAccount({ productID, accountID }: Pick<Fund, 'productID' | 'accountID'>) {
  const client = new pg.Client(first.connection)
  await client.connect()
  await client.query('begin')
  const own = 'product_id = $1 and account_id = $2'
  await client.query(`select 1 from ledger_account where ${own} for update`, [productID, accountID])
  return async () => {
    await client.query('rollback')
    await client.end()
  }
}

describe('Many clients on few holdings, over two nodes', () => {
  it('take out exactly what is there, no more and no less', async () => {
    const { accountID, investmentID } = await newFund(first)
    const own = { accountID, investmentID }
    only(await onFirst('Deposit', { ...own, amount: 50 }))
    const replies = await times(120, (n) => onBoth(n)('Redemption', { ...own, quantity: 1 }))
    noFaults(replies)
    assert.equal(succeeded(replies).length, 50)
    for (const { status } of replies) assert.ok(status === 200 || status === 409)
    assert.equal(await holding(accountID, investmentID), 0)
  })

  it('lose and invent nothing, also on accounts that had no transaction yet', async () => {
    const fund = await newFund(first, { accounts: 6, investments: [{}, {}] })
    const replies = await times(240, (n) =>
      onBoth(n >> 1)('Deposit', {
        accountID: fund.accounts[n % 6]!.accountID,
        investmentID: fund.investmentIDs[(n >> 3) % 2]!,
        amount: 10,
        transactionDate: `2026-01-${String(1 + (n % 28)).padStart(2, '0')}`,
      }),
    )
    for (const reply of replies) assert.equal(reply.status, 200, reply.text)
    assert.equal(await total(fund), 2400)
    assert.equal(await counted(fund), 240)
  })

  it('transfer crosswise without deadlock, and the sum stays', async () => {
    const fund = await newFund(first, { accounts: 4 })
    const { investmentID, accounts } = fund
    const ids = accounts.map(({ accountID }) => accountID)
    const seeds = ids.map((accountID) => ({ accountID, investmentID, amount: 100 }))
    all(await onFirst('Deposit', seeds))
    const replies = await times(200, (n) =>
      onBoth(n)('Transfer', {
        investmentID,
        fromAccountID: ids[n % 4],
        toAccountID: ids[(n + 1 + (n % 3)) % 4],
        quantity: 1 + (n % 40),
        transactionDate: n % 5 === 0 ? '2026-01-10' : '2026-01-11',
      }),
    )
    noFaults(replies)
    assert.ok(succeeded(replies).length > 0)
    assert.equal(await total(fund), 400)
    assert.equal(await counted(fund), 4 + 2 * succeeded(replies).length)
  })

  it('transfer to accounts that are created by it, crosswise, without deadlock', async () => {
    const fund = await newFund(first, { accounts: 31 })
    const { investmentID, accounts } = fund
    const ids = accounts.map(({ accountID }) => accountID)
    const middle = ids[15]!
    only(await onFirst('Deposit', { accountID: middle, investmentID, amount: 1000 }))
    const replies = await times(120, (n) =>
      onBoth(n)('Transfer', {
        investmentID,
        fromAccountID: n % 3 === 0 ? ids[(n * 7) % 31] : middle,
        toAccountID: n % 3 === 0 ? middle : ids[(n * 11) % 31],
        quantity: 2,
      }),
    )
    noFaults(replies)
    assert.equal(await total(fund), 1000)
  })

  it('post arrays over the same accounts in opposite orders without deadlock', async () => {
    const fund = await newFund(first, { accounts: 10 })
    const bodies = fund.accounts.map(({ accountID }) => ({
      accountID,
      investmentID: fund.investmentID,
      amount: 1,
    }))
    const replies = await times(40, (n) =>
      onBoth(n)('Deposit', n % 4 < 2 ? bodies : bodies.toReversed()),
    )
    for (const reply of replies) assert.equal(reply.status, 200, reply.text)
    assert.equal(await total(fund), 400)
  })

  it('set, convert, update and roll back among postings, never negative', async () => {
    const fund = await newFund(first, { accounts: 3, investments: [{}, {}] })
    const [a, b] = fund.investmentIDs as [number, number]
    const ids = fund.accounts.map(({ accountID }) => accountID)
    const seeded = all(
      await onFirst(
        'Deposit',
        ids.flatMap((accountID) =>
          [a, b].map((investmentID) => ({ accountID, investmentID, amount: 100 })),
        ),
      ),
    )
    const replies = await times(180, (n) => {
      const accountID = ids[n % 3]!
      const post = onBoth(n)
      const { admin } = n % 2 ? first : second
      const transactionDate = `2026-01-${10 + (n % 9)}`
      switch (n % 6) {
        case 0:
          return post('Redemption', { accountID, investmentID: a, quantity: 20, transactionDate })
        case 1:
          return post('Conversion', {
            accountID,
            fromInvestmentID: a,
            toInvestmentID: b,
            quantity: 15,
            conversionFactor: 2,
            transactionDate,
          })
        case 2:
          return post('SetQuantity', { accountID, investmentID: b, quantity: n, transactionDate })
        case 3:
          return admin.put('/BizTransaction', {
            bizTransactionID: seeded[n % 6].bizTransactionID,
            quantity: 60 + n,
          })
        case 4:
          return admin.put('/BizTransaction/Rollback', {
            bizTransactionID: seeded[(n >> 3) % 6].bizTransactionID,
          })
        default:
          return post('Deposit', { accountID, investmentID: a, amount: 7, transactionDate })
      }
    })
    noFaults(replies)
    const [{ n }] = await rows(
      `select count(*)::int as n from biz_transaction
      where product_id = $1 and closing_quantity < 0`,
      [fund.productID],
    )
    assert.equal(n, 0)
  })
})

describe('The same posting sent many times at once', () => {
  it('is posted once by its external id, and the others are told', async () => {
    const fund = await newFund(first, { accounts: 4 })
    const replies = await times(40, (n) =>
      onBoth(n)('Deposit', {
        accountID: fund.accounts[n % 4]!.accountID,
        investmentID: fund.investmentID,
        amount: 5,
        externalBizTransactionId: 'ONCE',
      }),
    )
    assert.equal(succeeded(replies).length, 1)
    for (const { status, errors, text } of replies.filter(({ status }) => status !== 200)) {
      assert.equal(status, 409, text)
      assert.deepEqual(
        errors.map(({ code, field }) => [code, field]),
        [['duplicate', 'externalBizTransactionId']],
      )
    }
    assert.equal(await total(fund), 5)
  })

  it('is posted once for each external id when many race in any order', async () => {
    const fund = await newFund(first, { accounts: 5 })
    const replies = await times(150, (n) => {
      const id = n % 2 ? (n >> 1) % 15 : 14 - ((n >> 1) % 15)
      return onBoth(n)('Deposit', {
        accountID: fund.accounts[n % 5]!.accountID,
        investmentID: fund.investmentID,
        amount: 1,
        externalBizTransactionId: `R-${id}`,
      })
    })
    noFaults(replies)
    assert.equal(succeeded(replies).length, 15)
    assert.equal(await total(fund), 15)
  })

  it('is posted once under its Idempotency-Key, and all get the same answer', async () => {
    const fund = await newFund(first)
    const body = { accountID: fund.accountID, investmentID: fund.investmentID, amount: 3 }
    const replies = await times(30, (n) => onBoth(n)('Deposit', body, { 'Idempotency-Key': 'k-1' }))
    for (const reply of replies) assert.equal(reply.status, 200, reply.text)
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
    const fresh = replies.filter(({ headers }) => !headers.get('idempotency-replayed'))
    assert.equal(fresh.length, 1)
    assert.equal(await total(fund), 3)
    assert.equal(await counted(fund), 1)
  })

  it('settles a notice once', async () => {
    const fund = await newFund(first)
    const notice = only(
      await first.admin.post('/BizEvent/NoticeOfDeposit', {
        accountID: fund.accountID,
        investmentID: fund.investmentID,
        amount: 8,
        transactionDate: '2026-01-10',
      }),
    )
    const replies = await times(20, (n) => onBoth(n)('Deposit', { bizEventID: notice.bizEventID }))
    assert.equal(succeeded(replies).length, 1)
    for (const { status } of replies) assert.ok(status === 200 || status === 409)
    assert.equal(await total(fund), 8)
  })

  it('changes a transaction once by each rollback: the others are refused', async () => {
    const fund = await newFund(first)
    const body = { accountID: fund.accountID, investmentID: fund.investmentID, amount: 3 }
    const { bizTransactionID } = only(await onFirst('Deposit', body))
    const replies = await times(10, (n) =>
      (n % 2 ? first : second).admin.put('/BizTransaction/Rollback', { bizTransactionID }),
    )
    assert.equal(succeeded(replies).length, 1)
    assert.equal(await total(fund), 0)
  })
})

describe('Postings that arrive together', () => {
  it('are accepted or refused each by itself', async () => {
    const fund = await newFund(first, { accounts: 8 })
    const { investmentID, accounts } = fund
    const replies = await times(160, (n) => {
      const own = { accountID: accounts[n % 8]!.accountID, investmentID }
      switch (n % 8) {
        case 1:
          return onFirst('Deposit', { ...own, amount: -1 })
        case 2:
          return onFirst('Deposit', { ...own, accountID: 2_000_000_000, amount: 1 })
        case 3:
          return onFirst('Redemption', { ...own, quantity: 1_000_000 })
        case 4:
          return onFirst('Deposit', { ...own, amount: 1, transactionDate: '2999-01-01' })
        case 5:
          return onFirst('Deposit', { ...own, amount: 1, bizEventID: 999_999 })
        default:
          return onFirst('Deposit', { ...own, amount: 1 })
      }
    })
    const expected = [200, 400, 404, 409, 400, 404, 200, 200]
    for (const [n, reply] of replies.entries())
      assert.equal(reply.status, expected[n % 8], reply.text)
    assert.equal(await total(fund), 60)
  })

  it('leave an account free to be deleted that they were refused for', async () => {
    const fund = await newFund(first, { accounts: 40 })
    const replies = await times(80, (n) => {
      const own = { accountID: fund.accounts[n % 40]!.accountID, investmentID: fund.investmentID }
      if (n % 2 === 0) return onFirst('Deposit', { ...own, amount: 1 })
      if (n % 3 === 0) return onFirst('SetQuantity', { ...own, quantity: 0 })
      return onFirst('Redemption', { ...own, quantity: 1 })
    })
    noFaults(replies)
    assert.equal(succeeded(replies).length, 40 + 13)
    const ledgers = await rows(
      'select account_id from ledger_account where product_id = $1 order by 1',
      [fund.productID],
    )
    assert.deepEqual(
      ledgers.map((row) => row.account_id),
      fund.accounts.filter((_, n) => n % 2 === 0).map(({ accountID }) => accountID),
    )
  })

  it('do not wait for one whose account somebody else holds', async () => {
    const fund = await newFund(first, { accounts: 12 })
    const deposit = (n: number, more: object = {}) =>
      onFirst('Deposit', {
        accountID: fund.accounts[n]!.accountID,
        investmentID: fund.investmentID,
        amount: 1,
        ...more,
      })
    for (let n = 0; n < 12; n++) only(await deposit(n))
    const letGo = await holdAccount(fund)
    let stuckEnded = 0
    const stuck = Array.from({ length: 8 }, async () => {
      const reply = await deposit(0)
      stuckEnded++
      return reply
    })
    // Alone, together, in arrays, set and transferred: all of them end while the eight still wait.
    for (let n = 1; n < 12; n++) only(await deposit(n))
    for (const reply of await times(44, (n) => deposit(1 + (n % 11)))) only(reply)
    const bodies = [1, 2, 3].map((n) => ({
      accountID: fund.accounts[n]!.accountID,
      investmentID: fund.investmentID,
      amount: 1,
    }))
    assert.equal(all(await onFirst('Deposit', bodies)).length, 3)
    const own = { accountID: fund.accounts[4]!.accountID, investmentID: fund.investmentID }
    only(await onFirst('SetQuantity', { ...own, quantity: 100 }))
    assert.equal(stuckEnded, 0, 'the account is still held')
    await letGo()
    for (const reply of await Promise.all(stuck)) only(reply)
    assert.equal(await holding(fund.accounts[0]!.accountID, fund.investmentID), 9)
  })
})

describe('Changes of transactions that wait for an account somebody else holds', () => {
  it('leave everybody else their connections', async () => {
    const fund = await newFund(first, { accounts: 2 })
    const [a, b] = fund.accounts.map(({ accountID }) => accountID)
    const own = { accountID: a, investmentID: fund.investmentID, amount: 1 }
    const { bizTransactionID } = only(await onFirst('Deposit', own))
    const letGo = await holdAccount(fund)
    let ended = 0
    const stuck = Array.from({ length: 12 }, async () => {
      const reply = await first.admin.put('/BizTransaction', { bizTransactionID, amount: 2 })
      ended++
      return reply
    })
    for (let n = 0; n < 5; n++) only(await onFirst('Deposit', { ...own, accountID: b }))
    only(await first.admin.post('/Product', { name: 'Meanwhile' }))
    assert.equal(ended, 0, 'the account is still held')
    await letGo()
    for (const reply of await Promise.all(stuck)) assert.equal(reply.status, 200, reply.text)
  })
})
