import sql from 'sql-template-tag'
import type { Actor } from '../../platform/actor.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { conflict } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { keepLedgerRows } from '../../platform/sql/ledger-version.ts'
import { queueJob } from '../../platform/sql/queue.ts'
import { renderOne } from '../../platform/sql/render.ts'
import type { Written } from '../../platform/sql/unit-of-work.ts'
import { everyone, type Span } from './span.ts'
import {
  type DistributionID,
  ofDistribution,
  renderDistributionList,
  type Stored,
  stageProgress,
} from './sql.ts'
import { keepDistribution } from './versions.ts'
import { accountsInWords } from './words.ts'

export type StageName =
  | 'Declare'
  | 'Payment'
  | 'DrpAllotment'
  | 'ReverseDeclare'
  | 'ReversePayment'
  | 'ReverseDrpAllotment'

/** One pass over the accounts of a stage, all at once or span by span. */
export type Phase<Terms> = {
  /** The rows x whose account ids are divided into spans. */
  accounts: (stored: Stored) => Fragment
  /** Works out terms that depend on all accounts, before the first span. */
  prepare?: (tx: Tx, stored: Stored, terms: Terms) => Promise<Terms>
  work: (tx: Tx, stored: Stored, terms: Terms & By, span: Span) => Promise<void>
}

/** The user who ordered a stage. */
export type By = { userID: number }

/** What a finished stage reports in its answer, event and audit record. */
export type Finished = {
  message: string
  counts?: Record<string, number>
  changes: Record<string, unknown>
}

/** A stage of a distribution, which runs in one transaction or as a job of many short ones. */
export type Stage<Terms> = {
  name: StageName
  operation: `POST /Distribution/${string}`
  event: `distribution.${'declared' | 'paid' | 'completed' | 'reversed'}`
  phases: (stored: Stored, asJob: boolean) => Phase<Terms>[]
  finish: (tx: Tx, stored: Stored, terms: Terms) => Promise<Finished>
}

const names = Object.fromEntries(
  Object.entries(lookups.DistributionStatus).map(([name, id]) => [id, name]),
)

/** Refuses a stage at the wrong status, so that a repeated call does not do the stage twice. */
export function refuseOtherStage(stored: Stored, wanted: number) {
  refuseUnderWay(stored)
  const { statusID } = stored
  if (statusID !== wanted)
    throw conflict(
      'wrong_stage',
      `The distribution is ${names[statusID]}; this stage needs it to be ${names[wanted]}.`,
    )
}

export function refuseUnderWay({ underWay }: Stored) {
  if (underWay)
    throw conflict(
      'in_progress',
      `The stage ${underWay} is under way: see stageProgress of GET /Distribution.`,
    )
}

/** How far ahead of its date a stage may be done. */
const mostDaysAhead = 14

/** Postings count from their date on, so a date far in the future is taken for a typing error. */
export function refuseFarAhead({ today }: Pick<Stored, 'today'>, date: string, field: string) {
  const days = (Date.parse(date) - Date.parse(today)) / 86_400_000
  if (days > mostDaysAhead)
    throw conflict(
      'too_early',
      `The ${field} ${date} is more than ${mostDaysAhead} days ahead of today, ${today}.`,
      field,
    )
}

/** Refuses a date in a locked period, in which no posting may change. */
export function refuseLocked({ lockedDate }: Pick<Stored, 'lockedDate'>, date: string) {
  if (lockedDate !== null && date <= lockedDate)
    throw conflict('period_locked', `The product is locked up to ${lockedDate}; ${date} is in it.`)
}

export async function moveOn(tx: Tx, which: DistributionID, statusID: number, also: Fragment) {
  await keepDistribution(tx, which)
  await tx.query(sql`
    update distribution set distribution_status_id = ${statusID}, updated_date = now(), ${also}
    from (select clock_timestamp() as moment) m
    where product_id = ${which.productID} and corporate_action_id = ${which.id}`)
}

/** A stage may work on a million rows: no time limit, sequential scans, more memory for sorting. */
export async function workOnWholeTables(tx: Tx) {
  await tx.query(sql`
    select set_config('statement_timeout', '0', true), set_config('enable_seqscan', 'on', true),
      set_config('plan_cache_mode', 'force_custom_plan', true),
      set_config('work_mem', '256MB', true)`)
}

/** How a stage begins: its accounts, and up to how many (`inline`) it is done in the request. */
export type Beginning<Terms> = { terms: Terms; accounts: number; inline: number }

/** Does a stage in the request, or starts it as a job if there are many accounts. */
export async function begin<Terms extends object>(
  tx: Tx,
  actor: Actor,
  stored: Stored,
  stage: Stage<Terms>,
  { terms, accounts, inline }: Beginning<Terms>,
): Promise<Written> {
  const told = { ids: [stored.id], productID: stored.productID }
  if (accounts > inline) {
    const phases = stage.phases(stored, true).length
    await takeOn(tx, actor, stored, { stage: stage.name, terms, accounts, phases })
    const message = `${stage.name} is under way for ${accountsInWords(accounts)}.`
    const answer = await renderOne(tx, stageProgress(stored))
    return {
      ...answer!,
      accepted: true,
      message,
      ...told,
      changes: { accounts, stage: stage.name },
    }
  }
  await workOnWholeTables(tx)
  let known = terms
  for (const phase of stage.phases(stored, false)) {
    known = (await phase.prepare?.(tx, stored, known)) ?? known
    await phase.work(tx, stored, { ...known, userID: actor.userID }, everyone)
  }
  const finished = await stage.finish(tx, stored, known)
  return { ...(await renderDistributionList(tx, stored)), ...finished, ...told }
}

type Order = { stage: StageName; terms: object; accounts: number; phases: number }

/** Starts a stage as a job. A reversal thereby replaces the stage that is under way. */
async function takeOn(tx: Tx, { userID, username }: Actor, which: DistributionID, order: Order) {
  const { productID, id } = which
  await keepLedgerRows(tx, 'distribution_stage', ofDistribution(which, 't'))
  await tx.query(sql`
    insert into distribution_stage (product_id, corporate_action_id, stage, terms, phases,
      account_count, user_id, username)
    values (${productID}, ${id}, ${order.stage}, ${JSON.stringify(order.terms)}::jsonb,
      ${order.phases}, ${order.accounts}, ${userID}, ${username})
    on conflict (product_id, corporate_action_id) do update set stage = excluded.stage,
      terms = excluded.terms, phases = excluded.phases, phase = 0, after_account_id = 0,
      account_count = excluded.account_count, accounts_done = 0, user_id = excluded.user_id,
      username = excluded.username, error_message = null, started_date = excluded.started_date,
      progress_date = excluded.progress_date`)
  await queueStage(tx, which)
}

export const queueStage = (tx: Tx, { productID, id }: DistributionID) =>
  queueJob(tx, 'work_on_stage', { productID, id }, `stage ${productID} ${id}`)

/** Counts the rows of a phase, one for each account that takes part. */
export async function countAccounts(tx: Tx, accounts: Fragment): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`
    select count(*)::int as count from ${accounts}`)
  return row!.count
}
