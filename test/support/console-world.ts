import { imported } from './imports.ts'
import { all, only } from './ledger.ts'
import { newRun, paidFund } from './payment-run.ts'
import type { Service } from './service.ts'

/** Fills a registry so that every page of the console shows something; returns ids for the URLs. */
export async function everyKind(service: Service): Promise<Record<string, number>> {
  const { admin } = service
  const { fund, distribution } = await paidFund(service, [100, 200, 300])
  const { productID, investmentID, accounts } = fund
  const { accountID, bizEntityID } = accounts[0]!
  const run = await newRun(admin, fund)
  const own = { productID, accountID, investmentID }
  all(await admin.post('/BizEvent/NoticeOfDeposit', { ...own, amount: 5, transactionDate }))
  only(await admin.post('/Hold', { ...own, all: true, reason: 'Court order', validFrom }))
  only(await admin.post('/Webhook', { url: 'https://example.com/hook' }))
  only(await admin.post('/ApprovalRule', { operation: 'DELETE /Hold' }))
  await admin.delete('/Hold?HoldID=1') // the rule keeps it as an approval that waits
  await admin.post('/Document', { productID, bizEntityID, documentTypeID: 4, name: 'Letter' })
  await admin.post('/Report', { productID, reportTypeID: 3, format: 'csv', date: validFrom })
  const rows = 'investmentID,priceDate,price\n1,not a day,1\n'
  const { importID } = await imported(admin, { type: 'Prices', mode: 'validate' }, rows)
  return {
    product: productID,
    classes: investmentID,
    investors: bizEntityID,
    distributions: distribution.corporateActionID,
    payments: run.paymentRunID,
    import: importID,
  }
}
const validFrom = '2025-07-15'
const transactionDate = validFrom
