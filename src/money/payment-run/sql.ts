import sql, { raw } from 'sql-template-tag'
import { ledgerScope } from '../../catalogue/product/sql.ts'
import { type Actor, inLedgerScope } from '../../platform/actor.ts'
import { conflict, notFound } from '../../platform/refusal.ts'
import { conditions } from '../../platform/sql/filters.ts'
import type { Fragment, Sql, Tx } from '../../platform/sql/handle.ts'
import { page, renderPage } from '../../platform/sql/paging.ts'
import { columns, lastThree, many, render } from '../../platform/sql/render.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import { unhurried } from '../../platform/sql/unhurried.ts'
import {
  Payment,
  type PaymentQuery,
  PaymentRun,
  paymentFilters,
  type RunQuery,
  type RunResult,
  runFilters,
} from './schema.ts'

export type RunID = { productID: number; id: number }
export type Run = RunID & {
  state: 'Draft' | 'Approved' | 'Sent' | 'Closed'
  createdBy: number
}

const runColumns = columns(PaymentRun, 't')

/** The most exceptions that are listed; their count and sum cover all of them. */
const mostExceptions = 1000

/**
 * The payments of run t, as columns count and amount. From its approval on a run pays what its
 * files pay, and has perhaps a million payments, so that only a draft's are added up.
 */
const paymentsOfRun = sql`
  select f.payment_count as count, f.amount from payment_run_file f
  where t.state <> 'Draft' and f.product_id = t.product_id
    and f.payment_run_id = t.payment_run_id
  union all
  select 1, p.amount from payment p
  where t.state = 'Draft' and p.product_id = t.product_id
    and p.payment_run_id = t.payment_run_id`

/** Runs as the API shows them, from a selection of rows called t. */
const selectRuns = (rows: Fragment) => sql`
  select ${runColumns}, t.sources,
    json_build_object('count', p.count + x.count, 'amount', p.amount + x.amount) as payable,
    json_build_object('count', p.count, 'amount', p.amount) as payments,
    json_build_object('count', x.count, 'amount', x.amount) as exceptions,
    ${many(sql`
      select e.account_id as "accountID", a.account_number as "accountNumber",
        e.biz_transaction_id as "bizTransactionID", trim_scale(e.amount) as amount, e.code
      from payment_exception e join account a on a.account_id = e.account_id
      where e.product_id = t.product_id and e.payment_run_id = t.payment_run_id
      order by e.biz_transaction_id limit ${mostExceptions}`)} as "exceptionList",
    ${many(sql`
      select f.file_number as "fileNumber", f.file_name as "fileName", f.sha256,
        length(f.content) as size, f.payment_count as "paymentCount",
        trim_scale(f.amount) as amount, f.warnings
      from payment_run_file f
      where f.product_id = t.product_id and f.payment_run_id = t.payment_run_id
      order by f.file_number`)} as files
  from (${rows}) t
  cross join lateral (
    select coalesce(sum(p.count), 0)::int as count,
      trim_scale(coalesce(sum(p.amount), 0)) as amount
    from (${paymentsOfRun}) p) p
  cross join lateral (
    select count(*)::int as count, trim_scale(coalesce(sum(e.amount), 0)) as amount
    from payment_exception e
    where e.product_id = t.product_id and e.payment_run_id = t.payment_run_id) x
  order by t.payment_run_id`

export const renderRun = (handle: Sql, _actor: Actor, { productID, id }: RunID) =>
  render(
    inProduct(handle, productID),
    selectRuns(sql`
      select * from payment_run where product_id = ${productID} and payment_run_id = ${id}`),
  )

export function readRuns(handle: Sql, actor: Actor, query: RunQuery) {
  return renderPage(handle, query, {
    key: ['paymentRunID'],
    scope: ledgerScope(actor, query, 't.product_id'),
    rows: (wanted, within) => sql`
      select t.* from payment_run t
      where ${within} and ${conditions(runFilters, query)}
      ${page(wanted, 'payment_run t', 't.payment_run_id')}`,
    show: selectRuns,
  })
}

const paymentColumns = columns(Payment, 't', {
  accountNumber: 'a.account_number',
  bizEntityID: 'a.biz_entity_id',
  payeeAccountNumber: lastThree('t.payee_account_number'),
  payeeIban: lastThree('t.payee_iban'),
})

/** Shows only the last digits of account numbers: only the file has them in full. */
export function readPayments(handle: Sql, actor: Actor, query: PaymentQuery) {
  return renderPage(handle, query, {
    key: ['paymentID'],
    scope: ledgerScope(actor, query, 't.product_id'),
    rows: (wanted, within) => sql`
      select t.* from payment t
      where ${within} and ${conditions(paymentFilters, query)}
      ${page(wanted, 'payment t', 't.payment_id')}`,
    show: (rows) => sql`
      select ${paymentColumns} from (${rows}) t join account a on a.account_id = t.account_id
      order by t.payment_id`,
  })
}

/** The run that a request names, if the caller may see it. */
export async function findRun(handle: Sql, actor: Actor, id: number): Promise<Run> {
  const [run] = await handle.query<Run>(selectRun(actor, id))
  if (!run) throw notFound('not_found', `There is no payment run ${id}.`, 'paymentRunID')
  return run
}

const selectRun = (actor: Actor, id: number) => sql`
  select product_id as "productID", payment_run_id as id, state,
    created_by_user_id as "createdBy"
  from payment_run
  where ${inLedgerScope(actor, 'product_id')} and payment_run_id = ${id}`

/**
 * Locks the run that a request names, so that concurrent requests take a step of it only once. The
 * step may change all payments of the run.
 */
export async function lockRun(
  tx: Tx,
  actor: Actor,
  id: number,
  wanted: readonly Run['state'][],
): Promise<Run> {
  const { productID } = await findRun(tx, actor, id)
  await unhurried(tx)
  const [run] = await tx.query<Run>(sql`
    select product_id as "productID", payment_run_id as id, state,
      created_by_user_id as "createdBy"
    from payment_run where product_id = ${productID} and payment_run_id = ${id} for update`)
  if (!run) throw notFound('not_found', `There is no payment run ${id}.`, 'paymentRunID')
  if (!wanted.includes(run.state))
    throw conflict(
      'wrong_state',
      `The payment run is ${run.state}; this needs it to be ${wanted.join(' or ')}.`,
    )
  return run
}

/** The run of a payment that is named without its run: a bank knows references, not runs. */
export async function runOfPayment(
  handle: Sql,
  actor: Actor,
  { paymentID, reference }: RunResult['payments'][number],
): Promise<number> {
  const named = paymentID ? sql`p.payment_id = ${paymentID}` : sql`p.reference = ${reference}`
  const [payment] = await handle.query<{ runID: number }>(sql`
    select p.payment_run_id as "runID" from payment p
    where ${inLedgerScope(actor, 'p.product_id')} and ${named}`)
  if (!payment) throw notFound('not_found', 'payments[0] names no payment.', 'payments[0]')
  return payment.runID
}

/** The rows of a run, as a condition on the table under this alias. */
export const ofRun = ({ productID, id }: RunID, alias: string) =>
  sql`${raw(alias)}.product_id = ${productID} and ${raw(alias)}.payment_run_id = ${id}`
