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

/** The accounts whose residual from an allotment was since used by a later one or paid out. */
export async function usedResiduals(tx: Tx, stored: Stored, span: Span): Promise<Problem[]> {
  const used = await accountsWhere(
    tx,
    stored,
    span,
    sql`e.drp_residual <> e.residual_before and (
      exists (select 1 from entitlement n where n.product_id = e.product_id
        and n.account_id = e.account_id and n.investment_id = e.investment_id
        and n.allotted_date > e.allotted_date)
      or exists (select 1 from residual_payment r where r.product_id = e.product_id
        and r.account_id = e.account_id and r.investment_id = e.investment_id
        and r.corporate_action_id is distinct from e.corporate_action_id
        and r.paid_date > e.allotted_date and r.reversed_date is null))`,
  )
  return used.map((account) => ({
    code: 'residual_used',
    message: `What was left for account ${account} was allotted later, or paid out.`,
  }))
}
