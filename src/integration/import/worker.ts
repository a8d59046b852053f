import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientConfig } from 'pg'
import { refuseAround } from '../../access/approval/elsewhere.ts'
import { readAbsentCaller } from '../../access/caller/absent.ts'
import type { Config } from '../../config.ts'
import { organisationTable } from '../../parties/organisation/sql.ts'
import { personTable } from '../../parties/person/sql.ts'
import { agreeOnKeys } from '../../parties/sealed/keys.ts'
import { vaultOf } from '../../parties/sealed/vault.ts'
import { importFiles, openFiles } from '../../platform/files/open.ts'
import { errorForLog, type Log } from '../../platform/log.ts'
import { connect } from '../../platform/registry.ts'
import { readEncryptionKeys } from '../../platform/secrets.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { importConnections } from '../../platform/sql/room.ts'
import { removeLeftDrafts } from './draft.ts'
import { type Order, takeNext } from './order.ts'
import { type Importers, runImport } from './run.ts'
import { modes } from './schema.ts'
import { mostSteps } from './steps.ts'

/**
 * How many imports one process works on. Each needs connections for its steps and one for its
 * progress reports. Imports in a single transaction hold their locks to the end, so fewer of those
 * run at once (`mostWhole`).
 */
const mostAtOnce = Math.floor(importConnections / (mostSteps + 1))
const mostWhole = 2

/** Interval for removing file copies of imports that another node has taken over meanwhile. */
const tidyInterval = 60_000

/** Everything that imports need. They have their own connections, so no caller waits for one. */
export async function importersOf(
  config: Config,
  database: Database,
  bell: Database['bell'],
  log: Log,
): Promise<Importers> {
  const { options } = await openFiles(config, database.transaction)
  const vault = vaultOf(readEncryptionKeys(config))
  await agreeOnKeys({ ...database, bell }, vault, [personTable, organisationTable], (words) =>
    log.warn(words),
  )
  return {
    transaction: database.transaction,
    stream: database.stream,
    isSpread: database.isSpread,
    files: importFiles(config, options),
    draftFolder: options.draftFolder,
    vault,
    ring: bell.ring,
    actorOf: (who) => readAbsentCaller(database, who),
    refuseAround: (written) => refuseAround(database, written),
    onFault: (importID, error) =>
      log.error({ importID, err: errorForLog(error) }, 'an import failed'),
  }
}

type ImportWorker = {
  config: Config
  /** Tells the worker that there is something to do. */
  bell: Database['bell']
  connection: ClientConfig
  log: Log
}

/** Works on imports until it is stopped. Any number of processes may do this at once. */
export async function startImports({ config, connection, bell, log }: ImportWorker) {
  const own = { ...config, databaseConnections: importConnections }
  const database = connect(own, connection, log)
  const importers = await importersOf(config, database, bell, log)
  const running = new Map<Order, Promise<void>>()
  const stopping = new AbortController()
  const trouble = (error: unknown) => {
    if (!stopping.signal.aborted) log.warn({ err: errorForLog(error) }, 'imports are held up')
  }

  const roomFor = () => {
    const whole = [...running.keys()].filter(({ mode }) => mode !== 'continue').length
    return whole < mostWhole ? modes : (['continue'] as const)
  }

  const tidyUp = () => removeLeftDrafts(importers.draftFolder, database.transaction).catch(trouble)
  await tidyUp()
  const tidying = setInterval(() => void tidyUp(), tidyInterval)

  async function look() {
    while (running.size < mostAtOnce && !stopping.signal.aborted) {
      const order = await database.transaction((tx) => takeNext(tx, roomFor()))
      if (!order) return
      // If the import was taken from a dead process, its new lease makes the old file copy unused.
      await tidyUp()
      const run = runImport(importers, order, stopping.signal)
        .catch(trouble)
        .finally(() => running.delete(order))
      running.set(order, run)
    }
  }

  const work = (async () => {
    while (!stopping.signal.aborted) {
      const rung = bell.rung('work')
      await look().catch(trouble)
      await rung
    }
  })()
  return async () => {
    clearInterval(tidying)
    stopping.abort()
    await Promise.race([
      Promise.all([work, ...running.values()]),
      sleep(6_000, undefined, { ref: false }),
    ])
    await database.close()
  }
}
