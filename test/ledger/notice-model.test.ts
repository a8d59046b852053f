import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { rowsOf } from '../support/database.ts'
import { dec, shown } from '../support/decimals.ts'
import { all, assertVerified, type Fund, newFund, only, poster } from '../support/ledger.ts'
import {
  correct,
  expected,
  figuresOf,
  isLeft,
  leftOf,
  type Notice,
  type Part,
  partOf,
  rollBack,
  seen,
  settle,
} from '../support/notice-model.ts'
import { type Service, startService } from '../support/service.ts'
import { walks } from '../support/walks.ts'

/**
 * Notices compared with a plain model, after settling, correcting and rolling back in any order:
 * what is left of a notice is what it asked for, less the transactions that count.
 * REGISTRY_NOTICE_SEED sets another seed.
 */
const seed = Number(process.env.REGISTRY_NOTICE_SEED ?? 20)
const steps = 120 * walks

let service: Service
let fund: Fund
before(async () => {
  service = await startService()
  fund = await newFund(service, { price: 3, investments: [{}, { unitDecimals: 0 }] })
})
after(async () => {
  await assertVerified(service)
  await service.stop()
})
const post = poster(() => service.admin)
const notice = (kind: string, body: object) =>
  service.admin.post(`/BizEvent/NoticeOf${kind}`, { transactionDate: '2026-01-10', ...body })
const put = (body: object) => service.admin.put('/BizTransaction', body)
const rollBackAll = (parts: readonly Part[]) =>
  service.admin.put('/BizTransaction/Rollback', { bizTransactionIDs: parts.map(({ id }) => id) })

/** A generator of random numbers that a seed repeats. */
function dice(from: number) {
  let state = from
  const roll = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const below = (n: number) => Math.floor(roll() * n)
  return { below, often: (chance: number) => roll() < chance, pick }
  function pick<T>(some: readonly T[]): T {
    return some[below(some.length)]!
  }
}

const { below, often, pick } = dice(seed)
/** A random figure below 60 with two decimals, sometimes three. */
const figure = () => `${below(60)}.${10 + below(90)}${often(0.1) ? 1 + below(9) : ''}`
const notices: Notice[] = []
let count = 0

async function announce() {
  const own = { accountID: fund.accountID, investmentID: fund.investmentID }
  const kind = pick(['Deposit', 'Redemption', 'Redemption', 'Conversion'] as const)
  const fresh = { kind, parts: [], status: 'Pending', completedBy: undefined } as const
  const keep = (made: Pick<Notice, 'id' | 'asked' | 'target'>) =>
    notices.push({ ...fresh, ...made, parts: [] })
  if (kind === 'Conversion') {
    const [fromInvestmentID, toInvestmentID] = fund.investmentIDs
    const [quantity, conversionFactor] = [figure(), pick(['0.3333', '1.25', '7'])]
    const { accountID } = fund
    const body = { accountID, fromInvestmentID, toInvestmentID, quantity, conversionFactor }
    const [source, target] = all(await notice(kind, body))
    const { bizEventID: id } = target
    const factor = dec(conversionFactor)
    const asked = { units: dec(quantity) }
    return keep({ id: source.bizEventID, asked, target: { id, factor, decimals: 0 } })
  }
  const figures =
    kind === 'Deposit'
      ? { amount: figure(), ...(often(0.4) && { entryFeeAmount: below(4) }) }
      : pick([
          { quantity: figure() },
          { amount: figure() },
          { quantity: figure(), amount: figure() },
        ])
  const reply = await notice(kind, { ...own, ...figures })
  const { amount, quantity, entryFeeAmount } = figures as Record<string, string | undefined>
  const [money, units, fee] = [amount, quantity, entryFeeAmount].map((one) =>
    one === undefined ? undefined : dec(one),
  )
  if (money !== undefined && fee !== undefined && fee > money)
    return assert.equal(reply.errors[0]?.field, 'entryFeeAmount')
  keep({ id: only(reply).bizEventID, asked: { units, money, fee } })
}

/** Settles all, some, or more than what is left of a notice, as a partial posting or not. */
async function settleOne(some: Notice) {
  const by = pick(['nothing', 'quantity', 'amount', 'both'] as const)
  const partial = often(0.6)
  const figures = {
    ...((by === 'quantity' || by === 'both') && some.kind !== 'Deposit' && { quantity: figure() }),
    ...((by === 'amount' || by === 'both') && some.kind !== 'Conversion' && { amount: figure() }),
  }
  const before = leftOf(some)
  const reply = await post(some.kind, { bizEventID: some.id, ...figures, partial })
  if (some.status !== 'Pending') return assert.equal(reply.errors[0]?.code, 'event_not_pending')
  // A fee above the money, or money that comes to no units.
  if (reply.status === 400) return
  const [first] = all(reply)
  if (Object.keys(figures).length === 0) takesWhatIsLeft(first, before)
  settle(some, partOf(reply.data, count), partial)
}

function takesWhatIsLeft(row: Record<string, unknown>, left: ReturnType<typeof leftOf>) {
  const { units, fee } = figuresOf(row)
  if (left.units !== undefined) assert.equal(shown(units), shown(rounded(left.units)))
  if (left.fee !== undefined) assert.equal(shown(fee), left.fee > 0n ? shown(left.fee) : '0')
}
const rounded = (units: bigint) => ((units + 5n * 10n ** 13n) / 10n ** 14n) * 10n ** 14n

