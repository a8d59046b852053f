import { createHash } from 'node:crypto'
import sql, { raw } from 'sql-template-tag'
import { idsOf } from '../../ledger/biz-transaction/kinds.ts'
import { lockSet } from '../../ledger/biz-transaction/post-set.ts'
import { standing } from '../../parties/account/standing.ts'
import type { Actor } from '../../platform/actor.ts'
import { counts } from '../../platform/lookup/counts.ts'
import { currencyCodes } from '../../platform/lookup/lookups.ts'
import { conflict, forbidden, refuseAll } from '../../platform/refusal.ts'
import type { Tx } from '../../platform/sql/handle.ts'
import { keepLedgerRows } from '../../platform/sql/ledger-version.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { splitForAba } from './aba.ts'
import { dropEmpty } from './create.ts'
import { type FilePayment, type FileRun, fileOf } from './file-of.ts'
import { lockRun, ofRun, type RunID, renderRun } from './sql.ts'

/** Locks a draft that another user made; refuses the user's own. */
export async function lockOthers(tx: Tx, actor: Actor, runID: number) {
  const run = await lockRun(tx, actor, runID, ['Draft'])
  if (run.createdBy === actor.userID)
    throw forbidden('own_run', 'A payment run must be approved by somebody other than its maker.')
  return run
}

/**
 * Approves a draft, by another person than its maker: items that the ledger no longer pays leave
 * the run, and the files are made, whose bytes never change afterwards.
 */
export async function approveRun(all: Tx, actor: Actor, runID: number): Promise<Written> {
  const run = await lockOthers(all, actor, runID)
  const tx = inProduct(all, run.productID)
  await settleItems(tx, run)
  await refuseTakenBack(tx, run)
  await refuseSuspended(tx, run)
  const { currency, files } = await makeFiles(tx, run)
  await keepLedgerRows(tx, 'payment_run', ofRun(run, 't'))
  await tx.query(sql`
    update payment_run r set state = 'Approved', approved_by_user_id = ${actor.userID},
      approved_date = now() where ${ofRun(run, 'r')}`)
  const { productID } = run
  const answer = await renderRun(tx, actor, run)
  return { ...answer, ids: [runID], productID, changes: { currency, files } }
}

/**
 * Locks the accounts, so that a change of a transaction either came before or will see the
 * approval. Transactions leave drafts when they are changed (leave.ts); taking out items here is
 * for drafts made before the register did that.
 */
async function settleItems(tx: Tx, run: RunID) {
  const { productID } = run
  await lockSet(tx, productID, sql`select p.account_id from payment p where ${ofRun(run, 'p')}`)
  const isGone = (alias: string) => sql`${ofRun(run, alias)} and not exists (
    select 1 from biz_transaction b
    where b.product_id = ${productID} and b.biz_transaction_id = ${raw(alias)}.biz_transaction_id
      and ${raw(counts('b'))} and abs(b.amount) = ${raw(alias)}.amount)`
  await keepLedgerRows(tx, 'payment_item', isGone('t'))
  await tx.query(sql`delete from payment_item m where ${isGone('m')}`)
  await dropEmpty(tx, productID, (alias) => ofRun(run, alias))
}

/** Refuses a run with payments of a distribution that a job is taking back. */
async function refuseTakenBack(tx: Tx, run: RunID) {
  const [back] = await tx.query<{ id: number }>(sql`
    select b.corporate_action_id as id
    from distribution_stage g
    join biz_transaction b on b.product_id = g.product_id
      and b.corporate_action_id = g.corporate_action_id
    join payment_item m on m.product_id = b.product_id
      and m.biz_transaction_id = b.biz_transaction_id
    where g.product_id = ${run.productID} and ${ofRun(run, 'm')}
      and (g.stage = 'ReversePayment' or (g.stage = 'ReverseDrpAllotment'
        and b.biz_transaction_type_id in ${raw(idsOf('Residual payment'))})) limit 1`)
  if (back)
    throw conflict(
      'in_progress',
      `Distribution ${back.id}, which the run pays, is being taken back.`,
    )
}

/** The most accounts that a refusal names. */
const mostNamed = 10

/**
 * Refuses a run with accounts that were suspended since the draft was made. They are not simply
 * left out, because the approver must get the run that was shown; a new draft has them as
 * exceptions.
 */
async function refuseSuspended(tx: Tx, run: RunID) {
  const suspended = await tx.query<{ account: string }>(sql`
    select distinct a.account_number as account
    from payment p
    join account a on a.account_id = p.account_id
    join biz_entity n on n.biz_entity_id = a.biz_entity_id
    where ${ofRun(run, 'p')} and ${standing('a', 'n')} = 'suspended'
    order by 1 limit ${mostNamed}`)
  refuseAll(
    409,
    suspended.map(({ account }) => ({
      code: 'account_suspended',
      message:
        `Account ${account} was suspended since the draft was made: delete the draft and make it ` +
        'anew.',
    })),
  )
}

