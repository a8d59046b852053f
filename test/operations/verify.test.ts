import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { checks } from '../../src/operations/verify/checks.ts'
import { distributionChecks } from '../../src/operations/verify/distribution-checks.ts'
import { paymentChecks } from '../../src/operations/verify/payment-checks.ts'
import { reconciliationChecks } from '../../src/operations/verify/reconciliation-checks.ts'
import { residualChecks } from '../../src/operations/verify/residual-checks.ts'
import { chainCheck, verify } from '../../src/operations/verify/verify.ts'
import { foundAfter } from '../support/corruption.ts'
import { rowsOf, urlOf } from '../support/database.ts'
import { all, assertVerified, newFund, only, poster } from '../support/ledger.ts'
import { runCli, temporaryFolder } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let client: pg.Client
before(async () => {
  service = await startService()
  client = new pg.Client(service.connection)
  await client.connect()
  await live()
})
after(async () => {
  await client.end()
  await service.stop()
})

/** Makes some records of every kind, for the corruptions below. */
async function live() {
  const fund = await newFund(service, { accounts: 2, investments: [{}, {}] })
  const other = await newFund(service)
  const [a, b] = fund.accounts.map(({ accountID }) => accountID)
  const own = { accountID: a, investmentID: fund.investmentID }
  const post = poster(() => service.admin)
  const notice = (kind: string, body: object) =>
    service.admin.post(`/BizEvent/NoticeOf${kind}`, { transactionDate: '2026-01-10', ...body })
  only(await post('Deposit', { ...own, amount: 100, externalBizTransactionId: 'X-1' }))
  only(await post('Deposit', { ...own, amount: 50, externalBizTransactionId: 'X-2' }))
  only(await post('Redemption', { ...own, quantity: 30, transactionDate: '2026-01-12' }))
  const transfer = { investmentID: fund.investmentID, fromAccountID: a, toAccountID: b }
  all(await post('Transfer', { ...transfer, quantity: 10 }))
  const [from, to] = fund.investmentIDs
  const conversion = { accountID: a, fromInvestmentID: from, toInvestmentID: to, quantity: 5 }
  all(await post('Conversion', { ...conversion, conversionFactor: 2 }))
  const { bizTransactionID } = only(await post('Deposit', { ...own, amount: 7 }))
  all(await service.admin.put('/BizTransaction', { bizTransactionID, amount: 8 }))
  all(await service.admin.put('/BizTransaction', { bizTransactionID, comment: 'again' }))
  const gone = only(await post('Deposit', { ...own, amount: 9 }))
  all(
    await service.admin.put('/BizTransaction/Rollback', {
      bizTransactionID: gone.bizTransactionID,
    }),
  )
  const deposit = only(await notice('Deposit', { ...own, amount: 11 }))
  only(await post('Deposit', { bizEventID: deposit.bizEventID }))
  const cancelled = only(await notice('Redemption', { ...own, quantity: 1 }))
  only(await service.admin.put('/BizEvent/Cancel', { bizEventID: cancelled.bizEventID }))
  all(await notice('Conversion', { ...conversion, conversionFactor: 2 }))
  only(
    await post('Deposit', {
      accountID: other.accountID,
      investmentID: other.investmentID,
      amount: 1,
    }),
  )
}

const aHolding = '(select min(account_id) from holding)'
const otherAccount = `(select max(account_id) from account a where a.product_id = 1)`
const ofType = (typeID: number) =>
  `(select min(biz_transaction_id) from biz_transaction where biz_transaction_type_id = ${typeID})`
const spoil = (set: string, which: string) =>
  `update biz_transaction set ${set} where biz_transaction_id = ${which}`
/** Inserts a closing mark for every holding. */
const mark = (figures: string) =>
  `insert into closing_mark select product_id, account_id, investment_id, ${figures} from holding`
const updated = `(select min(biz_transaction_id) from biz_transaction
  where biz_transaction_status_id = 2)`
const rolledBack = `(select min(biz_transaction_id) from biz_transaction
  where biz_transaction_status_id = 3)`

