import sql from 'sql-template-tag'
import { lockSet } from '../../ledger/biz-transaction/post-set.ts'
import { rollBackSet, type SetBack } from '../../ledger/biz-transaction/roll-back-set.ts'
import { shortfallProblems } from '../../ledger/biz-transaction/shortfall.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { refuseAll } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { leaveRunsBy } from '../payment-run/leave.ts'
import { paidByAllotment, restoreBy } from './residual.ts'
import { inSpan } from './span.ts'
import { ofDistribution, type Stored } from './sql.ts'
import { moveOn, type Phase, type Stage } from './stage.ts'
import { takeFromTotals } from './totals.ts'
import { usedResiduals } from './used.ts'
import { keepEntitlements } from './versions.ts'
import { giveBack } from './withhold.ts'

/**
 * The reversals of the stages. For each account, a reversal undoes all that the stage did, or
 * nothing if the entitlement shows that the stage has not reached it. So it can also reverse a
 * stage that stopped half way.
 */

/** The reason; for an allotment also its day, which is stored nowhere else until it is finished. */
export type Reason = { reason: string; date?: string }

const { Configured, Declared, Paid, Completed } = lookups.DistributionStatus

const entitlements = (stored: Stored) => sql`entitlement x where ${ofDistribution(stored, 'x')}`

async function rollBack(tx: Tx, productID: number, accounts: Fragment, set: SetBack) {
  await lockSet(tx, productID, accounts)
  const shortfalls = await rollBackSet(tx, productID, set)
  refuseAll(409, await shortfallProblems(tx, shortfalls))
}

const unallot: Phase<Reason> = {
  accounts: entitlements,
  work: async (tx, stored, { userID }, span) => {
    const own = sql`${inSpan(stored, 'e', span)}
      and e.drp_residual is not null`
    const accounts = sql`select e.account_id from entitlement e where ${own}`
    const paid = paidByAllotment(stored, span)
    const payments = sql`select r.biz_transaction_id from residual_payment r where ${paid}`
    const ids = sql`select e.drp_transaction_id from entitlement e
      where ${own} and e.drp_transaction_id is not null union all ${payments}`
    await rollBack(tx, stored.productID, accounts, { ids, userID })
    // Checked again under the lock, because residuals may have been used in the meantime.
    refuseAll(409, await usedResiduals(tx, stored, span))
    await leaveRunsBy(tx, stored.productID, payments)
    await keepEntitlements(tx, own)
    await restoreBy(tx, paid)
    await tx.query(sql`
      update drp_residual r set amount = r.amount - (e.drp_residual - e.residual_before)
      from entitlement e
      where ${own} and r.product_id = e.product_id and r.account_id = e.account_id
        and r.investment_id = e.investment_id`)
    await tx.query(sql`
      update entitlement e set residual_before = null, drp_units = null, drp_cost = null,
        drp_residual = null, drp_transaction_id = null, allotted_date = null
      where ${own}`)
  },
}

const unpay: Phase<Reason> = {
  accounts: entitlements,
  work: async (tx, stored, { userID }, span) => {
    const own = sql`${inSpan(stored, 'e', span)}
      and (e.payment_transaction_id is not null or e.tax_transaction_id is not null)`
    const residuals = sql`${inSpan(stored, 'r', span)}
      and r.reversed_date is null`
    const accounts = sql`
      select e.account_id from entitlement e where ${own}
      union select r.account_id from residual_payment r where ${residuals}`
    const ids = sql`
      select x.id from entitlement e
      cross join lateral (values (e.payment_transaction_id), (e.tax_transaction_id)) x (id)
      where ${own} and x.id is not null
      union all select r.biz_transaction_id from residual_payment r where ${residuals}`
    await rollBack(tx, stored.productID, accounts, { ids, userID })
    await leaveRunsBy(tx, stored.productID, ids)
    // A fully reinvested entitlement has no payment transaction, but the next payment may tax it or
    // pay it in cash, so its version is kept as well.
    await keepEntitlements(
      tx,
      sql`${inSpan(stored, 'e', span)}
      and (e.payment_transaction_id is not null or e.drp_amount > 0 or e.tax_amount > 0)`,
    )
    await restoreBy(tx, residuals)
    await tx.query(sql`
      update entitlement e set payment_transaction_id = null, payment_detail_id = null,
        payee_name = null, payee_bsb = null, payee_account_number = null, payee_iban = null
      where ${own}`)
    await giveBack(tx, stored, span)
  },
}

const undeclare: Phase<Reason> = {
  accounts: entitlements,
  work: async (tx, stored, { userID }, span) => {
    const own = sql`${inSpan(stored, 'e', span)}`
    await keepEntitlements(tx, own)
    await takeFromTotals(tx, own)
    await tx.query(sql`
      with gone as (delete from entitlement e where ${own} returning e.*)
      insert into entitlement_history (product_id, corporate_action_id, account_id, reversed_date,
        reversed_by_user_id, investment_id, units, unit_days, pre_calculated, gross_amount,
        component_amounts, drp_amount, cash_amount)
      select product_id, corporate_action_id, account_id, clock_timestamp(), ${userID}::int,
        investment_id, units, unit_days, pre_calculated, gross_amount, component_amounts,
        drp_amount, cash_amount
      from gone`)
  },
}

const back = (
  name: `Reverse${'Declare' | 'Payment' | 'DrpAllotment'}`,
  phase: Phase<Reason>,
  to: { statusID: number; forget: (tx: Tx, stored: Stored) => Promise<Fragment>; words: string },
): Stage<Reason> => ({
  name,
  operation: 'POST /Distribution/Reverse',
  event: 'distribution.reversed',
  phases: () => [phase],
  finish: async (tx, stored, { reason }) => {
    await moveOn(tx, stored, to.statusID, await to.forget(tx, stored))
    return { message: to.words, changes: { reason, toStatusID: to.statusID } }
  },
})

type Terms = { price: string | null; date: string | null }

/** The configured DRP price and day, which the allotment has replaced by its own. */
async function termsBefore(tx: Tx, stored: Stored): Promise<Terms> {
  const { statusID, drpPrice, drpAllotmentDate } = stored
  if (statusID !== Completed) return { price: drpPrice, date: drpAllotmentDate }
  const [paid] = await tx.query<Terms>(sql`
    select v.image ->> 'drp_price' as price, v.image ->> 'drp_allotment_date' as date
    from distribution_version v
    where ${ofDistribution(stored, 'v')}
      and (v.image ->> 'distribution_status_id')::int = ${Paid}
    order by v.valid_to desc limit 1`)
  return paid ?? { price: null, date: null }
}

export const reverseDrpAllotment = back('ReverseDrpAllotment', unallot, {
  statusID: Paid,
  forget: async (tx, stored) => {
    const { price, date } = await termsBefore(tx, stored)
    return sql`reinvested_amount = null, completed_date = null, drp_price = ${price},
      drp_allotment_date = ${date}`
  },
  words: 'The DRP allotment is taken back; the distribution is Paid.',
})
export const reversePayment = back('ReversePayment', unpay, {
  statusID: Declared,
  forget: async () => sql`paid_amount = null, withheld_amount = null, paid_date = null,
    paid_income_kinds = null, paid_company_tax = null, paid_treaties = null`,
  words: 'The payment is taken back; the distribution is Declared.',
})
export const reverseDeclare = back('ReverseDeclare', undeclare, {
  statusID: Configured,
  forget: async () => sql`declared_amount = null, declared_date = null, declared_since = null,
    declared_rate = null, declared_unit_value = null`,
  words: 'The declaration is taken back; the distribution is Configured.',
})
