import sql from 'sql-template-tag'
import { type LockedSet, lockSet, postSet } from '../../ledger/biz-transaction/post-set.ts'
import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict, invalid } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { closedAmong } from './closed.ts'
import { joinedOnce } from './once.ts'
import { type PaidOut, paidByAllotment, paidOut, payOut, residualAmount } from './residual.ts'
import type { DrpAllotment } from './schema.ts'
import { everyone, inSpan } from './span.ts'
import { identifyDistribution, lockDistribution, ofDistribution, type Stored } from './sql.ts'
import {
  begin,
  countAccounts,
  moveOn,
  type Phase,
  refuseFarAhead,
  refuseLocked,
  refuseOtherStage,
  type Stage,
} from './stage.ts'
import { accountsInWords, refuseTooLarge } from './words.ts'

const { Paid, Completed } = lookups.DistributionStatus
const type = lookups.BizTransactionType['DRP allotment']

type Terms = { price: string; date: string; unitDecimals: number }

/**
 * Turns the money held for the DRP into units of the target investment. It buys as many units as
 * that money and the residual of the last time allow, rounded down. Their cost is posted to the
 * cent, and the rest is carried as the new residual. An account that was closed since the payment
 * is paid its money instead.
 */
export async function reinvest(
  all: Tx,
  actor: Actor,
  allotment: DrpAllotment,
  inline: number,
): Promise<Written> {
  const which = await identifyDistribution(all, actor, allotment)
  const tx = inProduct(all, which.productID)
  const stored = await lockDistribution(tx, which)
  refuseOtherStage(stored, Paid)
  if (stored.drpIndicatorID !== lookups.DRPIndicator.Offered)
    throw conflict('drp_not_offered', 'The distribution does not offer reinvestment.')
  const price = allotment.drpPrice ?? stored.drpPrice
  if (!price)
    throw conflict('no_drp_price', 'The DRP price is not known: give drpPrice.', 'drpPrice')
  const date = allotment.drpAllotmentDate ?? stored.drpAllotmentDate ?? stored.paymentDate!
  if (date < stored.recordDate!)
    throw invalid(
      'invalid_value',
      `drpAllotmentDate is before the record date ${stored.recordDate}.`,
      'drpAllotmentDate',
    )
  refuseFarAhead(stored, date, 'drpAllotmentDate')
  refuseLocked(stored, date)
  const { unitDecimals } = await activeTarget(tx, stored)
  await refuseOutOfTurn(tx, stored, date)
  refuseTooLarge('units', await unitsFor(tx, stored, price), 'drpPrice')
  const accounts = await countAccounts(tx, allot.accounts(stored))
  const terms = { price, date, unitDecimals }
  return begin(tx, actor, stored, reinvestStage, { terms, accounts, inline })
}

/** The units that all the held money would buy, before anything is posted. */
async function unitsFor(tx: Tx, stored: Stored, price: string): Promise<string> {
  const [all] = await tx.query<{ units: string | null }>(sql`
    select trunc(sum(e.drp_amount + coalesce(r.amount, 0)) / ${price}::numeric)::text as units
    from entitlement e
    left join drp_residual r on r.product_id = e.product_id and r.account_id = e.account_id
      and r.investment_id = e.investment_id
    where ${ofDistribution(stored, 'e')} and e.drp_amount > 0`)
  return all!.units ?? '0'
}

const allot: Phase<Terms> = {
  accounts: (stored) => sql`
    entitlement x where ${ofDistribution(stored, 'x')} and x.drp_amount > 0`,
  work: async (tx, stored, { price, date, unitDecimals }, span) => {
    const { productID } = stored
    const own = sql`${inSpan(stored, 'e', span)}
      and e.drp_amount > 0`
    // Residuals are read under the lock: another distribution may be reinvested at the same time.
    const locked = await lockSet(
      tx,
      productID,
      sql`select e.account_id from entitlement e where ${own}`,
    )
    const closed = await closedAmong(tx, sql`${own} and e.drp_residual is null`)
    await joinedOnce(tx, () =>
      tx.query(sql`
      with counted as materialized (
        select e.account_id, b.residual, q.units, c.cost,
          e.drp_amount + b.residual - c.cost as left_over
        from entitlement e
        cross join lateral (
          select coalesce((
            select r.amount from drp_residual r
            where r.product_id = ${productID} and r.account_id = e.account_id
              and r.investment_id = e.investment_id), 0) as residual
          offset 0) b -- a fence: else each mention of a figure works it out anew
        cross join lateral (
          select case when e.account_id = any(${closed}::int[]) then 0
            else trunc(round(e.drp_amount + b.residual, 40) / ${price}::numeric,
              ${unitDecimals}::int) end as units offset 0) q
        cross join lateral (
          select round(q.units * ${price}::numeric, ${stored.decimals}::int) as cost offset 0) c
        where ${own} and e.drp_residual is null),
      numbered as materialized (
        select c.*, clock_timestamp() as moment,
          case when c.units > 0 then nextval('biz_transaction_biz_transaction_id_seq') end as id
        from counted c)
      update entitlement e set residual_before = n.residual, drp_units = n.units,
        drp_cost = n.cost, drp_residual = n.left_over, drp_transaction_id = n.id,
        allotted_date = n.moment
      from numbered n where ${ofDistribution(stored, 'e')} and e.account_id = n.account_id`),
    )
    await postSet(tx, productID, locked, {
      date,
      postings: sql`
        select e.drp_transaction_id as id, null::bigint as parent_id,
          ${type}::smallint as type_id, e.account_id,
          ${stored.drpInvestmentID}::int as investment_id, ${date}::date as transaction_date,
          ${price}::numeric as investment_price, e.drp_cost as amount, e.drp_units as quantity,
          0::numeric as entry_fee_amount, null::text as external_id, null::text as comment,
          e.corporate_action_id, null::bigint as biz_event_id
        from entitlement e where ${own} and e.drp_transaction_id is not null`,
    })
    await tx.query(sql`
      insert into drp_residual (product_id, account_id, investment_id, amount)
      select e.product_id, e.account_id, e.investment_id, e.drp_residual
      from entitlement e where ${own} and e.drp_residual <> e.residual_before
      order by e.account_id
      on conflict (product_id, account_id, investment_id) do update set amount = excluded.amount`)
    if (closed.length > 0) {
      const shut = sql`${own} and e.account_id = any(${closed}::int[])`
      await payShut(tx, stored, { date, own: shut, locked })
    }
  },
}