async function correctOne(some: Notice, part: Part) {
  const sign = some.kind === 'Deposit' ? '' : '-'
  const field = some.kind !== 'Conversion' && often(0.5) ? 'amount' : 'quantity'
  const change = often(0.1) ? { transactionDate: '2026-01-09' } : { [field]: sign + figure() }
  const reply = await put({ bizTransactionID: part.id, ...change })
  if (!part.counts) return assert.equal(reply.errors[0]?.code, 'rolled_back')
  if (reply.status === 400) return
  const row = all(reply).find(
    ({ bizTransactionID }: { bizTransactionID: number }) => bizTransactionID === part.id,
  )
  const figures = { ...figuresOf(row), touched: count }
  if ('transactionDate' in change) Object.assign(part, figures)
  else correct(some, part, figures)
}

async function rollBackSome(some: Notice) {
  const parts = some.parts.filter(() => often(0.4))
  if (parts.length === 0) return
  const reply = await rollBackAll(parts)
  if (parts.some(({ counts }) => !counts)) return assert.equal(reply.errors[0]?.code, 'rolled_back')
  all(reply)
  rollBack(some, parts)
}

async function cancel(some: Notice) {
  const reply = await service.admin.put('/BizEvent/Cancel', { bizEventID: some.id })
  if (some.status !== 'Pending') return assert.equal(reply.errors[0]?.code, 'event_not_pending')
  all(reply)
  notices.splice(notices.indexOf(some), 1)
}

/** Takes a step on one of the last notices, so that each notice gets many steps. */
async function step() {
  count++
  if (notices.length < 3 || often(0.1)) return announce()
  const some = pick(notices.slice(-4))
  if (often(0.02)) return cancel(some)
  if (some.parts.length === 0 || often(0.4)) return settleOne(some)
  if (often(0.5)) return correctOne(some, pick(some.parts))
  return rollBackSome(some)
}

async function compare(told: string) {
  const wanted = notices.slice(-6).flatMap(expected)
  const ids = wanted.map(({ id }) => id)
  const rows = all(await service.admin.get(`/BizEvent?BizEventID.in=${ids}`))
  const byID = new Map(rows.map((row: { bizEventID: number }) => [row.bizEventID, row]))
  const got = wanted.map((one) => seen(byID.get(one.id) as Record<string, unknown>, one))
  assert.deepEqual(got, wanted, told)
}

it('has left what it asked for without what counts, whatever comes first', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const own = { accountID: fund.accountID, investmentID: fund.investmentID }
  only(await post('Deposit', { ...own, amount: 9_000_000, transactionDate: '2026-01-01' }))
  for (let n = 0; n < steps; n++) {
    await step()
    await compare(`seed ${seed}, step ${count}`)
  }
})

/** The notice as the ledger has it: the transactions that settle it, and their totals. */
async function asStored(some: Notice) {
  const rows = await rowsOf(
    service.connection,
    `select biz_transaction_id as "bizTransactionID", quantity, amount,
      entry_fee_amount as "entryFeeAmount", biz_transaction_status_id <> 3 as counts
    from biz_transaction where biz_event_id = $1 order by biz_transaction_id`,
    [some.id],
  )
  some.parts = rows.map((row) => ({ ...partOf([row], 0), counts: row.counts }))
  const row = only(await service.admin.get(`/BizEvent?BizEventID=${some.id}`))
  some.status = (['Pending', 'Completed', 'Cancelled'] as const)[row.bizEventStatusID - 1]!
  some.completedBy = some.parts.find(({ id }) => id === row.parentBizTransactionID)
  return row
}

it('keeps to that when it is settled, corrected and rolled back at once', async () => {
  const own = { accountID: fund.accountID, investmentID: fund.investmentID }
  for (let n = 0; n < 12 * walks; n++) {
    const { bizEventID: id } = only(await notice('Redemption', { ...own, quantity: 100 }))
    const parts: number[] = []
    for (const quantity of [30, 20]) {
      const body = { bizEventID: id, quantity, partial: true }
      parts.push(only(await post('Redemption', body)).bizTransactionID)
    }
    const [first, second] = parts
    const moves = [
      () => put({ bizTransactionID: first, quantity: -40 }),
      () => put({ bizTransactionID: second, quantity: -5 }),
      () => service.admin.put('/BizTransaction/Rollback', { bizTransactionID: first }),
      () => service.admin.put('/BizTransaction/Rollback', { bizTransactionID: second }),
      () => post('Redemption', { bizEventID: id }),
      () => post('Redemption', { bizEventID: id, quantity: 10, partial: true }),
    ]
    const together = moves.filter(() => often(0.6))
    for (const { status, text } of await Promise.all(together.map((move) => move())))
      assert.ok([200, 409].includes(status), text)
    const asked = { units: dec(100) }
    const kind = 'Redemption'
    const some: Notice = { id, kind, asked, parts: [], status: 'Pending', completedBy: undefined }
    const row = await asStored(some)
    assert.equal(some.status === 'Completed', some.completedBy?.counts ?? false)
    assert.ok(some.status === 'Completed' || isLeft(some))
    const wanted = expected(some)
    assert.deepEqual([seen(row, wanted[0]!)], wanted)
  }
})
