import sql from 'sql-template-tag'
import type { Closing } from '../../catalogue/product/period.ts'
import { conflict } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { inProduct } from '../../platform/sql/spread.ts'

type UnderWay = { id: number; stage: string; date: string }

/**
 * Refuses to lock a period into which a stage still posts. A job checks the locked period only when
 * it begins, but posts on the day of its stage until it ends. So the period stays open until the
 * job has ended or was reversed; a job that stopped half way can only be reversed. A stage that is
 * just beginning holds the period open until its row is there. Days that were locked before do not
 * matter here.
 */
export async function refuseClosing(all: Tx, { productID, after, upTo }: Closing) {
  const [first] = await inProduct(all, productID).query<UnderWay>(sql`
    select d.corporate_action_id as id, g.stage, s.date::text as date
    from distribution_stage g
    join distribution d on d.product_id = g.product_id
      and d.corporate_action_id = g.corporate_action_id
    cross join lateral (
      select case when g.stage in ('Payment', 'ReversePayment') then d.payment_date
        when g.stage in ('DrpAllotment', 'ReverseDrpAllotment')
          then coalesce((g.terms ->> 'date')::date, d.drp_allotment_date, d.payment_date)
        end as date) s
    where g.product_id = ${productID} and s.date <= ${upTo}::date
      and s.date > coalesce(${after}::date, '-infinity')
    order by d.corporate_action_id limit 1`)
  if (first)
    throw conflict(
      'in_progress',
      `The stage ${first.stage} of distribution ${first.id}, of ${first.date}, is under way: ` +
        'let it end, or take it back, before that day is locked.',
      'lockedDate',
    )
}
