import sql from 'sql-template-tag'
import { investmentReference } from '../../catalogue/investment/schema.ts'
import { identifyInvestment } from '../../catalogue/investment/sql.ts'
import { today } from '../../catalogue/product/today.ts'
import { type LockedSet, lockSet, postSet } from '../../ledger/biz-transaction/post-set.ts'
import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { namesAny, noSuch } from '../../platform/sql/identify.ts'
import { render } from '../../platform/sql/render.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { payee } from './payee.ts'
import type { ResidualPayout } from './schema.ts'
import { everyone, inSpan, type Span, within } from './span.ts'
import type { DistributionID } from './sql.ts'
import { refuseFarAhead, refuseLocked } from './stage.ts'
import { accountsInWords } from './words.ts'

const type = lookups.BizTransactionType['Residual payment']

/** A payout of residuals of an investment on a day, alone or with a distribution (`with`). */
export type Leftovers = {
  productID: number
  investmentID: number
  date: string
  with: number | null
}

/**
 * The residuals of accounts that have left the DRP or hold no units any more, if the investment
 * pays residuals on exit. Accounts for which this distribution reinvests are still in the plan.
 * Accounts whose residual arose after the day must wait for another payout.
 */
const leavers = (
  { productID, investmentID, date, with: id }: Leftovers,
  span: Span,
): Fragment => sql`
  select r.account_id, r.investment_id, r.amount
  from drp_residual r
  join investment i on i.investment_id = r.investment_id and i.drp_residual_on_exit = 'Pay'
  join account a on a.account_id = r.account_id
  where r.product_id = ${productID} and r.investment_id = ${investmentID} and r.amount > 0
    and ${within('r.account_id', span)}
    and (coalesce(a.drp_type_id, ${lookups.DRPType.None}) = ${lookups.DRPType.None}
      or not exists (select 1 from holding h where h.product_id = r.product_id
        and h.account_id = r.account_id and h.investment_id = r.investment_id and h.quantity > 0))
    and not exists (select 1 from entitlement t where t.product_id = ${productID}
      and t.corporate_action_id = ${id ?? 0}::int and t.account_id = r.account_id
      and t.drp_amount > 0)
    -- Money that an allotment left later than the day was not there on it. While one goes on as a
    -- job, its day may be told by the job alone.
    and not exists (
      select 1 from entitlement t
      join distribution d on d.product_id = t.product_id
        and d.corporate_action_id = t.corporate_action_id
      left join distribution_stage g on g.product_id = t.product_id
        and g.corporate_action_id = t.corporate_action_id
      where t.product_id = r.product_id and t.account_id = r.account_id
        and t.investment_id = r.investment_id and t.drp_residual > t.residual_before
        and coalesce((g.terms ->> 'date')::date, d.drp_allotment_date, d.payment_date)
          > ${date}::date)
    -- Nor is what an allotment left that a job is taking back.
    and not exists (
      select 1 from distribution_stage g
      join distribution d on d.product_id = g.product_id
        and d.corporate_action_id = g.corporate_action_id
      where g.product_id = r.product_id and d.investment_id = r.investment_id
        and g.stage = 'ReverseDrpAllotment')`

/**
 * Pays residuals to accounts that have left the DRP. The condition is tested again under the locks:
 * an account that has come back meanwhile keeps its residual. An account that leaves meanwhile is
 * not locked and waits for the next payout.
 */
export async function payLeftovers(tx: Tx, leftovers: Leftovers, span: Span = everyone) {
  const leaving = leavers(leftovers, span)
  const found = await tx.query<{ id: number }>(sql`
    select l.account_id as id from (${leaving}) l`)
  if (found.length === 0) return []
  const ids = found.map(({ id }) => id)
  const locked = await lockSet(tx, leftovers.productID, sql`select unnest(${ids}::int[])`)
  const still = sql`select l.* from (${leaving}) l where l.account_id = any(${ids}::int[])`
  return payOut(tx, leftovers, still, locked)
}

/** Pays the amounts that a select gives for residuals, with one transaction for each. */
export async function payOut(
  tx: Tx,
  { productID, date, with: id }: Omit<Leftovers, 'investmentID'>,
  leaving: Fragment,
  locked: LockedSet,
) {
  const paid = await tx.query<{ id: number }>(sql`
    with leaving as (${leaving}),
    emptied as (
      update drp_residual r set amount = r.amount - l.amount from leaving l
      where r.product_id = ${productID} and r.account_id = l.account_id
        and r.investment_id = l.investment_id)
    insert into residual_payment (product_id, account_id, investment_id, corporate_action_id,
      amount, payment_date, biz_transaction_id, paid_date, payment_detail_id, payee_name,
      payee_bsb, payee_account_number, payee_iban)
    select ${productID}::int, e.account_id, e.investment_id, ${id}::int, e.amount, ${date}::date,
      nextval('biz_transaction_biz_transaction_id_seq'), clock_timestamp(), p.*
    from leaving e left join lateral (${payee}) p on true
    order by e.account_id
    returning biz_transaction_id as id`)
  if (paid.length === 0) return []
  const ids = paid.map((one) => one.id)
  await postSet(tx, productID, locked, {
    date,
    postings: sql`
      select r.biz_transaction_id as id, null::bigint as parent_id, ${type}::smallint as type_id,
        r.account_id, r.investment_id, r.payment_date as transaction_date,
        null::numeric as investment_price, r.amount, 0::numeric as quantity,
        0::numeric as entry_fee_amount, null::text as external_id, null::text as comment,
        r.corporate_action_id, null::bigint as biz_event_id
      from residual_payment r
      where r.product_id = ${productID} and r.biz_transaction_id = any(${ids}::bigint[])`,
  })
  return ids
}

