import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { account, configure, fundOf, newPaymentDetail, stage } from '../support/distribution.ts'
import { mend, newRun, paymentsOf, step } from '../support/payment-run.ts'
import { temporaryFolder } from '../support/process.ts'
import { fileOf, workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let approver: Client
let stopWorker: () => Promise<void>
const env = { REGISTRY_DATA_DIR: temporaryFolder() }
before(async () => {
  service = await startService(env)
  approver = await service.userWith({ role: 'Administrator' })
  stopWorker = await workFor(service, env)
})
after(async () => {
  await stopWorker()
  await service.stop()
})

type Run = { paymentRunID: number }
type Payment = { paymentID: number; reference: string; amount: number }

async function sent(run: Run): Promise<Payment[]> {
  await step(approver, 'Approve', run)
  await step(service.admin, 'Sent', run)
  return paymentsOf(service.admin, run)
}

const back = { state: 'Returned', reason: 'Closed' }

/** A run with three payments to three bank accounts of one investor, which all came back. */
async function threeReturned() {
  const fund = await fundOf(service, [10])
  const accountID = account(fund, 0)
  await newPaymentDetail(service, accountID)
  for (const perUnit of [1, 2, 3]) {
    await mend(service, accountID, `account_number = '1234567${perUnit}'`)
    const dates = { recordDate: `2025-0${perUnit}-28`, paymentDate: `2025-0${perUnit + 1}-15` }
    const one = await configure(service, fund, { distributionAmountPerUnit: perUnit, ...dates })
    for (const name of ['Declare', 'Payment'] as const) await stage(service.admin, name, one)
  }
  // Without bank details of now, each is paid to the account that was copied to it.
  await mend(service, accountID, 'is_for_distribution = false')
  const run = await newRun(service.admin, fund)
  await mend(service, accountID, 'is_for_distribution = true')
  const returned = await sent(run)
  const payments = returned.map(({ paymentID }) => ({ ...back, paymentID, date: '2025-07-20' }))
  await step(service.admin, 'Result', run, { payments })
  return { fund, run, returned }
}

/** Sends payments again, as one, and tells its result. */
async function sendAgain(run: Run, payments: Payment[], result: object) {
  const paymentIDs = payments.map(({ paymentID }) => paymentID)
  const next = await step(service.admin, 'Reissue', run, { paymentIDs })
  const [payment, ...others] = await sent(next)
  assert.deepEqual(others, [])
  const { paymentID } = payment!
  await step(service.admin, 'Result', next, { payments: [{ paymentID, ...result }] })
  return { next, payment: payment! }
}

const shown = (payments: Payment[]) => payments.map(({ reference, amount }) => [reference, amount])

it('Unclaimed money has each payment until it went out again, alone or with others', async () => {
  const { fund, run, returned } = await threeReturned()
  const asAt = async (date: string) => {
    const body = { reportTypeID: 11, productID: fund.productID, date, format: 'json' }
    return shown(JSON.parse((await fileOf(service.admin, body)).toString()).rows)
  }
  assert.deepEqual(await asAt('2025-07-30'), shown(returned))
  const [first, ...rest] = returned
  await sendAgain(run, [first!], { state: 'Paid', date: '2025-08-01' })
  const joined = await sendAgain(run, rest, { ...back, date: '2025-09-01' })
  assert.deepEqual(await asAt('2025-08-15'), shown(rest))
  await sendAgain(joined.next, [joined.payment], { state: 'Paid', date: '2025-10-01' })
  assert.deepEqual(await asAt('2025-07-30'), shown(returned))
  assert.deepEqual(await asAt('2025-08-15'), shown(rest))
  assert.deepEqual(await asAt('2025-09-15'), shown([joined.payment]))
  assert.deepEqual(await asAt('2025-10-15'), [])
})
