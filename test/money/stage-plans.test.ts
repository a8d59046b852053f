import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { postRows } from '../../src/integration/import/postings.ts'
import { declareDistribution } from '../../src/money/distribution/declare.ts'
import { payDistribution } from '../../src/money/distribution/pay.ts'
import { reinvest } from '../../src/money/distribution/reinvest.ts'
import { reverseDistribution } from '../../src/money/distribution/reverse.ts'
import { approveRun } from '../../src/money/payment-run/approve.ts'
import { createRun } from '../../src/money/payment-run/create.ts'
import { reissue } from '../../src/money/payment-run/reissue.ts'
import { deleteRun, recordResults, sendRun } from '../../src/money/payment-run/steps.ts'
import { operator } from '../../src/operations/cli/registry.ts'
import type { Database, Tx } from '../../src/platform/sql/handle.ts'
import { rowsOf } from '../support/database.ts'
import { configure, type Distribution, keyOf } from '../support/distribution.ts'
import { openAsService, type Reading, readingsOf } from '../support/explain.ts'
import { all, type Fund, newAccounts, newFund } from '../support/ledger.ts'
import { fundingAccount } from '../support/payment-run.ts'
import { type Service, startService } from '../support/service.ts'

/**
 * The number of accounts at first; later there are twice as many. The planner is made to believe
 * that every table that grows with them has a million rows, and gets no other statistics. So it
 * plans for many rows although there are few, and the rows that it reads show what many would cost.
 */
const count = Number(process.env.REGISTRY_PLAN_ACCOUNTS ?? 60)

let service: Service
let database: Database
let fund: Fund
let [first, second]: Distribution[] = []
before(async () => {
  service = await startService()
  await rowsOf(service.connection, neverAnalyzed)
  fund = await newFund(service, { accounts: 0, investments: [{}, { unitDecimals: 0 }] })
  await rowsOf(service.connection, 'update product set withholding = true')
  const terms = {
    ...{ distributionAmountPerUnit: 1, drpIndicatorID: 2, drpPrice: 3 },
    drpInvestmentID: fund.investmentIDs[1],
    taxComponents: [{ taxComponentName: 'AustralianUnfrankedDividends', percentage: 100 }],
  }
  first = await configure(service, fund, terms)
  second = await configure(service, fund, { ...terms, recordDate: '2025-07-01' })
  database = openAsService(service.connection)
})
after(async () => {
  await database.close()
  await service.stop()
})

const growing = [
  ...['account', 'biz_entity', 'person', 'biz_entity_party', 'payment_detail', 'ledger_account'],
  ...['holding', 'biz_transaction', 'biz_transaction_version', 'entitlement', 'drp_residual'],
  ...['payment', 'payment_item', 'ledger_version'],
]
const seemLarge = `update pg_class set reltuples = 1e6,
    relpages = greatest(1, pg_relation_size(oid) / current_setting('block_size')::int)
  where relname = any($1) and relnamespace = 'public'::regnamespace and relkind = 'r'`

const neverAnalyzed = `do $$ declare t regclass; begin
  for t in select oid from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
  loop execute format('alter table %s set (autovacuum_enabled = false)', t); end loop; end $$`

/** Makes each holder a person with a bank account; a tenth are taxed, and a third reinvest. */
const asPersons = `
  with held as (select account_id, biz_entity_id from account where account_id = any($1::int[])),
  born as (
    insert into person (first_name, abn, taxation_country_code,
      is_director_of_corporate_trustee, is_pep, is_sophisticated_investor, is_trustee)
    select biz_entity_id::text, case when account_id % 10 > 0 then '51824753556' end, 'AUS',
      false, false, false, false
    from held returning person_id, first_name),
  joined as (
    insert into biz_entity_party (biz_entity_id, person_id, is_primary_contact,
      is_income_receiving, is_signatory, is_authorised_nominee, is_power_of_attorney)
    select first_name::int, person_id, true, true, true, false, false from born),
  paid as (
    insert into payment_detail (biz_entity_id, payment_type_id, bsb, account_number, account_name,
      is_for_deposit, is_for_distribution, is_for_redemption, is_for_other, is_default)
    select biz_entity_id, 1, '062000', '12345678', 'Holder', true, true, true, true, true
    from held)
  update account a set drp_type_id = 2 from held h
  where a.account_id = h.account_id and a.account_id % 3 = 0`

