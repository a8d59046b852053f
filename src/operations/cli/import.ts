import { createReadStream, createWriteStream } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command, Option } from 'commander'
import { type Config, readConfig } from '../../config.ts'
import { createImport } from '../../integration/import/create.ts'
import { downloadErrors } from '../../integration/import/download.ts'
import { type Order, takeOne } from '../../integration/import/order.ts'
import { type Importers, runImport } from '../../integration/import/run.ts'
import {
  dateFormats,
  encodings,
  formats,
  ImportInput,
  importTypes,
  modes,
} from '../../integration/import/schema.ts'
import { cancelImport, readImports } from '../../integration/import/sql.ts'
import { importersOf } from '../../integration/import/worker.ts'
import { createLog } from '../../platform/log.ts'
import { bodyReader } from '../../platform/shape/input.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { unitOfWork } from '../../platform/sql/unit-of-work.ts'
import { doorOf, operator, say, withDatabase } from './registry.ts'

type Options = Record<'type' | 'mode', string> &
  Partial<
    Record<'format' | 'dateFormat' | 'encoding' | 'mapping' | 'product' | 'errors', string>
  > & {
    again?: true
  }

export const importCommand = new Command('import')
  .description('import a file of rows: investors, prices, transactions, balances, payment results')
  .argument('<file>', 'a file with the columns of GET /Import/Template')
  .addOption(
    new Option('--type <type>', 'what the rows are').choices(importTypes).makeOptionMandatory(),
  )
  .addOption(
    new Option(
      '--mode <mode>',
      'validate: check only; atomic: import all rows or none; continue: import the good rows',
    )
      .choices(modes)
      .default('validate'),
  )
  .addOption(
    new Option('--format <format>', 'the file format (default: taken from the file name)').choices(
      formats,
    ),
  )
  .addOption(
    new Option('--date-format <format>', 'the format of the dates in the file').choices(
      dateFormats,
    ),
  )
  .addOption(new Option('--encoding <encoding>', 'the encoding of a CSV file').choices(encodings))
  .option(
    '--mapping <json>',
    'the fields of columns with other headings: [{"column":"Konto","field":"accountID"}]',
  )
  .option('--product <id>', 'accept only rows of this product')
  .option('--again', 'import a file again that was already imported')
  .option('--errors <file>', 'the file for the refused rows (default: beside the imported file)')
  .action(async (file: string, options: Options) => {
    const config = readConfig()
    const end = await withDatabase(config, (database) => perform(config, database, file, options))
    process.exitCode = end.status === 'Completed' && end.rowsRefused === 0 ? 0 : 1
  })

const log = createLog('silent')
const readInput = bodyReader(ImportInput)

/**
 * Orders the import like any caller, then runs it in this process, so that the command can wait for
 * its end.
 */
async function perform(config: Config, database: Database, path: string, options: Options) {
  const works = await importersOf(config, database, database.bell, log)
  const order = await take(database, works, path, options)
  const timer = setInterval(() => void tell(database, order.id).catch(() => {}), 2_000)
  await workToEnd(database, works, order).finally(() => clearInterval(timer))
  const end = await read(database, order.id)
  say(summary(end))
  if (end.errorsSize) await saveErrors(database, works, order, options.errors ?? besides(path))
  return end
}

/**
 * Works on an import until it has ended. It goes back to the queue when something fails that may
 * pass, or other users wait, and a running service may be the one to take it from there.
 */
async function workToEnd(database: Database, works: Importers, order: Order) {
  const { signal } = new AbortController()
  for (let taken: Order | undefined = order; ; ) {
    if (taken) await runImport(works, taken, signal)
    taken = await database.transaction((tx) => takeOne(tx, order.id))
    if (taken) continue
    const { status } = await read(database, order.id)
    if (status !== 'Queued' && status !== 'Running') return
    await sleep(500)
  }
}

/** The file beside the imported one: june.errors.csv for june.csv. */
const besides = (path: string) => path.replace(/(\.\w+)?$/, '.errors$1')

