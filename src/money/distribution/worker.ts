import { randomUUID } from 'node:crypto'
import sql from 'sql-template-tag'
import { conflict, Refusal } from '../../platform/refusal.ts'
import type { Database, Fragment, Tx } from '../../platform/sql/handle.ts'
import { keepLedgerRows } from '../../platform/sql/ledger-version.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import { inProduct } from '../../platform/sql/spread.ts'
import { unitOfWork } from '../../platform/sql/unit-of-work.ts'
import { isLast, type Span, spanFrom } from './span.ts'
import { type DistributionID, ofDistribution, readDistribution, type Stored } from './sql.ts'
import { queueStage, type Stage, workOnWholeTables } from './stage.ts'
import { stages } from './stages.ts'

export type StageWork = {
  database: Database
  /** How many accounts are worked on in one transaction. */
  accountsAtOnce: number
}

type Row = {
  stage: keyof typeof stages
  terms: object
  phase: number
  after: number
  userID: number
  username: string
}

/**
 * Works on a stage that is under way, span by span. Each span is a short transaction and locks only
 * its accounts. If the process is killed, committed spans stay and the next worker goes on from
 * there. Two workers at once do no harm: the second finds the stage's row locked and leaves.
 */
export async function workOnStage(work: StageWork, which: DistributionID, signal: AbortSignal) {
  const { database } = work
  for (;;) {
    if (signal.aborted) {
      await database.transaction((tx) => queueStage(tx, which))
      return
    }
    const end = await database
      .transaction((tx) => workOnSpan(tx, which, work.accountsAtOnce))
      .catch((error) => giveUp(database, which, error))
    if (end === 'left') return
    if (end === 'done') return finish(database, which)
  }
}

/** Locks the row of a stage; undefined if another worker holds it or the stage has stopped. */
async function lockStage(tx: Tx, { productID, id }: DistributionID) {
  const [row] = await tx.query<Omit<Row, 'terms'> & { terms: string }>(sql`
    select stage, terms::text as terms, phase, after_account_id as after,
      user_id as "userID", username
    from distribution_stage
    where product_id = ${productID} and corporate_action_id = ${id} and error_message is null
    for update skip locked`)
  return row && { ...row, terms: JSON.parse(row.terms) as object }
}

const stageOf = ({ stage }: Row) => stages[stage] as Stage<object>

export async function workOnSpan(
  all: Tx,
  which: DistributionID,
  accountsAtOnce: number,
): Promise<'left' | 'more' | 'done'> {
  const tx = inProduct(all, which.productID)
  const row = await lockStage(tx, which)
  if (!row) return 'left'
  const stored = await readDistribution(tx, which)
  const phase = stageOf(row).phases(stored, true)[row.phase]
  if (!phase) return 'done'
  await workOnWholeTables(tx)
  const isFirst = row.after === 0
  const terms = (isFirst && (await phase.prepare?.(tx, stored, row.terms))) || row.terms
  const span = await nextSpan(tx, row, phase.accounts(stored), accountsAtOnce)
  await phase.work(tx, stored, { ...terms, userID: row.userID }, span)
  await tell(tx, stored, terms, span, accountsAtOnce)
  return 'more'
}

async function nextSpan(tx: Tx, { after }: Row, accounts: Fragment, count: number) {
  const [boundary] = await tx.query<{ id: number }>(sql`
    select x.account_id as id from ${accounts} and x.account_id > ${after}
    order by x.account_id offset ${count - 1} limit 1`)
  return spanFrom(after, boundary?.id)
}

/** Records the progress after a span. The last span of a phase leads to the next phase. */
const tell = (tx: Tx, { productID, id }: Stored, terms: object, span: Span, count: number) => {
  const last = isLast(span)
  return tx.query(sql`
    update distribution_stage set terms = ${JSON.stringify(terms)}::jsonb,
      phase = phase + ${last ? 1 : 0}::int, after_account_id = ${last ? 0 : span.upTo},
      accounts_done = case when ${last} then 0
        else least(account_count, accounts_done + ${count}::int) end,
      progress_date = now()
    where product_id = ${productID} and corporate_action_id = ${id}`)
}

/** Ends a stage: its figures, its status and its audit record are written in one transaction. */
async function finish(database: Database, which: DistributionID) {
  const row = await database.transaction((tx) => lockStage(tx, which))
  if (!row) return
  const { operation, event, finish: settle } = stageOf(row)
  const { userID, username } = row
  const requestID = randomUUID()
  const write = { userID, username, operation, event, resource: 'Distribution', requestID }
  const work = async (all: Tx) => {
    const tx = inProduct(all, which.productID)
    const locked = await lockStage(tx, which)
    if (!locked || locked.stage !== row.stage) throw somebodyElse()
    await workOnWholeTables(tx)
    const stored = await readDistribution(tx, which)
    const finished = await settle(tx, stored, locked.terms)
    await keepLedgerRows(tx, 'distribution_stage', ofDistribution(which, 't'))
    await tx.query(sql`
      delete from distribution_stage
      where product_id = ${which.productID} and corporate_action_id = ${which.id}`)
    return { ...nothingLeft, ...finished, ids: [which.id], productID: which.productID }
  }
  await unitOfWork(database, write, work).catch((error) => giveUp(database, which, error))
}

const somebodyElse = () => conflict(taken, 'Another process finishes this stage.')
const taken = 'finished_elsewhere'

/**
 * Stops a stage after a refusal, which a person must resolve: the message appears in its progress,
 * and the stage does not go on by itself. Other errors, such as a database that is away, are thrown
 * so that the queue tries again.
 */
async function giveUp(database: Database, which: DistributionID, error: unknown): Promise<'left'> {
  if (!(error instanceof Refusal) || error.status >= 500) throw error
  if (error.problems[0]?.code === taken) return 'left'
  await database.transaction((tx) =>
    tx.query(sql`
      update distribution_stage set error_message = ${error.message.slice(0, 500)}
      where product_id = ${which.productID} and corporate_action_id = ${which.id}`),
  )
  return 'left'
}

/** Queues stages again whose workers died. A stage that is still queued keeps its place. */
export const reviveStages = (database: Database) =>
  database.transaction(async (tx) => {
    const asleep = await tx.query<DistributionID>(sql`
      select product_id as "productID", corporate_action_id as id from distribution_stage
      where error_message is null and progress_date < now() - interval '3 seconds' limit 100`)
    for (const which of asleep) await queueStage(tx, which)
  })
