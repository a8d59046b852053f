import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import fc from 'fast-check'
import { readConfig } from '../../src/config.ts'
import { foldClosings } from '../../src/ledger/biz-transaction/fold.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import { parseJson } from '../../src/platform/shape/json.ts'
import type { Database } from '../../src/platform/sql/handle.ts'
import type { Reply } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { dec, shown } from '../support/decimals.ts'
import {
  type Account,
  assertVerified,
  newAccounts,
  newInvestment,
  newPrice,
  newProduct,
} from '../support/ledger.ts'
import { shortAsLong } from '../support/ledger-histories.ts'
import { modelOf } from '../support/ledger-model.ts'
import {
  days,
  investments,
  moments,
  type Operation,
  operation,
  worthOf,
  zones,
} from '../support/ledger-operations.ts'
import { type Answer, type Body, closed, type Tx } from '../support/ledger-types.ts'
import { type Service, startService } from '../support/service.ts'
import { walks } from '../support/walks.ts'

/**
 * Random histories of all operations over HTTP, compared with a model that is a plain list. They
 * run for a set time; `npm run test:walks` makes it longer, REGISTRY_LEDGER_SEED repeats a run.
 */
const { REGISTRY_LEDGER_SECONDS = 20 * walks, REGISTRY_LEDGER_SEED } = process.env
const seed = Number(REGISTRY_LEDGER_SEED ?? Math.floor(Math.random() * 2 ** 31))

let service: Service
let database: Database

