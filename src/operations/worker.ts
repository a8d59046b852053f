import type { ClientConfig } from 'pg'
import type { Config } from '../config.ts'
import { reviveStages, workOnStage } from '../money/distribution/worker.ts'
import type { Actor } from '../platform/actor.ts'
import { collectFiles } from '../platform/files/collect.ts'
import { openFiles } from '../platform/files/open.ts'
import { errorForLog, type Log } from '../platform/log.ts'
import type { Database } from '../platform/sql/handle.ts'
import { startQueue } from '../platform/sql/queue.ts'
import { openMailer, reviveSending, sendStatements } from '../records/report/deliver.ts'
import { type Makers, makeReport, reviveReports } from '../records/report/make.ts'

/** Reports made at once by one process. */
const concurrency = 2
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
  actorOf: (userID: number) => Promise<Actor | undefined>
  log: Log
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
    snapshot: database.snapshot,
    files,
    ring: database.bell.ring,
    actorOf,
    onFault: (reportID, error) =>
      log.error({ reportID, err: errorForLog(error) }, 'a report failed'),
  }
  const mailer = openMailer(config)
  const { transaction } = database
  const deliverer = { transaction, files, mailer, from: config.smtpFrom }
  const accountsAtOnce = Math.max(1, Math.min(mostAccountsAtOnce, config.stageInline))
  const stageWork = { database, accountsAtOnce }
  const stopQueue = startQueue({
    connection,
    concurrency,
    tasks: {
      make_report: (_payload, signal) => makeReport(makers, signal),
      collect_files: () => collectFiles(own),
      send_statements: (payload, signal) =>
        sendStatements(deliverer, (payload as { reportID: number }).reportID, signal),
      work_on_stage: (payload, signal) =>
        workOnStage(stageWork, payload as { productID: number; id: number }, signal).catch(
          (error) => {
            log.error({ payload, err: errorForLog(error) }, 'a stage of a distribution failed')
            throw error
          },
        ),
    },
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
