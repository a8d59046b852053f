import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { account, choose, configure, fundOf, stage, takeBack } from '../support/distribution.ts'
import { only, poster } from '../support/ledger.ts'
import { momentOf } from '../support/moment.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

it('Holdings as known between any two steps of distributions are those of then', async () => {
  const { admin } = service
  const fund = await fundOf(service, [100, 60], { investments: [{}, { unitDecimals: 0 }] })
  const accountIDs = [account(fund, 0), account(fund, 1)]
  for (const accountID of accountIDs) await choose(service, accountID, 2)
  const [investmentID, drpInvestmentID] = fund.investmentIDs
  const drp = { drpIndicatorID: 2, drpInvestmentID, drpPrice: 7, distributionAmountPerUnit: 1 }
  const first = await configure(service, fund, drp)
  const later = await configure(service, fund, { ...drp, paymentDate: '2025-07-18' })
  const sold = { accountID: accountIDs[0], investmentID, transactionDate: '2025-07-20' }
  const payout = { investmentID, date: '2025-08-01' }
  let residual: { bizTransactionID: number }

  const steps = [
    () => stage(admin, 'Declare', first),
    () => stage(admin, 'Declare', later),
    () => stage(admin, 'Payment', first),
    () => stage(admin, 'DrpAllotment', first),
    () => takeBack(admin, first, 4),
    () => takeBack(admin, later, 2),
    () => stage(admin, 'DrpAllotment', first),
    () => takeBack(admin, first, 4),
    () => takeBack(admin, first, 3),
    () => takeBack(admin, first, 2),
    () => stage(admin, 'Declare', first),
    () => stage(admin, 'Payment', first),
    () => stage(admin, 'DrpAllotment', first),
    async () => only(await poster(() => admin)('Redemption', { ...sold, quantity: 100 })),
    async () => {
      residual = only(await admin.post('/Distribution/PayResiduals', payout))
    },
    () => admin.put('/BizTransaction/Rollback', residual).then(only),
    async () => only(await admin.post('/Distribution/PayResiduals', payout)),
  ]
  const list = `/BizEntity/Account/Holdings?ProductID=${fund.productID}`
  const days = ['', '2025-07-10', '2025-07-16', '2025-07-19', '2025-07-31', '2025-08-01']
  const questions = days.map((day) => `${list}${day && `&Date=${day}`}`)
  const told = async (question: string) => JSON.stringify((await admin.get(question)).data)

  const answers = new Map<string, string>()
  for (const step of [async () => {}, ...steps]) {
    await step()
    const moment = encodeURIComponent(await momentOf(service.connection))
    for (const question of questions)
      answers.set(`${question}&KnownAt=${moment}`, await told(question))
  }
  const seen = [...answers.values()].join()
  for (const figure of [
    '"drpResidual":2',
    '"distributionEntitlement":60',
    '"distributionsPaid":60',
  ])
    assert.ok(seen.includes(figure), figure)
  for (const [question, text] of answers) assert.equal(await told(question), text, question)
})
