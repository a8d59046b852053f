import assert from 'node:assert/strict'
import type { Client } from './client.ts'
import { rowsOf } from './database.ts'
import { configure, fundOf, newPaymentDetail, stage } from './distribution.ts'
import { type Fund, only } from './ledger.ts'
import { made } from './registry.ts'
import type { Service } from './service.ts'

export const fundingAccount = {
  bsb: '033-088',
  accountNumber: '987654',
  accountName: 'Example Fund Dist Account',
  bankCode: 'WBC',
  userID: '301500',
  remitterName: 'Example Fund',
}

/** A fund whose holders each have a bank account, and a paid distribution of 1 a unit. */
export async function paidFund(service: Service, units: number[]) {
  const fund = await fundOf(service, units)
  for (const { accountID } of fund.accounts) await newPaymentDetail(service, accountID)
  const distribution = await payOut(service, fund)
  return { fund, distribution }
}

export async function payOut(service: Pick<Service, 'admin'>, fund: Fund, perUnit = 1) {
  const distribution = await configure(service, fund, { distributionAmountPerUnit: perUnit })
  await stage(service.admin, 'Declare', distribution)
  await stage(service.admin, 'Payment', distribution)
  return distribution
}

export const runBody = ({ productID }: { productID: number }, more: object = {}) => ({
  productID,
  sources: ['Distribution', 'Redemption', 'Residual'],
  processingDate: '2025-07-15',
  fundingAccount,
  format: 'ABA',
  ...more,
})

export const newRun = (client: Client, fund: { productID: number }, more: object = {}) =>
  made(client, '/PaymentRun', runBody(fund, more))

export const step = async (
  client: Client,
  name: string,
  run: { paymentRunID: number },
  more = {},
) => only(await client.post(`/PaymentRun/${name}`, { paymentRunID: run.paymentRunID, ...more }))

export async function paymentsOf(client: Client, { paymentRunID }: { paymentRunID: number }) {
  const reply = await client.get(`/PaymentRun/Payment?PaymentRunID=${paymentRunID}&PageSize=1000`)
  assert.equal(reply.status, 200, reply.text)
  return reply.data
}

/** Changes the bank accounts of an account's entity, straight in the database. */
export const mend = ({ connection }: Pick<Service, 'connection'>, accountID: number, set: string) =>
  rowsOf(
    connection,
    `update payment_detail set ${set} where biz_entity_id = (
      select biz_entity_id from account where account_id = $1)`,
    [accountID],
  )
