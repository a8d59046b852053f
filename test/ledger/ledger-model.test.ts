import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import fc from 'fast-check'
import { parseJson } from '../../src/platform/shape/json.ts'
import type { Reply } from '../support/client.ts'
import { dec, shown } from '../support/decimals.ts'
import {
  type Account,
  assertVerified,
  newAccounts,
  newInvestment,
  newPrice,
  newProduct,
} from '../support/ledger.ts'
import { modelOf } from '../support/ledger-model.ts'
import { days, investments, type Operation, operation } from '../support/ledger-operations.ts'
import type { Answer, Body, Tx } from '../support/ledger-types.ts'
import { type Service, startService } from '../support/service.ts'

/**
 * Random histories of all operations, through HTTP, against a model that is a plain list. Runs for
 * a set time; REGISTRY_LEDGER_SECONDS makes it longer, REGISTRY_LEDGER_SEED repeats a run.
 */
const { REGISTRY_LEDGER_SECONDS = '30', REGISTRY_LEDGER_SEED } = process.env
const seed = Number(REGISTRY_LEDGER_SEED ?? Math.floor(Math.random() * 2 ** 31))

let service: Service
let productID: number
let investmentIDs: number[]
const spare: Account[] = []
before(async () => {
  service = await startService()
  ;({ productID } = await newProduct(service))
  investmentIDs = []
  for (const { units, currency, prices } of investments) {
    const more = { unitDecimals: units, currencyID: currency }
    const { investmentID } = await newInvestment(service, productID, more)
    investmentIDs.push(investmentID)
    for (const { date, price, application, redemption } of prices)
      await newPrice(service, investmentID, date, price, {
        applicationPrice: application,
        redemptionPrice: redemption,
      })
  }
})
after(() => service.stop())

async function takeAccounts(count: number): Promise<Account[]> {
  if (spare.length < count) spare.push(...(await newAccounts(service, productID, 600)))
  return spare.splice(0, count)
}

let operations = 0
let refusals = 0

/** One history on accounts of its own, compared at every step; what it should have come to. */
async function play(history: Operation[]) {
  const accounts = await takeAccounts(2)
  const model = modelOf(investments)
  /** The id of each transaction of the model. */
  const ids: number[] = []
  const accountID = (n: number) => accounts[n]!.accountID
  const unique = (external: string | undefined) => external && `${external}-${accountID(0)}`
  const { post, put } = service.admin

  for (const step of history) {
    const done = await run(step)
    if (!done) continue
    const [reply, expected] = done
    operations++
    if ('status' in expected) refusals++
    compare(step, reply, expected)
  }
  return { accounts, transactions, holdings }

  async function run(step: Operation): Promise<[Reply, Answer] | undefined> {
    const known = model.transactions()
    const base = ({ date, external, ...rest }: Body) => ({
      ...rest,
      transactionDate: date,
      externalBizTransactionId: unique(external),
    })
    switch (step.kind) {
      case 'RedeemAll': {
        const { account: n, investment: i, date } = step
        const quantity = shown(model.held(n, i))
        if (quantity === '0') return undefined
        const item = { account: n, investment: i, body: { date, quantity } }
        return run({ kind: 'Redemption', typeID: 3, items: [item] })
      }
      case 'Transfer': {
        const { investment: i, body } = step
        const [from, to] = step.ends
        const ends = { fromAccountID: accountID(from), toAccountID: accountID(to) }
        const sent = { ...base(body), ...ends, investmentID: investmentIDs[i] }
        return [await post('/BizTransaction/Transfer', sent), model.transfer(from, to, i, body)]
      }
      case 'Conversion': {
        const { factor, toPrice } = step
        const [from, to] = step.ends
        const { investmentPrice, ...body } = step.body
        const more = {
          fromInvestmentPrice: investmentPrice,
          toInvestmentPrice: toPrice,
          conversionFactor: factor,
        }
        const sent = {
          ...base(body),
          ...more,
          accountID: accountID(step.account),
          fromInvestmentID: investmentIDs[from],
          toInvestmentID: investmentIDs[to],
        }
        const reply = await post('/BizTransaction/Conversion', sent)
        return [reply, model.convert(step.account, from, to, { ...body, ...more })]
      }
      case 'Update': {
        if (known.length === 0) return undefined
        const n = step.which % known.length
        const out = known[n]!.quantity < 0n !== Boolean(step.wrongSign)
        const sign = (value: string | undefined) => (value && out ? `-${value}` : value)
        const { quantity, amount, ...rest } = step.body
        const taken = known.some(
          (tx) => tx.n !== n && rest.external && tx.external === rest.external,
        )
        const body = {
          ...rest,
          quantity: sign(quantity),
          amount: sign(amount),
          external: taken ? undefined : rest.external,
        }
        const reply = await put('/BizTransaction', { ...base(body), bizTransactionID: ids[n] })
        return [reply, model.update(n, body)]
      }
      case 'Rollback': {
        if (known.length === 0) return undefined
        const which = step.which.map((n) => n % known.length)
        const sent = { bizTransactionIDs: which.map((n) => ids[n]) }
        return [await put('/BizTransaction/Rollback', sent), model.rollBack(which)]
      }
      default: {
        const { kind, typeID, items } = step
        const sent = items.map((item) => ({
          ...base(item.body),
          accountID: accountID(item.account),
          investmentID: investmentIDs[item.investment],
        }))
        const reply = await post(`/BizTransaction/${kind}`, sent.length > 1 ? sent : sent[0])
        const same = kind === 'SetQuantity' ? model.setQuantity(items) : model.single(typeID, items)
        return [reply, same]
      }
    }
  }

  function compare(step: Operation, reply: Reply, expected: Answer) {
    const said = `${JSON.stringify(step)} → ${reply.text}`
    if ('status' in expected) {
      assert.equal(reply.status, expected.status, said)
      const told = [...reply.message!.matchAll(/short by \S+ units on [\d-]+/g)].map(([one]) => one)
      if (expected.short)
        assert.deepEqual([...new Set(told)].sort(), [...new Set(expected.short)], said)
      return
    }
    assert.equal(reply.status, 200, said)
    const rows = dataOf(reply)
    assert.equal(rows.length, expected.rows.length, said)
    for (const [i, tx] of expected.rows.entries()) {
      ids[tx.n] ??= Number(rows[i]!.bizTransactionID)
      assert.deepEqual(seen(rows[i]!), wanted(tx), said)
    }
  }

  function wanted(tx: Tx) {
    return {
      id: ids[tx.n],
      type: tx.typeID,
      account: accountID(tx.account),
      investment: investmentIDs[tx.investment],
      date: `${tx.date}T00:00:00Z`,
      quantity: shown(tx.quantity),
      amount: shown(tx.amount),
      price: tx.price === undefined ? null : shown(tx.price),
      status: tx.statusID,
      parent: tx.parent === undefined ? null : ids[tx.parent],
      external: unique(tx.external) ?? null,
      comment: tx.comment ?? null,
    }
  }

  function transactions() {
    const closings = new Map(model.history().map((line) => [line.tx.n, line]))
    return model.transactions().map((tx) => {
      const line = closings.get(tx.n)
      const figures = line && [
        line.own.quantity,
        line.own.invested,
        line.accountQuantity,
        line.accountInvested,
      ]
      return { ...wanted(tx), closings: figures?.map(shown) ?? [null, null, null, null] }
    })
  }

  function holdings(day: string) {
    return [...model.holdings(day)].map(([key, { quantity, cost, gain }]) => {
      const [n, i] = key.split(' ').map(Number) as [number, number]
      return [accountID(n), investmentIDs[i]!, ...[quantity, cost, gain].map(shown)]
    })
  }
}

