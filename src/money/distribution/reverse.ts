import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, type Problem, refuseAll } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { keepLedgerRows } from '../../platform/sql/ledger-version.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { refuseApproved } from '../payment-run/leave.ts'
import { paidByAllotment, paidOut, residualAmount } from './residual.ts'
import type { Reversal } from './schema.ts'
import { everyone } from './span.ts'
import {
  identifyDistribution,
  lockDistribution,
  ofDistribution,
  readDistribution,
  type Stored,
} from './sql.ts'
import {
  begin,
  countAccounts,
  refuseLocked,
  refuseUnderWay,
  type Stage,
  type StageName,
} from './stage.ts'
import { type Reason, reverseDeclare, reverseDrpAllotment, reversePayment } from './take-back.ts'
import { accountsWhere, usedResiduals } from './used.ts'

const { Configured, Declared, Paid, Completed } = lookups.DistributionStatus
const names = Object.keys(lookups.DistributionStatus)

/** The reversing stage for a distribution at each status. */
const backFrom: Record<number, Stage<Reason>> = {
  [Declared]: reverseDeclare,
  [Paid]: reversePayment,
  [Completed]: reverseDrpAllotment,
}
/** For each stage under way: the stage that reverses it, and the status that it was leading to. */
const underWay: Record<string, { stage: Stage<Reason>; to: number }> = {
  Declare: { stage: reverseDeclare, to: Declared },
  Payment: { stage: reversePayment, to: Paid },
  DrpAllotment: { stage: reverseDrpAllotment, to: Completed },
}

/** Reverses the last stage, or the stage that is under way. */
export async function reverseDistribution(
  all: Tx,
  actor: Actor,
  reversal: Reversal,
  inline: number,
): Promise<Written> {
  const which = await identifyDistribution(all, actor, reversal)
  const tx = inProduct(all, which.productID)
  await lockDistribution(tx, which)
  // Waits until a span that is being worked on has been committed.
  await tx.query(sql`
    select 1 from distribution_stage g where ${ofDistribution(which, 'g')} for update`)
  const stored = await readDistribution(tx, which)
  const stage = stageBack(stored, reversal.fromStatusID)
  if (stage === reversePayment) {
    refuseLocked(stored, stored.paymentDate!)
    await refuseInRun(tx, stored)
  }
  if (stage === reverseDrpAllotment) {
    refuseLocked(stored, allottedOn(stored))
    await refuseUsed(tx, stored)
    const paid = sql`
      select r.biz_transaction_id from residual_payment r
      where ${paidByAllotment(stored, everyone)}`
    await refuseInRun(tx, stored, sql`t.biz_transaction_id in (${paid})`)
  }
  const total = await totalOf(tx, stored, stage)
  const residuals = await paidOut(tx, paidBy(stored, stage))
  const [phase] = stage.phases(stored, true)
  const accounts = await countAccounts(tx, phase!.accounts(stored))
  const { reason } = reversal
  const terms = stage === reverseDrpAllotment ? { reason, date: allottedOn(stored) } : { reason }
  const written = await begin(tx, actor, stored, stage, { terms, accounts, inline })
  if (!written.accepted) {
    await keepLedgerRows(tx, 'distribution_stage', ofDistribution(which, 't'))
    await tx.query(sql`
      delete from distribution_stage g where ${ofDistribution(which, 'g')}`)
  }
  const { fromStatusID } = reversal
  const told = { fromStatusID, reason, total, ...residualAmount(residuals) }
  const changes = { ...(written.changes as object), ...told }
  return { ...written, changes }
}

/**
 * Whether the payment has reached an account without cash, whose entitlement shows no trace of it.
 * If stage g is a payment, it has reached the accounts up to the stage's position. If stage g
 * reverses a payment, the accounts after the position are still paid.
 */
const wasReached = sql`case g.stage when 'Payment' then g.phase > 0
      or e.account_id <= g.after_account_id
    when 'ReversePayment' then g.phase = 0 and e.account_id > g.after_account_id
    else true end`

