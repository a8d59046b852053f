import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import sql from 'sql-template-tag'
import { noticeOfDeposit } from '../../src/ledger/biz-event/notice.ts'
import { readEvents } from '../../src/ledger/biz-event/sql.ts'
import type { Operation } from '../../src/ledger/biz-transaction/legs.ts'
import { post } from '../../src/ledger/biz-transaction/post.ts'
import { rollBack } from '../../src/ledger/biz-transaction/rollback.ts'
import { readTransactions } from '../../src/ledger/biz-transaction/sql.ts'
import { updateTransaction } from '../../src/ledger/biz-transaction/update.ts'
import { readHoldings } from '../../src/ledger/holding/sql.ts'
import { restoreResiduals } from '../../src/money/distribution/residual.ts'
import { addToTotals } from '../../src/money/distribution/totals.ts'
import { leaveDrafts } from '../../src/money/payment-run/leave.ts'
import { operator } from '../../src/operations/cli/registry.ts'
import { verify } from '../../src/operations/verify/verify.ts'
import { mendBlockRanges } from '../../src/platform/sql/block-ranges.ts'
import type { Database, Tx } from '../../src/platform/sql/handle.ts'
import { freshDatabase, rowsOf } from '../support/database.ts'
import { openAsService, readingsOf } from '../support/explain.ts'
import { fillLedger } from '../support/large-ledger.ts'

/** The number of transactions; REGISTRY_LEDGER_ROWS=1000000 takes a few minutes. */
const size = Number(process.env.REGISTRY_LEDGER_ROWS ?? 200_000)

let database: Database
let connection: Awaited<ReturnType<typeof freshDatabase>>
before(async () => {
  connection = await freshDatabase()
  await fillLedger(connection, size)
  database = openAsService(connection)
})
after(() => database.close())

/** The tables that grow with the registry; the others have only a few rows here. */
const large = /^(biz_transaction|holding|ledger_account|account|biz_entity|biz_event)/

/** The tables that grow with the distributions. */
const isOfMoney = /^(entitlement|drp_residual|residual_payment)/

/** Asserts that work reads by indexes only, and at most so many rows of any table. */
async function readsAtMost(most: number, work: (tx: Tx) => Promise<unknown>) {
  const readings = (await readingsOf(database, work)).filter(({ table }) => large.test(table))
  for (const { how, table, rows, text } of readings) {
    assert.match(how, /Index|Bitmap|Tid/, `${how} of ${table} in ${text}`)
    assert.ok(rows <= most, `${rows} rows of ${table} by ${how} in ${text}`)
  }
  assert.ok(readings.length > 0)
}

const isFew = (work: (tx: Tx) => Promise<unknown>) =>
  readsAtMost(5000, work).then(
    () => true,
    () => false,
  )

/**
 * Breaks off the summary of an index, as autovacuum is broken off when another session wants a lock
 * on its table. The timeout hits the middle of the work, with some luck.
 */
async function breakOff(index: string, afterMs: number) {
  await rowsOf(
    connection,
    `select brin_desummarize_range('${index}', 128 * n)
    from generate_series(0, 10) n`,
  )
  await rowsOf(
    connection,
    `begin; set local statement_timeout = ${afterMs};
    select brin_summarize_new_values('${index}')`,
  ).catch(() => {})
  await rowsOf(connection, `select brin_summarize_new_values('${index}')`)
}

const reads = (query: object) => (tx: Tx) => readTransactions(tx, operator, query)
const holds = (query: object) => (tx: Tx) => readHoldings(tx, operator, query)
const posts =
  (operation: Operation, ...bodies: object[]) =>
  async (tx: Tx) => {
    const path = (i: number) => `[${i}]`
    const [end] = await post(tx, operator, [{ operation, bodies, path }], { waits: true })
    assert.ok(end && 'ids' in end, JSON.stringify(end))
  }
const day = '2001-02-20'
const lately = { CreatedDate: '2999-01-01T00:00:00Z' }
const line = { productID: 1, accountID: 1, investmentID: 1 }