/** The corruptions that each check must find, by the name of the check. */
const corruptions: Record<string, string[]> = {
  'a holding is the sum of its transactions': [
    'update holding set quantity = quantity + 1',
    'update holding set invested_amount = invested_amount - 0.01',
    'delete from holding',
    `insert into holding select 1, ${aHolding}, 2, 0, 0, 0, 0
      on conflict (product_id, account_id, investment_id) do update set quantity = 77`,
  ],
  'cost and realised gain of a holding are those after its last transaction': [
    'update holding set cost_amount = cost_amount + 0.01',
    'update holding set realised_gain = 1 + realised_gain',
  ],
  'closing units and amounts are the running sums of the holding': [
    spoil('closing_quantity = closing_quantity + 1', ofType(1)),
    spoil('closing_amount = 0', ofType(3)),
    spoil("transaction_date = '2020-01-01'", ofType(3)),
    `${mark("'2020-01-01', 1, 0.01, 0, 0")}; ${mark("'2999-01-01', 1, 0, 0, null")}`,
  ],
  'closing cost and gain follow from the first transaction on': [
    spoil('closing_cost = closing_cost + 0.01', ofType(9)),
    spoil('closing_gain = closing_gain - 1', ofType(3)),
    spoil('amount = amount + 1', ofType(1)),
    `${mark("'2020-01-01', 1, 0, 0, 0.01")}; ${mark("'2999-01-01', 1, 0, 0, null")}`,
  ],
  'shifted closings end by the last_date of their account, no cost went along among them': [
    mark("'2020-01-01', 1, 0, 0, 0"),
    mark("'2020-01-01', 1, 1, 0, null"),
    mark("'2020-01-01', 1, 0, -1, null"),
    `${mark("'2020-01-01', 1, 0, 0, 0")}; ${mark("'2026-01-10', 999999, 0, 0, null")}`,
    `insert into closing_mark values (1, 999999, 1, '2020-01-01', 1, 0, 0, null)`,
    mark("'2999-01-01', 1, 0, 0, null"),
  ],
  'a cost that goes along is what left the one holding and what reached the other': [
    spoil('carried_cost = carried_cost + 1', ofType(4)),
    spoil('carried_cost = carried_cost - 1', ofType(5)),
    spoil('carried_cost = null', ofType(5)),
  ],
  'no holding is negative at any point of its history': [
    spoil('quantity = -1000', ofType(3)),
    spoil("transaction_date = '2020-01-01'", ofType(3)),
  ],
  'an account that is closed, itself or with its investor, holds no units': [
    `update account set account_status_id = 3 where account_id = ${aHolding}`,
    `update biz_entity set biz_entity_status_id = 4 where biz_entity_id = (
      select biz_entity_id from account where account_id = ${aHolding})`,
  ],
  'an account with transactions has a row, and none is dated after its last_date': [
    'update ledger_account set last_date = null',
    "update ledger_account set last_date = '2020-01-01'",
    'delete from ledger_account',
  ],
  'what is rolled back has no closings, everything else has them all': [
    spoil('closing_quantity = 1', rolledBack),
    spoil('closing_amount = null', ofType(1)),
    spoil('biz_transaction_status_id = 3', ofType(1)),
  ],
  'units and money have the sign of their type': [
    spoil('quantity = -quantity', ofType(1)),
    spoil('amount = -amount', ofType(3)),
    spoil('quantity = 0', ofType(1)),
    spoil('biz_transaction_type_id = 6, amount = -amount', ofType(1)),
  ],
  'units fit the decimals of the investment, money those of its currency': [
    spoil('quantity = quantity + 0.00001', ofType(1)),
    spoil('amount = amount + 0.001', ofType(1)),
  ],
  'a transfer has two legs: one investment and day, two accounts, opposite figures': [
    spoil('parent_biz_transaction_id = null', ofType(9)),
    spoil('quantity = quantity + 1', ofType(9)),
    spoil('amount = amount + 1', ofType(8)),
    spoil("transaction_date = '2026-01-11'", ofType(9)),
    spoil('biz_transaction_status_id = 3', ofType(8)),
    spoil('investment_id = 2', ofType(9)),
    spoil('account_id = 1', ofType(9)),
    spoil('biz_transaction_type_id = 2', ofType(9)),
    spoil(`biz_transaction_type_id = 9, parent_biz_transaction_id = ${ofType(8)}`, ofType(1)),
  ],
  'a conversion has two legs: one account, day and amount, two investments': [
    spoil('amount = amount + 1', ofType(5)),
    spoil('parent_biz_transaction_id = null', ofType(5)),
    spoil('account_id = 2', ofType(5)),
    spoil('investment_id = 1', ofType(5)),
    spoil('biz_transaction_status_id = 3', ofType(5)),
  ],
  'the units of a conversion follow from its factor or from its price': [
    spoil('quantity = quantity / 5', ofType(4)),
    spoil('quantity = quantity + 1', ofType(5)),
    spoil('conversion_factor = 3', ofType(5)),
    spoil('conversion_factor = null, investment_price = 7', ofType(5)),
  ],
  'account and investment of a transaction are of its product': [
    spoil('product_id = 2', ofType(1)),
    spoil('investment_id = 3', ofType(1)),
    spoil('account_id = 999', ofType(1)),
  ],
  'an external id is one transaction of its product': [
    `drop index biz_transaction_external_id_unique;
      update biz_transaction set external_biz_transaction_id = 'X-1'
      where external_biz_transaction_id = 'X-2'`,
  ],
  'a completed notice and its transaction name each other and agree; no other names one': [
    `update biz_event set account_id = ${otherAccount} where biz_event_status_id = 2`,
    `update biz_event set investment_id = investment_id + 1 where biz_event_status_id = 2`,
    'update biz_event set biz_event_type_id = 2 where biz_event_status_id = 2',
    'update biz_event set biz_event_status_id = 1 where biz_event_status_id = 2',
    'update biz_event set parent_biz_transaction_id = 1 where biz_event_status_id = 3',
    'update biz_event set parent_biz_transaction_id = null where biz_event_status_id = 2',
    'update biz_event set parent_biz_transaction_id = 1 where biz_event_status_id = 2',
    'update biz_transaction set biz_event_id = null',
    spoil('biz_event_id = 999', ofType(3)),
  ],
  'the two notices of a conversion have one account, day and status, two investments': [
    'update biz_event set biz_event_status_id = 3 where biz_event_type_id = 3',
    'update biz_event set account_id = 2 where biz_event_type_id = 3',
    'update biz_event set parent_biz_event_id = null where biz_event_type_id = 3',
    'update biz_event set parent_biz_event_id = 999 where biz_event_type_id = 3',
    "update biz_event set biz_event_date = '2026-01-11' where biz_event_type_id = 3",
    'update biz_event set investment_id = 1 where biz_event_type_id = 3',
  ],
  'account and investment of a notice are of its product': [
    `alter table biz_event drop constraint account_has_events;
      update biz_event set account_id = 3`,
    `alter table biz_event drop constraint investment_has_events;
      update biz_event set investment_id = 3`,
  ],
  'every transaction that a request posted is in the audit trail': [
    "delete from audit where operation = 'POST /BizTransaction/Transfer'",
    "delete from audit where operation = 'POST /BizTransaction/Redemption'",
  ],
  'versions of a transaction follow each other without a gap up to the present one': [
    'delete from biz_transaction_version where version = 1',
    'delete from biz_transaction_version where version = 2',
    'update biz_transaction_version set version = 5 where version = 2',
    "update biz_transaction_version set valid_to = valid_to + interval '1 second'",
    "update biz_transaction_version set valid_from = valid_from - interval '1 second'",
    spoil("updated_date = now() + interval '1 hour'", updated),
    spoil('biz_transaction_status_id = 1', updated),
    spoil('biz_transaction_status_id = 2', ofType(1)),
  ],
}

