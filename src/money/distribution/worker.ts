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
 * Works on a stage that is under way, span by span, each its own short transaction which locks only
 * its accounts. It may be killed anywhere: what is committed stays, and whoever comes next goes on
 * from there. Two at once do no harm: one finds the row locked and leaves.
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

/** The row of a stage, ours alone until the transaction ends. */
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

/** The last span of a phase leads to the next phase. */
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

/** The stage is done: its figures, its status and its audit record come together. */
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
 * What a person must mend is told in the stage's progress; the queue tries the rest again, a
 * database that was away included: a stage that has stopped does not go on by itself.
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

/** Stages whose workers died go back into the queue; one that still waits there keeps its place. */
export const reviveStages = (database: Database) =>
  database.transaction(async (tx) => {
    const asleep = await tx.query<DistributionID>(sql`
      select product_id as "productID", corporate_action_id as id from distribution_stage
      where error_message is null and progress_date < now() - interval '3 seconds' limit 100`)
    for (const which of asleep) await queueStage(tx, which)
  })