/**
 * Residual payments r that a distribution's allotment made to accounts closed since the payment.
 * The distribution's other residual payments were made by its Payment stage, to accounts for which
 * it reinvests nothing.
 */
export const paidByAllotment = (stored: DistributionID, span: Span) => sql`
  ${inSpan(stored, 'r', span)} and r.reversed_date is null and exists (
    select 1 from entitlement t
    where t.product_id = r.product_id and t.corporate_action_id = r.corporate_action_id
      and t.account_id = r.account_id and t.drp_residual is not null)`

/** Marks residual payments r as reversed and adds their amounts to the residuals again. */
export const restoreBy = (tx: Tx, residuals: Fragment) =>
  tx.query(sql`
    with restored as (
      update residual_payment r set reversed_date = m.moment
      from (select clock_timestamp() as moment) m where ${residuals}
      returning r.product_id, r.account_id, r.investment_id, r.amount)
    update drp_residual d set amount = d.amount + r.amount
    from (
      select product_id, account_id, investment_id, sum(amount) as amount
      from restored group by product_id, account_id, investment_id) r
    where d.product_id = r.product_id and d.account_id = r.account_id
      and d.investment_id = r.investment_id`)

/**
 * `restoreBy` for payments without a distribution whose transactions are rolled back; their
 * accounts must be locked.
 */
export async function restoreResiduals(tx: Tx, productID: number, ids: readonly number[]) {
  await restoreBy(
    tx,
    sql`r.product_id = ${productID} and r.biz_transaction_id = any(${ids}::bigint[])`,
  )
}

export type PaidOut = { accounts: number; total: string }

/** The number of accounts and the total of residual payments r. */
export async function paidOut(tx: Tx, which: Fragment): Promise<PaidOut> {
  const [paid] = await tx.query<PaidOut>(sql`
    select count(*)::int as accounts, trim_scale(coalesce(sum(r.amount), 0))::text as total
    from residual_payment r where ${which}`)
  return paid!
}

/** The residuals paid in a stage, for the audit trail and for approval rules by amount. */
export const residualAmount = ({ accounts, total }: PaidOut) =>
  accounts === 0 ? {} : { residualAmount: total }

type Paying = { productID: number; today: string; lockedDate: string | null; pays: boolean }

/** Pays residuals alone, without a distribution. */
export async function payResiduals(
  all: Tx,
  actor: Actor,
  payout: ResidualPayout,
): Promise<Written> {
  if (!namesAny(investmentReference, payout)) throw noSuch(investmentReference, payout)
  const investmentID = await identifyInvestment(all, actor, payout)
  const [row] = await all.query<Paying>(sql`
    select i.product_id as "productID", ${today('p')} as today, p.locked_date as "lockedDate",
      i.drp_residual_on_exit = 'Pay' as pays
    from investment i join product p on p.product_id = i.product_id
    where i.investment_id = ${investmentID} for share of p`)
  const { productID, pays } = row! // the share lock makes others wait who lock the period
  const tx = inProduct(all, productID)
  refuseFarAhead(row!, payout.date, 'date')
  refuseLocked(row!, payout.date)
  if (!pays)
    throw conflict(
      'residual_carried',
      'The investment carries residuals forward (drpResidualOnExit) and pays none out.',
    )
  const ids = await payLeftovers(tx, { productID, investmentID, date: payout.date, with: null })
  const answer = await render(
    tx,
    sql`
      select r.residual_payment_id as "residualPaymentID", r.account_id as "accountID",
        a.account_number as "accountNumber", r.investment_id as "investmentID",
        trim_scale(r.amount) as amount, r.payment_date as "paymentDate",
        r.biz_transaction_id as "bizTransactionID"
      from residual_payment r join account a on a.account_id = r.account_id
      where r.product_id = ${productID} and r.biz_transaction_id = any(${ids}::bigint[])
      order by r.residual_payment_id`,
  )
  const { accounts, total } = await paidOut(
    tx,
    sql`r.product_id = ${productID} and r.biz_transaction_id = any(${ids}::bigint[])`,
  )
  const message = `Paid ${total} of residuals to ${accountsInWords(accounts)}.`
  return { ...answer, message, ids, productID, changes: { ...payout, accounts, total } }
}
