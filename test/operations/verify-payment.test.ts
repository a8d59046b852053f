import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { paymentChecks } from '../../src/operations/verify/payment-checks.ts'
import { reconciliationChecks } from '../../src/operations/verify/reconciliation-checks.ts'
import { foundAfter } from '../support/corruption.ts'
import { account, configure, stage } from '../support/distribution.ts'
import { assertVerified, only } from '../support/ledger.ts'
import { mend, newRun, paidFund, paymentsOf, payOut, step } from '../support/payment-run.ts'
import { type Service, startService } from '../support/service.ts'
import { investor, taxingFund, unquoted } from '../support/withholding.ts'

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

/** Makes payment runs in every state, one of them with a payment returned and reissued. */
async function live() {
  const approver = await service.userWith({ role: 'Administrator' })
  const { fund } = await paidFund(service, [100, 200, 300])
  await mend(service, account(fund, 2), "bsb = '000000'")
  const run = await newRun(service.admin, fund)
  await step(approver, 'Approve', run)
  await step(service.admin, 'Sent', run)
  const payments = (await paymentsOf(service.admin, run)).map(
    ({ paymentID }: { paymentID: number }, i: number) => ({
      paymentID,
      state: i === 0 ? 'Paid' : 'Returned',
    }),
  )
  await step(service.admin, 'Result', run, { payments })
  only(await service.admin.post('/PaymentRun/Reissue', { paymentRunID: run.paymentRunID }))
  await payOut(service, fund)
  await step(approver, 'Approve', await newRun(service.admin, fund))
  await payOut(service, fund)
  await newRun(service.admin, fund)
  await tax()
}

/** Makes a payment with withheld tax. */
async function tax() {
  const fund = await taxingFund(service)
  await investor(service, fund, [unquoted])
  const distribution = await configure(service, fund, { distributionAmountPerUnit: 1 })
  for (const name of ['Declare', 'Payment'] as const) await stage(service.admin, name, distribution)
}

const one = (state: string) => `payment_run_id = (
  select min(payment_run_id) from payment_run where state = '${state}')`

/** The corruptions that each check must find, by the name of the check. */
const corruptions: Record<string, string[]> = {
  'a payment is the sum of what it is made of, unless that was paid again since': [
    'update payment set amount = amount + 0.01',
    'update payment set tax_amount = tax_amount + 1',
    'update payment_item set amount = amount - 0.01',
    `delete from payment_item where ${one('Approved')}`,
    `update payment set state = 'Reissued' where ${one('Draft')}`,
    `update payment set state = 'Returned' where state = 'Reissued'`,
    'update payment_item set payment_run_id = payment_run_id + 1',
  ],
  'what a run pays is a transaction that counts: same account, same money, same tax': [
    'update payment_item set tax_amount = tax_amount + 1',
    'update entitlement set tax_amount = tax_amount + 1, gross_amount = gross_amount + 1',
    `update biz_transaction set amount = amount + 1 where biz_transaction_type_id = 10`,
    `update biz_transaction set biz_transaction_status_id = 3 where biz_transaction_type_id = 10`,
    'update payment set account_id = account_id + 1',
    `delete from biz_transaction where biz_transaction_type_id = 10`,
  ],
  'payments and their run are at states that go together, and two people were there': [
    `update payment set state = 'Paid' where ${one('Approved')}`,
    `update payment_run set state = 'Closed' where ${one('Approved')}`,
    `update payment_run set approved_by_user_id = null where ${one('Approved')}`,
    `update payment set state = 'Pending' where state = 'Paid'`,
  ],
  'the files of an approved run pay what its payments come to, byte for byte as kept': [
    'update payment_run_file set amount = amount + 0.01',
    'update payment_run_file set payment_count = payment_count + 1',
    `update payment_run_file set content = content || '\\x20'::bytea`,
    'delete from payment_run_file',
    `update payment_run set state = 'Draft' where ${one('Approved')}`,
  ],
  'what a distribution declared is what its accounts are entitled to': [
    'update distribution set declared_amount = declared_amount + 0.01',
    'delete from entitlement where account_id = (select min(account_id) from entitlement)',
  ],
  'what accounts are entitled to is tax, reinvested money and cash, in total': [
    `alter table entitlement drop constraint entitlement_splits;
      update entitlement set cash_amount = cash_amount - 0.01`,
  ],
  'the tax of a distribution is what was posted as such, in total': [
    'update biz_transaction set amount = amount + 1 where biz_transaction_type_id = 12',
    'delete from biz_transaction where biz_transaction_type_id = 12',
  ],
  'the cash of a distribution is in runs, among exceptions, or not yet in a run': [
    'update payment_item set amount = amount + 0.01',
    `update biz_transaction set amount = amount + 1 where biz_transaction_type_id = 10
      and biz_transaction_id not in (select biz_transaction_id from payment_item)`,
    `update biz_transaction set biz_transaction_status_id = 3 where biz_transaction_type_id = 10`,
  ],
  'a run pays what its transactions come to, and what was reissued since': [
    'update payment_item set amount = amount - 0.01',
    'delete from payment_item',
    'update payment set amount = amount + 0.01',
  ],
  'the files of a run come to what it pays': [
    'update payment_run_file set amount = amount + 0.01',
    `delete from payment_run_file where ${one('Approved')}`,
  ],
  'the results of a run, and those awaited, come to what its files pay': [
    `alter table payment drop constraint payment_state;
      update payment set state = 'Lost' where state = 'Paid'`,
    `delete from payment_item; delete from payment where state = 'Paid'`,
  ],
}

describe('Payment runs that are right', () => {
  it('pass every check', () => assertVerified(service))
})

describe('verify finds it when it does not hold that', () => {
  for (const { name, violations } of [...paymentChecks, ...reconciliationChecks])
    it(name, async () => {
      assert.ok(corruptions[name]?.length, 'the test knows a way to break it')
      for (const corruption of corruptions[name]!)
        assert.ok((await foundAfter(client, corruption, violations)) > 0, corruption)
    })
})
