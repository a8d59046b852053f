import sql from 'sql-template-tag'
import { lockSet, postSet } from '../../ledger/biz-transaction/post-set.ts'
import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import type { Payment } from './schema.ts'
import { identifyDistribution, lockDistribution, renderDistributionList } from './sql.ts'
import { moveOn, refuseOtherStage, workOnWholeTables } from './stage.ts'

const { Declared, Paid } = lookups.DistributionStatus
const type = lookups.BizTransactionType['Distribution payment']

/** Pays the cash part: one transaction per account; the part that goes to the DRP is held. */
export async function payDistribution(tx: Tx, actor: Actor, payment: Payment): Promise<Written> {
  const which = await identifyDistribution(tx, actor, payment)
  const stored = await lockDistribution(tx, which)
  refuseOtherStage(stored, Declared)
  await workOnWholeTables(tx)
  const { productID, id } = which
  const own = sql`e.product_id = ${productID} and e.corporate_action_id = ${id}`
  const locked = await lockSet(
    tx,
    productID,
    sql`select e.account_id from entitlement e where ${own} and e.cash_amount > 0`,
  )
  // The bank account is the one for distributions, the default first, as it is at payment. Looked
  // up row by row: nobody has counted these rows yet, and a join might compare each with all the
  // others.
  await tx.query(sql`
    update entitlement e set
      payment_transaction_id = nextval('biz_transaction_biz_transaction_id_seq'),
      payment_detail_id = (
        select d.payment_detail_id
        from account a join payment_detail d on d.biz_entity_id = a.biz_entity_id
        where a.account_id = e.account_id and d.is_for_distribution
        order by d.is_default desc, d.payment_detail_id limit 1)
    where ${own} and e.cash_amount > 0`)
  const date = stored.paymentDate!
  await postSet(tx, productID, locked, {
    date,
    postings: sql`
      select e.payment_transaction_id as id, null::bigint as parent_id,
        ${type}::smallint as type_id, e.account_id, e.investment_id,
        ${date}::date as transaction_date, null::numeric as investment_price,
        e.cash_amount as amount, 0::numeric as quantity, 0::numeric as entry_fee_amount,
        null::text as external_id, null::text as comment, e.corporate_action_id,
        null::bigint as biz_event_id
      from entitlement e where ${own} and e.payment_transaction_id is not null`,
  })
  const [done] = await tx.query<{ accounts: number; total: string }>(sql`
    select count(*)::int as accounts, trim_scale(coalesce(sum(cash_amount), 0))::text as total
    from entitlement e where ${own} and cash_amount > 0`)
  const { accounts, total } = done!
  await moveOn(tx, which, Paid, sql`paid_amount = ${total}, paid_date = now()`)
  return {
    ...(await renderDistributionList(tx, which)),
    message: `Paid ${total} to ${accounts} accounts.`,
    ids: [id],
    productID,
    counts: { accounts },
    changes: { accounts, total },
  }
}