const postings = (accounts: Fund['accounts']) =>
  accounts.map(({ accountID }) => ({
    accountID,
    investmentID: fund.investmentID,
    transactionDate: '2024-01-01',
    quantity: '100',
    amount: '100',
  }))

async function addAccounts() {
  const accounts = await newAccounts(service, fund.productID, count)
  fund.accounts.push(...accounts)
  await rowsOf(service.connection, asPersons, [accounts.map(({ accountID }) => accountID)])
  all(await service.admin.post('/BizTransaction/Allotment', postings(accounts)))
  await rowsOf(service.connection, seemLarge, [growing])
}

const inline = 1_000_000
const stages = [declareDistribution, payDistribution, reinvest] as const

/** Runs all stages, a payment run from its draft to returned payments, and a file of deposits. */
async function payOut(tx: Tx, distribution: Distribution) {
  const which = { ...keyOf(distribution), confirmSecond: true }
  for (const stage of stages) await stage(tx, operator, which, inline)
  const { ids } = await createRun(tx, operator, {
    productID: fund.productID,
    sources: ['Distribution'],
    processingDate: '2025-07-15',
    fundingAccount,
    format: 'ABA',
  })
  const paymentRunID = ids[0]!
  await approveRun(tx, { ...operator, userID: 1 }, paymentRunID)
  await sendRun(tx, operator, paymentRunID)
  const payments = await tx.query<{ paymentID: number }>({
    text: 'select payment_id as "paymentID" from payment where payment_run_id = $1',
    values: [paymentRunID],
  } as never)
  assert.ok(payments.length > fund.accounts.length / 2)
  const told = payments.map((payment) => ({ ...payment, state: 'Returned' as const }))
  await recordResults(tx, operator, { paymentRunID, payments: told })
  const again = await reissue(tx, operator, { paymentRunID })
  await deleteRun(tx, operator, again.ids[0]!)
  const rows = postings(fund.accounts).map((body, line) => ({ line, operation: 'Deposit', body }))
  assert.equal((await postRows(operator, rows)(tx)).refused.size, 0)
}

/** Runs the stages, reverses them one by one, and then pays out for good. */
async function tryThenPayOut(tx: Tx, distribution: Distribution) {
  const which = { ...keyOf(distribution), confirmSecond: true }
  for (const stage of stages) await stage(tx, operator, which, inline)
  for (const fromStatusID of [4, 3, 2] as const)
    await reverseDistribution(tx, operator, { ...which, fromStatusID, reason: 'tried' }, inline)
  await payOut(tx, distribution)
}

/** The most rows that any run of each SQL statement has read of each table. */
function mostOf(readings: readonly Reading[]): Map<string, number> {
  const most = new Map<string, number>()
  for (const { text, table, rows } of readings) {
    const key = `${table} in ${text}`.replaceAll(/\s+/g, ' ')
    most.set(key, Math.max(rows, most.get(key) ?? 0))
  }
  return most
}

/** Rows for each account that may be read additionally, for another plan or for dead rows. */
const anew = 30

const worse = (less: Map<string, number>, more: Map<string, number>, times: number) =>
  [...more].flatMap(([key, rows]) => {
    const before = less.get(key) ?? 0
    return rows > times * before + anew * count ? [`${before} -> ${rows}: ${key}`] : []
  })

describe('In a register of which the planner knows nothing', () => {
  it('money out of the door reads in proportion to the accounts, whatever was before', async () => {
    const reads = async (work: (tx: Tx) => Promise<void>) =>
      mostOf(await readingsOf(database, work, ['force_generic_plan']))
    await addAccounts()
    const few = await reads((tx) => tryThenPayOut(tx, second!))
    await addAccounts()
    const many = await reads((tx) => tryThenPayOut(tx, second!))
    assert.deepEqual(worse(few, many, 2.5), [])
    const later = await reads(async (tx) => {
      await payOut(tx, first!)
      await tryThenPayOut(tx, second!)
    })
    assert.deepEqual(worse(many, later, 1.5), [])
  })
})