describe(`With ${size} transactions in the ledger, these read by index and few rows:`, () => {
  it('a transaction by its id, with and without its product', async () => {
    await readsAtMost(10, reads({ BizTransactionID: size / 2 }))
    await readsAtMost(10, reads({ ProductID: 1, 'BizTransactionID.equal': size / 2 }))
    await readsAtMost(20, reads({ 'BizTransactionID.in': [1, 2, size], ShowClosing: true }))
  })

  it('a transaction by its external id', async () => {
    await readsAtMost(10, reads({ ProductID: 1, ExternalBizTransactionId: 'X-100' }))
    await readsAtMost(10, reads({ ExternalBizTransactionId: 'X-100' }))
  })

  it('the transactions of an account, by any of its names', async () => {
    await readsAtMost(100, reads({ AccountID: 7 }))
    await readsAtMost(200, reads({ ProductID: 1, AccountID: 7, ShowClosing: true }))
    await readsAtMost(100, reads({ ExternalAccountId: 'A-7' }))
    await readsAtMost(100, reads({ AccountNumber: 'N7', 'TransactionDate.lessThan': '2000-03-01' }))
    await readsAtMost(100, reads({ AccountID: 7, InvestmentID: 1 }))
  })

  it('a page of the transactions of an investment', async () => {
    await readsAtMost(150, reads({ ProductID: 1, InvestmentID: 1 }))
    await readsAtMost(150, reads({ ProductID: 1, ExternalInvestmentId: 'I1' }))
  })

  it('a page of the transactions of a type, or of a status', async () => {
    await readsAtMost(150, reads({ ProductID: 1, BizTransactionTypeID: 3 }))
    await readsAtMost(10, reads({ ProductID: 1, BizTransactionTypeID: 7 }))
    await readsAtMost(150, reads({ ProductID: 1, Status: 'Complete' }))
    await readsAtMost(10, reads({ ProductID: 1, Status: 'RolledBack' }))
    await readsAtMost(10, reads({ Status: 'Updated' }))
  })

  it('a page of the transactions of a day', async () => {
    const ofOneDay = size / 300
    await readsAtMost(ofOneDay, reads({ ProductID: 1, TransactionDate: '2000-05-01' }))
    await readsAtMost(10, reads({ ProductID: 1, TransactionDate: '1999-05-01' }))
  })

  it('a page of the transactions from a day on, or created since', async () => {
    await readsAtMost(5000, reads({ ProductID: 1, 'TransactionDate.greaterThan': '2000-10-10' }))
    await readsAtMost(
      5000,
      reads({ ProductID: 1, 'TransactionDate.greaterThanOrEqual': '2000-10-20' }),
    )
    // Blocks may not be in the block range index yet, which autovacuum looks after in its time.
    await rowsOf(connection, 'reindex index biz_transaction_lately')
    await readsAtMost(5000, reads(lately))
  })

  it('what was created since, after a range of blocks was left half summed up, too', async () => {
    for (let n = 0; n < 1000 && (await isFew(reads(lately))); n++)
      await breakOff('biz_transaction_lately', 1 + (n % 40))
    await rowsOf(connection, 'vacuum biz_transaction')
    assert.ok(!(await isFew(reads(lately))), 'PostgreSQL sees to it by itself')
    assert.ok((await mendBlockRanges(database.transaction)) > 0)
    await readsAtMost(5000, reads(lately))
  })

  it('ranges of blocks that are summed up are left so, whatever the server may plan', async () => {
    await rowsOf(connection, `alter database ${connection.database} set enable_bitmapscan = off`)
    const other = openAsService(connection)
    assert.equal(await mendBlockRanges(other.transaction).finally(other.close), 0)
    await rowsOf(connection, `alter database ${connection.database} reset enable_bitmapscan`)
  })

  it('a page of 1000, the first, the next, and one beyond the last', async () => {
    await readsAtMost(1500, reads({ ProductID: 1, PageSize: 1000 }))
    await readsAtMost(2500, reads({ ProductID: 1, PageSize: 1000, PageNumber: 2 }))
    await readsAtMost(10, reads({ ProductID: 1, PageSize: 1000, PageNumber: 2 ** 40 }))
    await readsAtMost(1500, reads({ PageSize: 1000 }))
    await readsAtMost(4000, reads({ PageSize: 1000, PageNumber: 2, ShowClosing: true }))
  })

  it('the holdings of an account now and as at a day, and a page of all', async () => {
    await readsAtMost(20, holds({ AccountID: 7 }))
    await readsAtMost(20, holds({ ExternalAccountId: 'A-7' }))
    await readsAtMost(20, holds({ AccountID: 7, Date: '2000-04-01' }))
    await readsAtMost(300, holds({}))
    await readsAtMost(300, holds({ ProductID: 1, Date: '2000-12-01' }))
    await readsAtMost(300, holds({ ProductID: 1, InvestmentID: 2, PageNumber: 2 }))
  })

  it('a page of holdings, also as known, with forty distributions behind each', async () => {
    const readings = await readingsOf(database, async (tx) => {
      await tx.query(sql`
        insert into distribution (product_id, investment_id, distribution_status_id, record_date,
          payment_date)
        select 1, 1, 3, '2000-01-01', '2000-01-15' from generate_series(1, 40)`)
      await tx.query(sql`
        insert into entitlement (product_id, corporate_action_id, account_id, investment_id, units,
          gross_amount, component_amounts, drp_amount, cash_amount, residual_before, drp_residual)
        select 1, d.corporate_action_id, h.account_id, 1, h.quantity, 1, '{1}', 0, 1, 0, 0
        from distribution d cross join holding h
        where d.product_id = 1 and h.product_id = 1 and h.investment_id = 1 and h.account_id < 200`)
      await addToTotals(tx, sql`e.product_id = 1 and e.corporate_action_id = 1`)
      await tx.query(sql`
        insert into drp_residual (product_id, account_id, investment_id, amount)
        select 1, h.account_id, 1, 0 from holding h
        where h.product_id = 1 and h.investment_id = 1 and h.account_id < 200`)
      await tx.query(sql`
        update holding set quantity = 0
        where product_id = 1 and investment_id = 1 and account_id < 200 and account_id % 2 = 0`)
      await holds({ ProductID: 1, InvestmentID: 1 })(tx)
      await tx.query(sql`
        with moment as (select clock_timestamp()::text as now)
        select set_config('search_path', 'known, named, public', true),
          set_config('registry.known_at', now, true), set_config('registry.named_at', now, true)
        from moment`)
      await holds({ ProductID: 1, InvestmentID: 1 })(tx)
    })
    const ofPages = readings.filter(({ text }) => text.includes('entitlement_total t where'))
    for (const { how, table, rows, text } of ofPages.filter(({ table }) => isOfMoney.test(table)))
      assert.ok(rows <= 100, `${rows} rows of ${table} by ${how} in ${text}`)
    assert.ok(ofPages.some(({ table }) => table === 'entitlement_total'))
  })

  it('every kind of posting, at the end of a history and into its midst', async () => {
    for (const transactionDate of [day, '2000-05-05']) {
      const own = { ...line, transactionDate }
      await readsAtMost(200, posts('Deposit', { ...own, amount: '10' }))
      await readsAtMost(
        200,
        posts('Deposit', { ...own, amount: '10', externalBizTransactionId: 'n' }),
      )
      await readsAtMost(200, posts('Redemption', { ...own, quantity: '1' }))
      await readsAtMost(200, posts('SetQuantity', { ...own, quantity: '900' }))
      const transfer = { productID: 1, investmentID: 1, quantity: '1', transactionDate }
      await readsAtMost(300, posts('Transfer', { ...transfer, fromAccountID: 1, toAccountID: 2 }))
      const conversion = { productID: 1, accountID: 1, quantity: '1', transactionDate }
      const ends = { fromInvestmentID: 1, toInvestmentID: 2 }
      await readsAtMost(200, posts('Conversion', { ...conversion, ...ends }))
    }
  })

  it('an array of 100 over 100 accounts, each row as much as one alone', async () => {
    const bodies = (transactionDate: string) =>
      Array.from({ length: 100 }, (_, i) => ({
        productID: 1,
        externalAccountId: `A-${40 * i + 1 + Number((40 * i + 1) % 50 >= 48) * 2}`,
        securityCode: 'S1',
        amount: '5',
        transactionDate,
      }))
    await readsAtMost(1000, posts('Deposit', ...bodies(day)))
    await readsAtMost(20_000, posts('Deposit', ...bodies('2000-05-05')))
  })

  it('an update and a rollback', async () => {
    const effects = { leaveDrafts, restoreResiduals }
    await readsAtMost(200, (tx) =>
      updateTransaction(tx, operator, { bizTransactionID: size / 2, comment: 'c' }, effects),
    )
    await readsAtMost(200, (tx) => rollBack(tx, operator, { bizTransactionID: size - 1 }, effects))
  })

  it('notices', async () => {
    await readsAtMost(10, (tx) =>
      noticeOfDeposit(tx, operator, { ...line, amount: '1', transactionDate: day }),
    )
    const lists = (query: object) => (tx: Tx) => readEvents(tx, operator, query)
    await readsAtMost(20, lists({ BizEventID: 5 }))
    await readsAtMost(20, lists({ AccountID: 5 }))
    await readsAtMost(150, lists({ BizEventTypeID: 1, ProductID: 1 }))
    await readsAtMost(250, lists({ PageNumber: 2 }))
  })

  it('and the whole register can still be verified', async () => {
    assert.deepEqual(
      (await verify(connection)).filter(({ found, isNote }) => found > 0 && !isNote),
      [],
    )
  })
})