type Game = Awaited<ReturnType<typeof play>>

/** The accounts of several histories as a whole: every closing, every holding on every day. */
async function compareEnds(games: Game[]) {
  const ids = games.flatMap(({ accounts }) => accounts.map(({ accountID }) => accountID))
  const query = `AccountID.in=${ids}&PageSize=1000`
  await compareTransactions(games, query)
  for (const day of [...days, '2026-03-04', '2026-02-01', undefined]) {
    const asAt = day ? `&Date=${day}` : ''
    const reply = await service.admin.get(`/BizEntity/Account/Holdings?${query}${asAt}`)
    const got = dataOf(reply).map((row) => [
      Number(row.accountID),
      Number(row.investmentID),
      ...[row.quantity, row.costAmount, row.realisedGain].map((value) => shown(dec(value))),
    ])
    const expected = games.flatMap(({ holdings }) => holdings(day ?? '9999-12-31'))
    const inOrder = (a: unknown[], b: unknown[]) =>
      Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1])
    assert.deepEqual(got, expected.sort(inOrder), `as at ${day}`)
  }
}

async function compareTransactions(games: Game[], query: string) {
  const rows: Record<string, unknown>[] = []
  for (let page = 1; rows.length === (page - 1) * 1000; page++) {
    const at = `/BizTransaction?ShowClosing=true&${query}&PageNumber=${page}`
    rows.push(...dataOf(await service.admin.get(at)))
  }
  const got = rows.map((row) => ({
    ...seen(row),
    closings: [
      row.transactionClosingQuantity,
      row.transactionClosingAmount,
      row.accountClosingQuantity,
      row.accountClosingAmount,
    ].map((value) => (value === null ? null : shown(dec(value)))),
  }))
  const expected = games.flatMap(({ transactions }) => transactions())
  assert.deepEqual(
    got,
    expected.sort((a, b) => a.id! - b.id!),
  )
}

/** The records of an answer, numbers as they were written. */
function dataOf({ text }: Reply): Record<string, unknown>[] {
  return (parseJson(text) as { data: Record<string, unknown>[] }).data
}

const seen = (row: Record<string, unknown>) => ({
  id: Number(row.bizTransactionID),
  type: row.bizTransactionTypeID,
  account: row.accountID,
  investment: row.investmentID,
  date: row.transactionDate,
  quantity: shown(dec(row.quantity)),
  amount: shown(dec(row.amount)),
  price: row.investmentPrice === null ? null : shown(dec(row.investmentPrice)),
  status: row.bizTransactionStatusID,
  parent: row.parentBizTransactionID,
  external: row.externalBizTransactionId,
  comment: row.comment,
})

it('agrees with a plain model after any history of any operations', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const histories = fc.array(fc.array(operation, { minLength: 1, maxLength: 40, size: 'max' }), {
    minLength: 1,
    maxLength: 20,
    size: 'max',
  })
  const agrees = fc.asyncProperty(histories, async (some) => {
    await compareEnds(await Promise.all(some.map(play)))
  })
  // One run at a time: an interrupted first run would count as a failure on a slow machine.
  const end = Date.now() + Number(REGISTRY_LEDGER_SECONDS) * 1000
  for (let run = 0; run === 0 || Date.now() < end; run++)
    await fc.assert(agrees, {
      seed: seed + run,
      numRuns: 1,
      includeErrorInReport: true,
      interruptAfterTimeLimit: 150_000,
    })
  t.diagnostic(`${operations} operations, ${refusals} of them refused`)
  await assertVerified(service)
})