/**
 * The amount of entitlement e in a stage that is being reversed. For a payment it is the gross
 * amount that was approved: the cash, the tax and the money held for the DRP.
 */
const sums: Partial<Record<StageName, Fragment>> = {
  ReverseDeclare: sql`e.gross_amount`,
  ReversePayment: sql`
    case when e.payment_transaction_id is not null or (e.cash_amount = 0 and ${wasReached})
      then e.gross_amount end`,
  ReverseDrpAllotment: sql`e.drp_cost`,
}

/** The total that is reversed, read beforehand: reversing an amount needs the same approval. */
async function totalOf(tx: Tx, stored: Stored, { name }: Stage<Reason>): Promise<string> {
  const [row] = await tx.query<{ total: string }>(sql`
    select trim_scale(coalesce(sum(${sums[name]}), 0))::text as total
    from entitlement e
    left join distribution_stage g on g.product_id = e.product_id
      and g.corporate_action_id = e.corporate_action_id
    where ${ofDistribution(stored, 'e')}`)
  return row!.total
}

/** The residual payments r that are reversed together with a stage. */
const paidBy = (stored: Stored, stage: Stage<Reason>): Fragment =>
  stage === reverseDrpAllotment
    ? paidByAllotment(stored, everyone)
    : sql`${ofDistribution(stored, 'r')} and r.reversed_date is null`

/** The day of the allotment: the stage has it while it is under way, then the distribution. */
const allottedOn = ({ stageDate, drpAllotmentDate, paymentDate }: Stored) =>
  stageDate ?? drpAllotmentDate ?? paymentDate!

/** The stage to run. A repeated call finds another status, and so reverses nothing more. */
function stageBack(stored: Stored, fromStatusID: number): Stage<Reason> {
  const { statusID, underWay: running, stageError } = stored
  const forward = running ? underWay[running] : undefined
  if (forward) {
    if (fromStatusID === statusID || fromStatusID === forward.to) return forward.stage
    throw otherStatus(`${running} is under way to ${nameOf(forward.to)}`, fromStatusID)
  }
  if (!stageError) refuseUnderWay(stored)
  if (statusID !== fromStatusID)
    throw otherStatus(`The distribution is ${nameOf(statusID)}`, fromStatusID)
  if (statusID === Configured)
    throw conflict('wrong_stage', 'The distribution is not declared: there is nothing to reverse.')
  return backFrom[statusID]!
}

const nameOf = (statusID: number) => names[statusID - 1]
const otherStatus = (found: string, fromStatusID: number) =>
  conflict('wrong_stage', `${found}, not ${nameOf(fromStatusID)}.`, 'fromStatusID')

const refuseInRun = (tx: Tx, stored: Stored, which: Fragment = sql`true`) =>
  refuseApproved(
    tx,
    stored.productID,
    sql`exists (select 1 from biz_transaction t
      where t.product_id = m.product_id and t.biz_transaction_id = m.biz_transaction_id
        and ${ofDistribution(stored, 't')} and ${which})`,
  )

/** Refuses to reverse an allotment whose units were redeemed or whose residuals were used since. */
async function refuseUsed(tx: Tx, stored: Stored) {
  const gone = await accountsWhere(
    tx,
    stored,
    everyone,
    sql`e.drp_units > 0 and exists (select 1 from transaction_line b
      where b.product_id = e.product_id and b.account_id = e.account_id
        and b.investment_id = ${stored.drpInvestmentID} and b.closing_quantity < e.drp_units
        and (b.transaction_date, b.biz_transaction_id)
          > (select a.transaction_date, a.biz_transaction_id from biz_transaction a
            where a.product_id = e.product_id and a.biz_transaction_id = e.drp_transaction_id))`,
  )
  const problems = gone.map(
    (account): Problem => ({
      code: 'units_gone',
      message: `Account ${account} does not hold the units any more that it was allotted.`,
    }),
  )
  refuseAll(409, [...problems, ...(await usedResiduals(tx, stored, everyone))])
}