/** Drops constraints: a check must also find what a constraint would refuse. */
const withoutConstraints = `
  alter table holding drop constraint holding_not_negative;`

describe('A register that is right', () => {
  it('passes every check', () => assertVerified(service))
})

describe('verify finds it when it does not hold that', () => {
  for (const { name, violations } of checks)
    it(name, async () => {
      assert.ok(corruptions[name]?.length, 'the test knows a way to break it')
      for (const corruption of corruptions[name]!)
        assert.ok(
          (await foundAfter(client, withoutConstraints + corruption, violations)) > 0,
          corruption,
        )
    })
})

describe('The ways to break the register', () => {
  it('are known for every check of verify, here or in the tests of its other lists', async () => {
    const made = (await verify(service.connection)).map(({ name }) => name)
    assert.deepEqual(
      made.filter((name) => !(name in corruptions)),
      [
        ...[
          ...distributionChecks,
          ...residualChecks,
          ...paymentChecks,
          ...reconciliationChecks,
        ].map(({ name }) => name),
        chainCheck,
      ],
    )
  })

  it('are of checks that there are', () => {
    assert.deepEqual(
      Object.keys(corruptions),
      checks.map(({ name }) => name),
    )
  })
})

describe('npm run cli -- verify', () => {
  const env = () => ({
    DATABASE_URL: urlOf(service.connection),
    REGISTRY_DATA_DIR: temporaryFolder(),
  })

  it('tells what it checked and how many rows, and ends well where nothing is wrong', async () => {
    const { code, output, errors } = await runCli(['verify'], env())
    assert.equal(code, 0, output + errors)
    for (const { name } of checks) assert.ok(output.includes(name), name)
    assert.match(output, /ok +a holding is the sum of its transactions \(\d+ rows\)/)
    assert.match(output, /nothing found\.\n$/)
  })

  it('shows some of the rows that are wrong, and fails', async () => {
    const alter = (by: string) =>
      rowsOf(service.connection, `update holding set quantity = quantity ${by}`)
    await alter('+ 1')
    const { code, output } = await runCli(['verify'], env())
    await alter('- 1')
    assert.equal(code, 1)
    assert.match(output, /WRONG +a holding is the sum of its transactions \(4 rows, 4 wrong\)/)
    assert.match(output, /"should_be":/)
    assert.match(output, /4 rows found/)
  })
})
