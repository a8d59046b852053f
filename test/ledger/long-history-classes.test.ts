import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { freshDatabase, rowsOf } from '../support/database.ts'
import { all, assertVerified, newFund, only, poster } from '../support/ledger.ts'
import { shortAsLong } from '../support/ledger-histories.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
before(async () => {
  const connection = await freshDatabase()
  await shortAsLong(connection, 2)
  service = await startService({}, connection)
})
after(() => service.stop())

const send = poster(() => service.admin)

/**
 * An account with two classes. `long` has deposits from February to June and in December; a later
 * posting into January shifts all their closing figures. The other class has one deposit, in
 * January.
 */
async function twoClasses() {
  const { accountID, investmentIDs } = await newFund(service, { investments: [{}, {}] })
  const [long, other] = investmentIDs as [number, number]
  const deposit = async (investmentID: number, transactionDate: string, amount: number) =>
    only(await send('Deposit', { accountID, investmentID, transactionDate, amount }))
      .bizTransactionID as number
  const rollBack = async (...bizTransactionIDs: number[]) =>
    all(await service.admin.put('/BizTransaction/Rollback', { bizTransactionIDs }))
  const held = async (date: string) => {
    const query = `AccountID=${accountID}&InvestmentID=${long}&Date=${date}`
    const [one] = all(await service.admin.get(`/BizEntity/Account/Holdings?${query}`))
    return [one.quantity, one.costAmount]
  }
  const ofOther = await deposit(other, '2025-01-15', 50)
  for (const month of ['02', '03', '04', '05', '06']) await deposit(long, `2025-${month}-01`, 100)
  const last = await deposit(long, '2025-12-01', 100)
  await deposit(long, '2025-01-20', 7)
  assert.deepEqual(await held('2025-12-31'), [607, 607])
  return { accountID, deposit, rollBack, held, long, last, ofOther }
}

type Classes = Awaited<ReturnType<typeof twoClasses>>

/** Posts in July, after the December deposit was rolled back, and checks the holdings. */
async function goesOn({ deposit, held, long }: Classes) {
  await deposit(long, '2025-07-01', 30)
  for (const [date, units] of [
    ['2025-06-30', 507],
    ['2025-07-01', 537],
    ['2025-11-30', 537],
    ['2025-12-31', 537],
  ] as const)
    assert.deepEqual(await held(date), [units, units], date)
  await assertVerified(service)
}

describe('A long history whose last transaction is rolled back', () => {
  it('goes on before its day after another class of the account has changed', async () => {
    const classes = await twoClasses()
    await classes.rollBack(classes.last)
    await classes.rollBack(classes.ofOther)
    await goesOn(classes)
  })

  it('goes on before its day where both are rolled back at once', async () => {
    const classes = await twoClasses()
    await classes.rollBack(classes.last, classes.ofOther)
    await goesOn(classes)
  })

  it('is put right by the upgrade where it went on so before, or would have', async () => {
    const before = [await twoClasses(), await twoClasses()] as const
    for (const { accountID, last, rollBack } of before) {
      await rollBack(last)
      await rowsOf(
        service.connection,
        "update ledger_account set last_date = '2025-06-01' where account_id = $1",
        [accountID],
      )
    }
    const [wrong, still] = before
    await wrong.deposit(wrong.long, '2025-07-01', 30)
    assert.deepEqual(await wrong.held('2025-07-01'), [544, 544])
    await rowsOf(
      service.connection,
      readFileSync('migrations/0073-closings-shifted-too-far.sql', 'utf8'),
    )
    assert.deepEqual(await wrong.held('2025-07-01'), [537, 537])
    await goesOn(still)
  })
})
