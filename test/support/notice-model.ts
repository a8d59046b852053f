import { dec, round, shown, times } from './decimals.ts'

/** The part of a notice that one transaction settles, without signs. */
export type Part = {
  id: number
  /** The id of the other leg of a conversion. */
  other?: number | undefined
  units: bigint
  money: bigint
  fee: bigint
  counts: boolean
  /** The number of the operation that posted or corrected it last. */
  touched: number
}

type Asked = { units?: bigint | undefined; money?: bigint | undefined; fee?: bigint | undefined }

/** A notice in the model: the figures asked for, and everything that was done about it. */
export type Notice = {
  id: number
  kind: 'Deposit' | 'Redemption' | 'Conversion'
  asked: Asked
  parts: Part[]
  status: 'Pending' | 'Completed' | 'Cancelled'
  completedBy: Part | undefined
  /** Completed because nothing was left, not by a posting that settles it as a whole. */
  isUsedUp?: boolean
  /** The notice of the target of a conversion. */
  target?: { id: number; factor: bigint; decimals: number }
}

export const partOf = ([first, second]: Record<string, unknown>[], touched: number): Part => ({
  id: Number(first!.bizTransactionID),
  other: second && Number(second.bizTransactionID),
  ...figuresOf(first!),
  counts: true,
  touched,
})

export const figuresOf = (row: Record<string, unknown>) => ({
  units: abs(dec(row.quantity)),
  money: abs(dec(row.amount)),
  fee: dec(row.entryFeeAmount),
})

const abs = (a: bigint) => (a < 0n ? -a : a)

const unitDecimals = 4
const cents = 2

/** The figures asked for, less those settled by transactions that count, except the part `but`. */
export function leftOf({ asked, parts }: Notice, but?: Part) {
  const settled = parts.filter((part) => part.counts && part !== but)
  const less = (figure: 'units' | 'money' | 'fee') => {
    const whole = asked[figure]
    return whole === undefined
      ? undefined
      : settled.reduce((left, part) => left - part[figure], whole)
  }
  return { units: less('units'), money: less('money'), fee: less('fee') }
}

/** Whether anything is left: units decide if the notice has them; figures are rounded first. */
export function isLeft(notice: Notice) {
  const { units, money } = leftOf(notice)
  return (units === undefined ? round(money!, cents) : round(units, unitDecimals)) > 0n
}

export function settle(notice: Notice, part: Part, isPartial: boolean) {
  notice.parts.push(part)
  if (!isPartial || !isLeft(notice)) complete(notice, part, isPartial)
}

/** A correction completes a notice that it uses up, and reopens one that is no longer used up. */
export function correct(notice: Notice, part: Part, figures: Partial<Part>) {
  Object.assign(part, figures)
  if (notice.status === 'Pending' && !isLeft(notice)) complete(notice, part, true)
  else if (notice.isUsedUp && isLeft(notice)) open(notice)
}

export function rollBack(notice: Notice, parts: readonly Part[]) {
  for (const part of parts) part.counts = false
  if (notice.status === 'Cancelled') return
  const [last] = notice.parts
    .filter(({ counts }) => counts)
    .sort((a, b) => b.touched - a.touched || b.id - a.id)
  const by = notice.completedBy?.counts ? notice.completedBy : last
  if (by && !isLeft(notice))
    return complete(notice, by, notice.isUsedUp || by !== notice.completedBy)
  open(notice)
}

function complete(notice: Notice, part: Part, isUsedUp: boolean) {
  notice.status = 'Completed'
  notice.completedBy = part
  notice.isUsedUp = isUsedUp
}

function open(notice: Notice) {
  notice.status = 'Pending'
  notice.completedBy = undefined
  notice.isUsedUp = false
}

const statusIDs = { Pending: 1, Completed: 2, Cancelled: 3 }
const shownLeft = (figure: bigint | undefined) =>
  figure !== undefined && figure > 0n ? shown(figure) : null

/** The expected answer of GET: the notice, and for a conversion the notice of its target. */
export function expected(notice: Notice) {
  const { units, money } = leftOf(notice, notice.completedBy)
  const own = {
    id: notice.id,
    status: statusIDs[notice.status],
    parent: notice.completedBy?.id ?? null,
    quantity: shownLeft(units),
    amount: shownLeft(money),
  }
  const { target } = notice
  if (!target) return [own]
  const pending = notice.status === 'Pending'
  const quantity = pending ? shownLeft(times(units!, target.factor, target.decimals)) : undefined
  const parent = notice.completedBy?.other ?? null
  return [own, { id: target.id, status: own.status, parent, quantity }]
}

/** The fields that GET shows of a notice, reduced to those that the model has in `like`. */
export const seen = (row: Record<string, unknown>, like: object) => {
  const decimal = (value: unknown) => (value === null ? null : shown(dec(value)))
  const all = {
    id: row.bizEventID,
    status: row.bizEventStatusID,
    parent: row.parentBizTransactionID,
    quantity: decimal(row.quantity),
    amount: decimal(row.amount),
  }
  return Object.fromEntries(
    Object.entries(like).map(([name, value]) => [
      name,
      value === undefined ? undefined : all[name as keyof typeof all],
    ]),
  )
}
