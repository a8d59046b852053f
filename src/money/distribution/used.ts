import sql from 'sql-template-tag'
import type { Problem } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { inSpan, type Span } from './span.ts'
import type { Stored } from './sql.ts'

/** The most accounts that are named. */
const mostNamed = 10

/** The numbers of the accounts of a span whose entitlements e pass a test. */
export async function accountsWhere(
  tx: Tx,
  stored: Stored,
  span: Span,
  test: Fragment,
): Promise<string[]> {
  const rows = await tx.query<{ account: string }>(sql`
    select a.account_number as account
    from entitlement e join account a on a.account_id = e.account_id
    where ${inSpan(stored, 'e', span)} and ${test}
    order by e.account_id limit ${mostNamed}`)
  return rows.map(({ account }) => account)
}

type Used = {
  account: string
  paidAlone: number | null
  paidWith: number | null
  allotted: number | null
}

/**
 * The accounts whose residual from an allotment was since paid out or used by a later allotment,
 * each with what must be undone first.
 */
export async function usedResiduals(tx: Tx, stored: Stored, span: Span): Promise<Problem[]> {
  // The product is given to each subselect: a spread register knows by it where to ask.
  const ofProduct = sql`product_id = ${stored.productID}`
  const used = await tx.query<Used>(sql`
    select a.account_number as account, u.paid_alone as "paidAlone", u.paid_with as "paidWith",
      u.allotted
    from (
      select e.account_id,
        (select max(r.biz_transaction_id) from residual_payment r
          where r.${ofProduct} and ${paidSince} and r.corporate_action_id is null) as paid_alone,
        (select max(r.corporate_action_id) from residual_payment r
          where r.${ofProduct} and ${paidSince}
            and r.corporate_action_id <> e.corporate_action_id) as paid_with,
        (select max(n.corporate_action_id) from entitlement n where n.${ofProduct}
          and n.account_id = e.account_id and n.investment_id = e.investment_id
          and n.allotted_date > e.allotted_date) as allotted
      from entitlement e
      where ${inSpan(stored, 'e', span)} and e.drp_residual <> e.residual_before) u
    join account a on a.account_id = u.account_id
    where coalesce(u.paid_alone, u.paid_with, u.allotted) is not null
    order by u.account_id limit ${mostNamed}`)
  return used.map((one) => ({
    code: 'residual_used',
    message: `What was left for account ${one.account} was ${useOf(one)} first.`,
  }))
}

/** Payments r of the residual of entitlement e's holding since its allotment. */
const paidSince = sql`r.account_id = e.account_id and r.investment_id = e.investment_id
  and r.paid_date > e.allotted_date and r.reversed_date is null`

function useOf({ paidAlone, paidWith, allotted }: Used) {
  if (paidAlone !== null) return `paid out by transaction ${paidAlone}: roll that back`
  if (paidWith !== null) return `paid out by distribution ${paidWith}: reverse that payment`
  return `allotted by distribution ${allotted}: reverse that allotment`
}