type Shut = { date: string; own: Fragment; locked: LockedSet }

/** Pays closed accounts the money held, and the old residual if the investment pays it on exit. */
const payShut = (tx: Tx, { productID, id }: Stored, { date, own, locked }: Shut) =>
  payOut(
    tx,
    { productID, date, with: id },
    sql`
      select e.account_id, e.investment_id,
        case when i.drp_residual_on_exit = 'Pay' then e.drp_residual else e.drp_amount end
          as amount
      from entitlement e join investment i on i.investment_id = e.investment_id
      where ${own}`,
    locked,
  )

export const reinvestStage: Stage<Terms> = {
  name: 'DrpAllotment',
  operation: 'POST /Distribution/DrpAllotment',
  event: 'distribution.completed',
  phases: () => [allot],
  finish: async (tx, stored, { price, date }) => {
    const [done] = await tx.query<{ accounts: number; units: string; total: string }>(sql`
      select count(drp_transaction_id)::int as accounts,
        trim_scale(coalesce(sum(drp_units), 0))::text as units,
        trim_scale(coalesce(sum(drp_cost), 0))::text as total
      from entitlement e where ${ofDistribution(stored, 'e')}`)
    const { accounts, units, total } = done!
    const shut = await paidOut(tx, paidByAllotment(stored, everyone))
    await moveOn(
      tx,
      stored,
      Completed,
      sql`reinvested_amount = ${total}, completed_date = m.moment, drp_price = ${price},
        drp_allotment_date = ${date}`,
    )
    const allotted = `Allotted ${units} units for ${total} to ${accountsInWords(accounts)}.`
    return {
      message: `${allotted}${wordsOf(shut)}`,
      counts: { accounts },
      changes: {
        accounts,
        units,
        total,
        ...residualAmount(shut),
        drpPrice: price,
        drpAllotmentDate: date,
      },
    }
  },
}

/** A sentence about the money paid to accounts that were closed since the payment. */
const wordsOf = ({ accounts, total }: PaidOut) =>
  accounts === 0 ? '' : ` ${total} is paid to ${accountsInWords(accounts)} closed since.`

/**
 * Refuses an allotment dated before another one of the same investment. The other one's residual
 * does not exist yet on the earlier day, so allotments must run in order of their days. The lock on
 * the investment keeps two that begin at once from missing each other.
 */
async function refuseOutOfTurn(tx: Tx, { productID, id, investmentID }: Stored, date: string) {
  await tx.query(sql`
    select 1 from investment where investment_id = ${investmentID} for no key update`)
  const [later] = await tx.query<{ id: number; date: string }>(sql`
    select d.corporate_action_id as id, l.date::text
    from distribution d
    left join distribution_stage g on g.product_id = d.product_id
      and g.corporate_action_id = d.corporate_action_id and g.stage = ${reinvestStage.name}
    cross join lateral (
      select coalesce((g.terms ->> 'date')::date, d.drp_allotment_date) as date) l
    where d.product_id = ${productID} and d.investment_id = ${investmentID}
      and d.corporate_action_id <> ${id}
      and (d.distribution_status_id = ${Completed} or g.stage is not null)
      and l.date > ${date}::date
    limit 1`)
  if (later)
    throw conflict(
      'later_allotment',
      `Distribution ${later.id} is reinvested as of ${later.date}: take that back first.`,
      'drpAllotmentDate',
    )
}

/**
 * The DRP target, which must be active as for any allotment. If it is not, the money stays held and
 * the stage can be called again when the target is active.
 */
async function activeTarget(tx: Tx, { drpInvestmentID }: Stored) {
  const [target] = await tx.query<{ isActive: boolean; unitDecimals: number }>(sql`
    select is_active as "isActive", unit_decimals as "unitDecimals"
    from investment where investment_id = ${drpInvestmentID}`)
  if (!target!.isActive)
    throw conflict('investment_inactive', 'The DRP target takes no new money.', 'drpInvestmentID')
  return target!
}