/** Folds the marks of long histories as maintenance does, in the smallest pieces. */
async function foldSome() {
  for (let piece = 0; piece < 20; piece++)
    await database.transaction((tx) => foldClosings(tx, { enough: 1, rows: 2 }))
}
let productID: number
let investmentIDs: number[]
const spare: Account[] = []
before(async () => {
  const connection = await freshDatabase()
  await shortAsLong(connection, [0, 1, 2, 5][seed % 4])
  service = await startService({}, connection)
  database = connect(readConfig({}), connection, createLog('silent'))
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
after(async () => {
  await database.close()
  await service.stop()
})

/** The product's settings in one run: its time zone, and the day up to which it is locked. */
type Terms = { timeZone: string; lockedDate: string | null }

async function setTerms(terms: Terms) {
  const [product] = (await service.admin.get(`/Product?ProductID=${productID}`)).data
  const reply = await service.admin.put('/Product', { ...product, ...terms })
  assert.equal(reply.status, 200, reply.text)
}

const dayIn = (timeZone: string, ahead = 0) =>
  new Intl.DateTimeFormat('en-CA', { timeZone }).format(Date.now() + ahead * 86_400_000)

/** Turns a day of a step into a date of the product's calendar. */
function dateOf(date: string | undefined, { timeZone }: Terms) {
  const ahead = moments.indexOf(date as (typeof moments)[number])
  return ahead < 0 ? date : dayIn(timeZone, ahead)
}

async function takeAccounts(count: number): Promise<Account[]> {
  if (spare.length < count) spare.push(...(await newAccounts(service, productID, 600)))
  return spare.splice(0, count)
}

let operations = 0
let refusals = 0

/** Begins a history on new accounts; every step is compared with the model. */
async function begin() {
  const accounts = await takeAccounts(2)
  const model = modelOf(investments)
  /** The id of each transaction of the model. */
  const ids: number[] = []
  const accountID = (n: number) => accounts[n]!.accountID
  const unique = (external: string | undefined) => external && `${external}-${accountID(0)}`
  const { post, put } = service.admin

  return { accounts, transactions, holdings, play }

  async function play(history: Operation[], terms: Terms) {
    for (const step of history) {
      const done = await run(step, terms)
      if (!done) continue
      const [reply, expected] = done
      operations++
      if ('status' in expected) refusals++
      compare(step, reply, expected)
    }
  }

  async function run(symbolic: Operation, terms: Terms): Promise<[Reply, Answer] | undefined> {
    const step = dated(symbolic, terms)
    const known = model.transactions()
    const base = ({ date, external, ...rest }: Body) => ({
      ...rest,
      transactionDate: date,
      externalBizTransactionId: unique(external),
    })
    /** The answer of the model, or a refusal if a day of the step is locked or too far ahead. */
    const within = (dates: (string | undefined)[], judge: () => Answer): Answer => {
      const given = dates.filter((date) => date !== undefined)
      if (given.some((date) => date > dayIn(terms.timeZone, 1))) return { status: 400 }
      const isClosed = (date: string) => terms.lockedDate !== null && date <= terms.lockedDate
      return given.some(isClosed) ? closed : judge()
    }
    switch (step.kind) {
      case 'RedeemAll': {
        const { account: n, investment: i, date, worthAt } = step
        const all = model.held(n, i)
        if (all === 0n) return undefined
        const worth = worthOf(all, i, worthAt)
        const body = worth
          ? { date, amount: shown(worth), investmentPrice: worthAt }
          : { date, quantity: shown(all) }
        const item = { account: n, investment: i, body }
        return run({ kind: 'Redemption', typeID: 3, items: [item] }, terms)
      }
      case 'Transfer': {
        const { investment: i, body } = step
        const [from, to] = step.ends
        const ends = { fromAccountID: accountID(from), toAccountID: accountID(to) }
        const sent = { ...base(body), ...ends, investmentID: investmentIDs[i] }
        const reply = await post('/BizTransaction/Transfer', sent)
        return [reply, within([body.date], () => model.transfer(from, to, i, body))]
      }
      case 'Conversion': {
        const { factor, toPrice } = step
        const [from, to] = step.ends
        const worth = worthOf(model.held(step.account, from), from, step.worthAt)
        const { investmentPrice, ...body }: Body = worth
          ? { date: step.body.date, amount: shown(worth), investmentPrice: step.worthAt }
          : step.body
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
        const whole = { ...body, ...more }
        return [reply, within([body.date], () => model.convert(step.account, from, to, whole))]
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
        return [reply, within([known[n]!.date, step.body.date], () => model.update(n, body))]
      }
      case 'Rollback': {
        if (known.length === 0) return undefined
        const which = step.which.map((n) => n % known.length)
        const sent = { bizTransactionIDs: which.map((n) => ids[n]) }
        const reply = await put('/BizTransaction/Rollback', sent)
        const dates = which.map((n) => known[n]!.date)
        return [reply, within(dates, () => model.rollBack(which))]
      }
      default: {
        const { kind, typeID, items } = step
        const sent = items.map((item) => ({
          ...base(item.body),
          accountID: accountID(item.account),
          investmentID: investmentIDs[item.investment],
        }))
        const reply = await post(`/BizTransaction/${kind}`, sent.length > 1 ? sent : sent[0])
        const judge = () =>
          kind === 'SetQuantity' ? model.setQuantity(items) : model.single(typeID, items)
        const dates = items.map(({ body }) => body.date)
        return [reply, within(dates, judge)]
      }
    }
  }

  function compare(step: Operation, reply: Reply, expected: Answer) {
    const said = `${JSON.stringify(step)} → ${reply.text}`
    if ('status' in expected) {
      if ('orElse' in expected) {
        assert.ok(reply.status === expected.status || reply.status === expected.orElse, said)
        return
      }
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

/** Returns a step with its days as dates. */
function dated(step: Operation, terms: Terms): Operation {
  const inBody = (body: Body) => ({ ...body, date: dateOf(body.date, terms) })
  if ('items' in step)
    return { ...step, items: step.items.map((item) => ({ ...item, body: inBody(item.body) })) }
  if (step.kind === 'RedeemAll') return { ...step, date: dateOf(step.date, terms)! }
  return 'body' in step ? { ...step, body: inBody(step.body) } : step
}

type Game = Awaited<ReturnType<typeof begin>>

/** Compares the accounts of several histories at the end: all closings, and all holdings by day. */
async function compareEnds(games: Game[], { timeZone }: Terms) {
  const ids = games.flatMap(({ accounts }) => accounts.map(({ accountID }) => accountID))
  const query = `AccountID.in=${ids}&PageSize=1000`
  await compareTransactions(games, query)
  const [today, tomorrow] = [dayIn(timeZone), dayIn(timeZone, 1)]
  for (const day of [...days, '2026-03-04', '2026-02-01', today, tomorrow, undefined]) {
    const asAt = day ? `&Date=${day}` : ''
    const reply = await service.admin.get(`/BizEntity/Account/Holdings?${query}${asAt}`)
    const got = dataOf(reply).map((row) => [
      Number(row.accountID),
      Number(row.investmentID),
      ...[row.quantity, row.costAmount, row.realisedGain].map((value) => shown(dec(value))),
    ])
    const expected = games.flatMap(({ holdings }) => holdings(day ?? today))
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

/** The records of an answer, with the digits of numbers as they were written. */
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
  const zone = fc.constantFrom(...zones)
  const lock = fc.constantFrom(null, null, ...days)
  const agrees = fc.asyncProperty(histories, zone, lock, async (some, timeZone, lockedDate) => {
    const games = await Promise.all(some.map(begin))
    // What is posted before a period is closed stays; after it nothing of the period moves.
    for (const half of [0, 1]) {
      const terms = { timeZone, lockedDate: half === 0 ? null : lockedDate }
      await setTerms(terms)
      await Promise.all(
        games.map(({ play }, i) => {
          const middle = Math.ceil(some[i]!.length / 2)
          return play(some[i]!.slice(half * middle, half === 0 ? middle : undefined), terms)
        }),
      )
      if (half === 0) await foldSome()
    }
    await compareEnds(games, { timeZone, lockedDate })
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
  while (await database.transaction((tx) => foldClosings(tx, { enough: 0, rows: 50 })));
  await assertVerified(service)
})
