import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { imported, importFor } from '../support/imports.ts'
import { assertVerified, newFund, only, poster } from '../support/ledger.ts'
import { temporaryFolder } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

const env = { REGISTRY_DATA_DIR: temporaryFolder() }
let service: Service
let stop: () => Promise<void>
before(async () => {
  service = await startService(env)
  stop = await importFor(service, env)
})
after(async () => {
  await assertVerified(service)
  await stop()
  await service.stop()
})

const send = poster(() => service.admin)
const day = '2026-01-10'

/** A notice of redemption that is pending again, as the transaction that settled it is undone. */
async function undone() {
  const { investmentID, accounts } = await newFund(service, { accounts: 3 })
  const [own, other, third] = accounts.map(({ accountID }) => ({ accountID, investmentID })) as [
    object,
    object,
    object,
  ]
  for (const account of [own, other, third]) only(await send('Deposit', { ...account, amount: 10 }))
  const notice = { ...own, quantity: 10, transactionDate: day, externalBizTransactionId: 'N' }
  const { bizEventID } = only(await service.admin.post('/BizEvent/NoticeOfRedemption', notice))
  const { bizTransactionID } = only(await send('Redemption', { bizEventID }))
  only(await service.admin.put('/BizTransaction/Rollback', { bizTransactionID }))
  const settling = { operation: 'Redemption', bizEventID }
  return { own, other, third, bizTransactionID, settling }
}

const seen = async (id: number) => ({
  ...only(await service.admin.get(`/BizTransaction?BizTransactionID=${id}`)),
  versions: await rowsOf(
    service.connection,
    `select version, external_biz_transaction_id from biz_transaction_version
    where biz_transaction_id = $1 order by version`,
    [id],
  ),
})

async function goOn(...rows: object[]) {
  const text = rows.map((row) => `${JSON.stringify({ transactionDate: day, ...row })}\n`).join('')
  const terms = { type: 'Transactions', mode: 'continue' }
  const { rowsAccepted, rowsRefused } = await imported(service.admin, terms, text, 'rows.jsonl')
  return [rowsAccepted, rowsRefused]
}

describe('A transaction that was rolled back', () => {
  it('keeps its external id when what would take it over is short of units', async () => {
    const { own, other, bizTransactionID, settling } = await undone()
    only(await send('Redemption', { ...own, quantity: 5 }))
    const before = await seen(bizTransactionID)
    assert.equal(before.externalBizTransactionId, 'N')
    const deposit = { operation: 'Deposit', ...other, amount: 1 }
    assert.deepEqual(await goOn(settling, deposit), [1, 1])
    assert.deepEqual(await seen(bizTransactionID), before)
  })

  it('keeps its external id when what would take it over takes units on hold', async () => {
    const { own, other, bizTransactionID, settling } = await undone()
    only(await service.admin.post('/Hold', { ...own, quantity: 5, reason: 'Charge' }))
    const before = await seen(bizTransactionID)
    const deposit = { operation: 'Deposit', ...other, amount: 1 }
    assert.deepEqual(await goOn(settling, deposit), [1, 1])
    assert.deepEqual(await seen(bizTransactionID), before)
  })

  it('gives its external id up once, whatever else of the list is refused', async () => {
    const { other, third, bizTransactionID, settling } = await undone()
    only(await service.admin.post('/Hold', { ...third, quantity: 5, reason: 'Charge' }))
    const short = { operation: 'Redemption', ...other, quantity: 11 }
    const held = { operation: 'Redemption', ...third, quantity: 6 }
    assert.deepEqual(await goOn(settling, short, held), [1, 2])
    const { externalBizTransactionId, versions } = await seen(bizTransactionID)
    assert.equal(externalBizTransactionId, null)
    assert.deepEqual(versions, [
      { version: 1, external_biz_transaction_id: 'N' },
      { version: 2, external_biz_transaction_id: 'N' },
    ])
  })
})