/**
 * The indicator for the bank of tax withheld from a non-resident: Y for interest alone, W for a
 * country with a treaty when it was paid, X without. Distributions paid before treaties were stored
 * (paid_treaties) go by the present rates.
 */
const taxIndicator = `(
  select case when bool_and(w.income_kind = 'Interest') then 'Y'
    when bool_or(case when d.paid_treaties is not null
      then w.country_code = any(d.paid_treaties) else exists (
      select 1 from withholding_rate x
      join lookup l on l.category = 'Country' and l.code = x.country_code
      where x.rule = 'NonResident' and x.income_kind = 'UnfrankedDividend'
        and w.country_code in (l.code, l.description)
        and d.payment_date between x.valid_from and coalesce(x.valid_to, 'infinity')) end) then 'W'
    else 'X' end
  from payment_item m
  join entitlement e on e.product_id = m.product_id
    and e.payment_transaction_id = m.biz_transaction_id and e.account_id = p.account_id
  join withholding w on w.product_id = e.product_id
    and w.corporate_action_id = e.corporate_action_id and w.account_id = e.account_id
  join distribution d on d.product_id = e.product_id
    and d.corporate_action_id = e.corporate_action_id
  where m.product_id = p.product_id and m.payment_id = p.payment_id
    and w.rule = 'NonResident' and w.amount > 0
  having count(*) > 0)`

async function makeFiles(tx: Tx, run: RunID) {
  const [terms] = await tx.query<FileRun>(sql`
    select r.payment_run_id as id, r.format, r.balanced, r.processing_date as "processingDate",
      r.funding_bsb as bsb, r.funding_account_number as "accountNumber",
      r.funding_account_name as "accountName", r.funding_bank_code as "bankCode",
      r.funding_user_id as "userID", r.funding_remitter_name as "remitterName",
      to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS') as created,
      r.currency_id as "currencyID", minor_units(r.currency_id) as decimals
    from payment_run r where ${ofRun(run, 'r')}`)
  const payments = await tx.query<FilePayment>(sql`
    select p.payment_id as id, round(p.amount, ${terms!.decimals}::int)::text as amount,
      p.tax_amount::text as tax, p.reference,
      p.payee_name as name, p.payee_bsb as bsb, p.payee_account_number as "accountNumber",
      p.payee_iban as iban, p.payee_swift as swift, p.entry_code as code,
      case when p.tax_amount > 0 then ${raw(taxIndicator)} end as indicator
    from payment p where ${ofRun(run, 'p')} order by p.payment_id`)
  if (payments.length === 0) throw conflict('nothing_to_pay', 'The run has no payments left.')
  const parts = terms!.format === 'ABA' ? splitForAba(payments, terms!.balanced) : [payments]
  const files = parts.map((part, i) => {
    const file = fileOf(terms!, part, parts.length > 1 ? i + 1 : undefined)
    const content = Buffer.from(file.text, terms!.format === 'ABA' ? 'latin1' : 'utf8')
    const sha256 = createHash('sha256').update(content).digest('hex')
    return { ...file, content, sha256, number: i + 1, ids: part.map(({ id }) => id) }
  })
  const kept: FileShown[] = []
  for (const file of files) kept.push(await keep(tx, run, file))
  return { currency: currencyCodes[terms!.currencyID], files: kept }
}

type Kept = ReturnType<typeof fileOf> & {
  content: Buffer
  sha256: string
  number: number
  ids: number[]
}

/** What the approver sees of a file, and the audit trail keeps. */
type FileShown = { fileName: string; sha256: string; payments: number; amount: string }

async function keep(tx: Tx, run: RunID, file: Kept): Promise<FileShown> {
  const own = sql`${ofRun(run, 'p')} and p.payment_id = any(${file.ids}::bigint[])`
  await tx.query(sql`update payment p set file_number = ${file.number} where ${own}`)
  const [shown] = await tx.query<FileShown>(sql`
    insert into payment_run_file (product_id, payment_run_id, file_number, file_name, content_type,
      content, sha256, payment_count, amount, warnings)
    select ${run.productID}, ${run.id}, ${file.number}, ${file.fileName}, ${file.contentType},
      ${file.content}, ${file.sha256}, count(*), sum(p.amount), ${file.warnings}::text[]
    from payment p where ${own}
    returning file_name as "fileName", sha256, payment_count as payments, amount::text as amount`)
  return shown!
}
