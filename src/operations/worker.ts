import { availableParallelism } from 'node:os'
import type { ClientConfig } from 'pg'
import type { Config } from '../config.ts'
import { reviveStages, workOnStage } from '../money/distribution/worker.ts'
import { collectFiles } from '../platform/files/collect.ts'
import { openFiles } from '../platform/files/open.ts'
import { errorForLog, type Log } from '../platform/log.ts'
import type { Database } from '../platform/sql/handle.ts'
import { startQueue } from '../platform/sql/queue.ts'
import { reviveSending, sendStatements } from '../records/report/deliver.ts'
import { openMailer } from '../records/report/mailer.ts'
import { type Makers, makeReports, reviveReports } from '../records/report/make.ts'
import { openTurns } from '../records/report/turns.ts'

/**
 * How many reports one process makes at once, and how many of them for one user. The limit per user
 * keeps another user's report from waiting, and on few processors from competing with two large
 * reports.
 */
const reportsAtOnce = 3
export const reportsOfOneUser = availableParallelism() < 4 ? 1 : 2
/** Mailings at once; they share one connection to the mail server, letter by letter. */
const mailingsAtOnce = 4
/** Other jobs of one process at once, which wait neither for reports nor for a mail server. */
const othersAtOnce = 2
const reviveInterval = 10_000
/** Stages under way are checked more often, since somebody waits for them. */
const reviveStagesInterval = 2_000
const collectInterval = 10 * 60_000
/** Accounts of a distribution stage in one transaction: about a quarter of a second of work. */
const mostAccountsAtOnce = 5_000

export type WorkerOptions = {
  config: Config
  connection: ClientConfig
  database: Database
  actorOf: Makers['actorOf']
  log: Log
  /** Milliseconds that sending a letter may take; some minutes when left out. */
  mailPatience?: number
}

/**
 * Starts the worker of the queue: reports, mailings, stages of distributions, and removal of files
 * that nothing refers to. Returns a function that stops it.
 */
export async function startWorker(options: WorkerOptions): Promise<() => Promise<void>> {
  const { config, connection, database, actorOf, log } = options
  const { options: own, files } = await openFiles(config, database.transaction)
  const makers: Makers = {
    transaction: database.transaction,
    turns: openTurns(database.transaction, reportsOfOneUser),
    snapshot: database.snapshot,
    files,
    ring: database.bell.ring,
    actorOf,
    onFault: (reportID, error) =>
      log.error({ reportID, err: errorForLog(error) }, 'a report failed'),
  }
  const mailer = openMailer(config, options.mailPatience)
  const { transaction } = database
  const deliverer = { transaction, files, actorOf, mailer, from: config.smtpFrom }
  const accountsAtOnce = Math.max(1, Math.min(mostAccountsAtOnce, config.stageInline))
  const stageWork = { database, accountsAtOnce }
  const reports = {
    concurrency: reportsAtOnce,
    tasks: {
      make_report: (_payload: unknown, signal: AbortSignal) => makeReports(makers, signal),
    },
  }
  const mailings = {
    concurrency: mailingsAtOnce,
    tasks: {
      send_statements: (payload: unknown, signal: AbortSignal) =>
        sendStatements(deliverer, (payload as { reportID: number }).reportID, signal),
    },
  }
  const others = {
    concurrency: othersAtOnce,
    tasks: {
      collect_files: () => collectFiles(own),
      work_on_stage: (payload: unknown, signal: AbortSignal) =>
        workOnStage(stageWork, payload as { productID: number; id: number }, signal).catch(
          (error) => {
            log.error({ payload, err: errorForLog(error) }, 'a stage of a distribution failed')
            throw error
          },
        ),
    },
  }
  const stopQueue = startQueue({
    connection,
    crews: [reports, mailings, others],
    onTrouble: (message) => log.warn({ message }, 'the worker lost the database'),
  })
  const warn = (error: Error) =>
    log.warn({ err: errorForLog(error) }, 'the worker could not tidy up')
  const timers = [
    setInterval(() => void reviveReports(makers).catch(warn), reviveInterval),
    setInterval(() => void reviveStages(database).catch(warn), reviveStagesInterval),
    setInterval(() => void reviveSending(transaction).catch(warn), reviveInterval),
    setInterval(() => void collectFiles(own).catch(warn), collectInterval),
  ]
  return async () => {
    for (const timer of timers) clearInterval(timer)
    await stopQueue()
    mailer?.close()
  }
}
