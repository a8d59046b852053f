import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Reply } from '../support/client.ts'
import {
  account,
  configure,
  entitled,
  fundOf,
  keyOf,
  stage,
  takeBack,
} from '../support/distribution.ts'
import { assertVerified, type Fund, newFund, only } from '../support/ledger.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { workFor } from '../support/reports.ts'
import { type Service, startService } from '../support/service.ts'

/** Stages over more than two accounts are jobs. */
const env = { REGISTRY_STAGE_INLINE: '2', REGISTRY_DATA_DIR: temporaryFolder() }
let service: Service
before(async () => {
  service = await startService(env)
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})

/** A distribution whose only accounts are listed: none ever held a unit. */
async function declared(amounts: number[]) {
  const fund = await newFund(service, { accounts: amounts.length })
  const distribution = await configure(service, fund, { distributionAmountTotal: 5 })
  const preCalculatedAccounts = fund.accounts.map(({ accountID }, i) => ({
    accountID,
    amount: amounts[i],
  }))
  await stage(service.admin, 'Declare', distribution, { preCalculatedAccounts })
  return { fund, distribution }
}

const removed = ({ status, text }: Reply) => assert.equal(status, 200, text)
const remove = ({ accounts }: Fund, place = 0) =>
  service.admin.delete(`/BizEntity?BizEntityID=${accounts[place]!.bizEntityID}`)

async function removeAccount({ accounts, productID }: Fund) {
  const path = `/BizEntity?BizEntityID=${accounts[0]!.bizEntityID}`
  const entity = only(await service.admin.get(path))
  const bizEntityParties = [{ person: { firstName: 'Ann', lastName: 'Example' } }]
  const instead = { ...entity, bizEntityParties, accounts: [{ productID }] }
  return service.admin.put('/BizEntity', instead)
}

describe('An account that was entitled to a distribution', () => {
  it('is kept as history, also when the declaration is taken back, and is told so', async () => {
    const { fund, distribution } = await declared([5])
    for (const again of [false, true]) {
      if (again) await takeBack(service.admin, distribution, 2)
      for (const reply of [await remove(fund), await removeAccount(fund)]) {
        refused(reply, 409, 'has_entitlements')
        assert.match(reply.message!, /is or was entitled to a distribution/)
      }
    }
  })

  it('with nothing leaves no history', async () => {
    const { fund } = await declared([5, 0])
    removed(await remove(fund, 1))
  })

  it('with nothing leaves no history of a total that is shared by a worker either', async () => {
    const stopWorker = await workFor(service, env)
    try {
      const fund = await fundOf(service, [100, 233, 300, 0])
      const distribution = await configure(service, fund, { distributionAmountTotal: 100 })
      const preCalculatedAccounts = [{ accountID: account(fund, 3), amount: 0.001 }]
      const body = { ...keyOf(distribution), preCalculatedAccounts }
      assert.equal((await service.admin.post('/Distribution/Declare', body)).status, 202)
      await until('it is declared', async () => {
        const { productID, corporateActionID: id } = distribution
        const path = `/Distribution?ProductID=${productID}&CorporateActionID=${id}`
        return only(await service.admin.get(path)).distributionStatusID === 2
      })
      assert.equal((await entitled(service.admin, distribution)).length, 3)
      removed(await remove(fund, 3))
    } finally {
      await stopWorker()
    }
  })
})
