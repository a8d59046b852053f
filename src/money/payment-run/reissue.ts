import sql from 'sql-template-tag'
import { todayOf } from '../../catalogue/product/today.ts'
import type { Actor } from '../../platform/actor.ts'
import { conflict } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { keepLedgerRows } from '../../platform/sql/ledger-version.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { answer, fill } from './create.ts'
import { coolOffDaysOf, type Terms } from './payable.ts'
import type { Reissue } from './schema.ts'
import { lockRun, ofRun, type Run } from './sql.ts'
import { closeIfDone, refuseUnreturned } from './steps.ts'

/**
 * Pays returned payments again in a new run, to the present payees. A payment whose payee still
 * cannot be paid stays returned, and is an exception of the new run.
 */
export async function reissue(all: Tx, actor: Actor, asked: Reissue): Promise<Written> {
  const run = await lockRun(all, actor, asked.paymentRunID, ['Sent', 'Closed'])
  const tx = inProduct(all, run.productID)
  await refuseUnreturned(tx, run, asked.paymentIDs)
  const terms = await copyRun(tx, actor, run)
  const wanted = asked.paymentIDs ?? null
  const returned = sql`${ofRun(run, 'p')} and p.state = 'Returned'
    and (${wanted}::bigint[] is null or p.payment_id = any(${wanted}::bigint[]))`
  const rows = sql`
    select m.biz_transaction_id, p.account_id, t.corporate_action_id, m.amount, m.source
    from payment p
    join payment_item m on m.product_id = p.product_id and m.payment_id = p.payment_id
    join biz_transaction t on t.product_id = m.product_id
      and t.biz_transaction_id = m.biz_transaction_id
    where ${returned}`
  const [any] = await tx.query(sql`select 1 from payment p where ${returned} limit 1`)
  if (!any) throw conflict('nothing_returned', 'No payment of the run is returned.')
  await keepLedgerRows(
    tx,
    'payment_item',
    sql`t.product_id = ${run.productID}
    and t.payment_id in (select p.payment_id from payment p where ${returned})`,
  )
  await fill(
    tx,
    terms,
    rows,
    sql`
    , moved as (
      select i.biz_transaction_id, i.payment_id, m.payment_id as before
      from items i join payment_item m on m.product_id = ${run.productID}
        and m.biz_transaction_id = i.biz_transaction_id)
    update payment_item m set payment_run_id = ${terms.runID}, payment_id = v.payment_id,
      came_from_payment_id = v.before
    from moved v
    where m.product_id = ${run.productID} and m.biz_transaction_id = v.biz_transaction_id`,
  )
  await markReissued(tx, run, terms.runID)
  await closeIfDone(tx, actor, run)
  return answer(tx, actor, terms, { reissueOf: run.id })
}

/** Marks payments as reissued whose items have all gone into payments of the new run. */
async function markReissued(tx: Tx, run: Run, runID: number) {
  const items = (wanted: Fragment, test: Fragment) => sql`
    select ${wanted} from payment_item m where m.product_id = ${run.productID} and ${test}`
  const gone = sql`m.came_from_payment_id = t.payment_id and m.payment_run_id = ${runID}`
  await tx.query(sql`
    update payment p set reissue_of = m.before
    from (
      select payment_id, min(came_from_payment_id) as before from payment_item
      where product_id = ${run.productID} and payment_run_id = ${runID} group by payment_id) m
    where p.product_id = ${run.productID} and p.payment_id = m.payment_id`)
  const wholly = sql`${ofRun(run, 't')} and t.state = 'Returned'
    and exists (${items(sql`1`, gone)})
    and not exists (${items(sql`1`, sql`m.payment_id = t.payment_id`)})`
  await keepLedgerRows(tx, 'payment', wholly)
  await tx.query(sql`
    update payment t set state = 'Reissued', reissued_as = (${items(sql`min(m.payment_id)`, gone)})
    where ${wholly}`)
}

/** Creates the new run with the terms of the first; its processing date is today. */
async function copyRun(tx: Tx, actor: Actor, run: Run): Promise<Terms> {
  const today = await todayOf(tx, run.productID)
  const [made] = await tx.query<Pick<Terms, 'runID' | 'currencyID' | 'format' | 'sources'>>(sql`
    insert into payment_run (product_id, sources, corporate_action_ids, currency_id, up_to_date,
      processing_date, format, balanced, minimum_amount, funding_bsb, funding_account_number,
      funding_account_name, funding_bank_code, funding_user_id, funding_remitter_name,
      created_by_user_id, reissue_of)
    select product_id, sources, corporate_action_ids, currency_id, up_to_date, ${today}::date,
      format, balanced, 0, funding_bsb, funding_account_number, funding_account_name,
      funding_bank_code, funding_user_id, funding_remitter_name, ${actor.userID}, payment_run_id
    from payment_run r where ${ofRun(run, 'r')}
    returning payment_run_id as "runID", currency_id as "currencyID", format, sources`)
  return {
    ...made!,
    productID: run.productID,
    corporateActionIDs: null,
    upToDate: null,
    processingDate: today,
    today,
    minimum: '0',
    isToPresent: true,
    coolOffDays: await coolOffDaysOf(tx, run.productID),
  }
}
