import { paidOn, recordDates } from './distributions.ts'
import type { Made, Perform } from './perform.ts'
import { manager, type ProductPlan } from './plan.ts'
import type { Days } from './prices.ts'

type Key = { paymentRunID: number }
export type People = { maker: Made; approver: Made }

/** The largest page of an answer: more payments than any of the runs has. */
const most = 1000

/**
 * Makes the payment runs of a product: one with results, for all distributions paid before the
 * latest paid one; one that was sent and had one payment returned, for the latest; and a draft for
 * redemptions, which waits for approval.
 */
export async function payByBank(
  perform: Perform,
  plan: ProductPlan,
  productID: number,
  { maker, approver }: People,
  days: Days,
) {
  const [as, by] = [{ as: maker }, { as: approver }]
  const order = (sources: string[], upToDate: string) => ({
    productID,
    sources,
    upToDate,
    processingDate: upToDate,
    format: 'ABA',
    balanced: true,
    fundingAccount: {
      bsb: '033-088',
      accountNumber: '987654',
      accountName: `${plan.externalProductId} Distributions`,
      bankCode: 'WBC',
      userID: '301500',
      remitterName: manager,
    },
  })
  const send = async (upToDate: string) => {
    const [run] = await perform.do('POST /PaymentRun', order(['Distribution'], upToDate), as)
    const key: Key = { paymentRunID: run!.paymentRunID! }
    await perform.do('POST /PaymentRun/Approve', key, by)
    await perform.do('POST /PaymentRun/Sent', key, as)
    return key
  }
  const paymentsOf = ({ paymentRunID }: Key) =>
    perform.read('GET /PaymentRun/Payment', { PaymentRunID: paymentRunID, PageSize: most })
  // The last distribution is only configured, and the one before it is the latest paid one.
  const settled = await send(paidOn(recordDates(plan, days).at(-3)!))
  const paid = (await paymentsOf(settled)).map(({ paymentID }) => ({ paymentID, state: 'Paid' }))
  await perform.do('POST /PaymentRun/Result', { ...settled, payments: paid }, as)
  const sent = await send(days.to)
  const [first] = await paymentsOf(sent)
  const returned = { paymentID: first!.paymentID, state: 'Returned', reason: 'Account closed' }
  await perform.do('POST /PaymentRun/Result', { ...sent, payments: [returned] }, as)
  await perform.do('POST /PaymentRun', order(['Redemption'], days.to), as)
}