/**
 * Milliseconds in which a second signal counts as the first one again: npm passes on the signal
 * that the command has already received.
 */
const echo = 5_000

/**
 * Cancels the import when the command is interrupted, because the running service would otherwise
 * go on with it. A user who interrupts again is let go before that is done, with a warning.
 */
function cancelOnSignal(database: Database) {
  let order: Order | undefined
  let since: number | undefined
  const cancelIt = () => {
    if (order && since !== undefined) void cancel(database, order).catch(() => {})
  }
  const hear = () => {
    if (since !== undefined && performance.now() - since > echo) leave(order)
    if (since !== undefined) return
    since = performance.now()
    say('Cancelling.')
    cancelIt()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, hear)
  return (taken: Order) => {
    order = taken
    cancelIt()
    return taken
  }
}

function leave(order: Order | undefined): never {
  const which = order ? `import ${order.id}` : 'the import'
  say(
    'The command ended before the import was cancelled. A running service may continue ' +
      `${which}; DELETE /Import cancels it.`,
  )
  process.exit(130)
}

const cancel = (database: Database, { id }: Order) =>
  unitOfWork(database, { ...doorOf('import', 'Import'), event: 'import.cancelled' }, (tx) =>
    cancelImport(tx, operator, { ImportID: id }),
  )

async function take(
  database: Database,
  { files }: Importers,
  path: string,
  { product, errors: _errors, ...options }: Options,
): Promise<Order> {
  const given = { ...options, ...(product && { productID: Number(product) }) }
  const input = readInput({ ...given, fileName: basename(path) }).body as ImportInput
  const arrived = await files.arrive(createReadStream(path)).catch(inWords(path))
  const mindSignals = cancelOnSignal(database)
  try {
    const taken = await files.keep(arrived, { fileName: basename(path) }, async (kept) => {
      let order: Order | undefined
      await unitOfWork(database, doorOf('import', 'Import'), async (tx) => {
        const written = await createImport(tx, operator, { ...input, ...kept }, null)
        // Taken in the same transaction, so that no worker of a running service can take it first.
        order = await takeOne(tx, written.ids[0] ?? 0)
        return written
      })
      if (!order) throw new Error('The import was not taken on.')
      return order
    })
    return mindSignals(taken)
  } finally {
    await arrived.discard()
  }
}

/** Node's error for a folder names neither the folder nor what to do. */
const inWords = (path: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EISDIR') throw error
  throw new Error(`${path} is a folder: name the file in it that is to be imported.`)
}

type Seen = {
  importID: number
  status: string
  rowsRead: number
  rowsAccepted: number
  rowsRefused: number
  progressPercent: number
  unknownColumns: string[]
  message: string | null
  errorsSize: number | null
}

async function read(database: Database, id: number): Promise<Seen> {
  const { json } = await readImports(database, operator, { ImportID: id })
  const [seen] = JSON.parse(json.toString()) as [Seen]
  return seen
}

async function tell(database: Database, id: number) {
  const { progressPercent, rowsRead, rowsRefused } = await read(database, id)
  say(`${progressPercent} %: ${rowsRead} rows read, ${rowsRefused} refused`)
}

function summary(end: Seen): string {
  const { importID, status, rowsRead, rowsAccepted, rowsRefused, unknownColumns, message } = end
  return [
    `Import ${importID}: ${status}. ${message ?? ''}`.trim(),
    `${rowsRead} rows read, ${rowsAccepted} accepted, ${rowsRefused} refused.`,
    ...(unknownColumns.length > 0 ? [`Ignored columns: ${unknownColumns.join(', ')}.`] : []),
  ].join('\n')
}

async function saveErrors(database: Database, { files }: Importers, { id }: Order, path: string) {
  const { open } = await downloadErrors(database, files, operator, { ImportID: id })
  await pipeline(await open(), createWriteStream(path, { mode: 0o600 }))
  say(`The refused rows are in ${path}.`)
}
