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
 * Reports made at once by one process, and those of one user: somebody else's need not wait, and on
 * few processors they do not have to share them with two large ones.
 */
const reportsAtOnce = 3
export const ofOneUser = availableParallelism() < 4 ? 1 : 2
/** Mailings that take turns with the one connection to the mail server, letter by letter. */
const mailingsAtOnce = 4
/** Other work of one process; it waits neither for reports nor for a mail server. */
const othersAtOnce = 2
const reviveInterval = 10_000
/** A stage that is under way is looked after sooner: somebody waits for it. */
const reviveStagesInterval = 2_000
const collectInterval = 10 * 60_000
/** Of a distribution's stage in one transaction: about a quarter of a second of work. */
const mostAccountsAtOnce = 5_000

export type WorkerOptions = {
  config: Config
  connection: ClientConfig
  database: Database
  actorOf: Makers['actorOf']
  log: Log
  /** Milliseconds for a letter; some minutes where left out. */
  mailPatience?: number
}

/**
 * Works on the queue: reports, stages of distributions, and files that nobody needs any more. Stops
 * when told to.
 */
export async function startWorker(options: WorkerOptions): Promise<() => Promise<void>> {
  const { config, connection, database, actorOf, log } = options
  const { options: own, files } = await openFiles(config, database.transaction)
  const makers: Makers = {
    transaction: database.transaction,
    turns: openTurns(database.transaction, ofOneUser),
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
