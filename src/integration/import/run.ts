import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { setImmediate as othersTurn } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { outlast } from '../../money/distribution/exceptions.ts'
import type { Vault } from '../../parties/sealed/vault.ts'
import type { Actor } from '../../platform/actor.ts'
import type { Files, Transaction } from '../../platform/files/files.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Fragment, Tx } from '../../platform/sql/handle.ts'
import { allOf, inTurn } from './all-of.ts'
import { type Chunk, chunksOf } from './chunks.ts'
import { draftOf } from './draft.ts'
import { writeErrors } from './errors.ts'
import type { Part } from './item.ts'
import { kinds } from './kinds.ts'
import {
  beat,
  type Counts,
  end,
  forgetRefusals,
  handBack,
  heartbeat,
  keepErrors,
  keepRefusals,
  lost,
  moveOn,
  type Order,
  othersWait,
  recordParts,
  tell,
} from './order.ts'
import { untilItPasses } from './patience.ts'
import { inColumns, type RowReader, readerOf } from './reader.ts'
import { authorise, type Rights, ScopeChanged, stillAuthorised } from './rights.ts'
import { NeedsSavepoints, type Settled, settle } from './settle.ts'
import { openSource } from './source.ts'
import { doneUpTo } from './sql.ts'
import { sideBySide, type Turn } from './steps.ts'

export type Importers = Rights & {
  transaction: Transaction
  stream: <Row extends object>(statement: Fragment, batch: number) => AsyncGenerator<Row[]>
  isSpread: () => Promise<boolean>
  files: Files
  /** The folder that holds the decrypted copy of a file while it is read. */
  draftFolder: string
  vault: Vault
  /** Wakes the processes that wait for events. */
  ring: () => void
  onFault: (importID: number, error: unknown) => void
}

/** Attempts without a completed step that may crash or fail by our fault before we give up. */
const mostAttempts = 5
/** In milliseconds: after this time an import in mode 'continue' lets other users' imports run. */
const slice = 15_000

/** An import whose lease this process holds. */
type Taken = {
  importers: Importers
  order: Order
  path: string
  /** Whether the file has been copied to `path`. */
  hasFile: boolean
  reader: RowReader
  counts: Counts
  percent: number
  /** The line up to which steps have been committed. */
  lastLine: number
  /** Throws if this process is stopping or no longer holds the lease. */
  checkOurs: () => void
}

/** An import being worked on, with the actor whose rights it has. */
type Run = Taken & { actor: Actor }

/** Works on an import that was taken. A failure is recorded in the import, or tried again. */
export async function runImport(importers: Importers, order: Order, signal: AbortSignal) {
  const { watch, taken } = watchOver(importers, order, signal)
  try {
    await bringFile(taken)
    if (order.attempts > mostAttempts) throw gaveUp()
    if (order.isCancelled) return await windUp(taken)
    const run = Object.assign(taken, { actor: await authorise(importers.actorOf, order) })
    await (order.mode === 'continue' ? goOn(run) : doWhole(run))
  } catch (error) {
    await giveUp(taken, error, signal.aborted)
  } finally {
    clearInterval(watch)
    await rm(taken.path, { force: true })
    importers.ring()
  }
}

/**
 * Copies the file to `path`. Reading the file may be what crashes the process, so after too many
 * attempts it is not even read to write the file of refused rows.
 */
async function bringFile(taken: Taken) {
  const { importers, order, path } = taken
  if (order.attempts > mostAttempts + 1) return
  await pipeline(await importers.files.open(order.sha256), createWriteStream(path, { mode: 0o600 }))
  taken.hasFile = true
}

const nothingYet = (): Counts => ({ read: 0, accepted: 0, refused: 0 })

const gaveUp = () =>
  new Refusal(409, [{ code: 'gave_up', message: 'The import failed in several attempts.' }])

/** Renews the lease at intervals and reports progress; notices when the lease has been lost. */
function watchOver(importers: Importers, order: Order, signal: AbortSignal) {
  let isOurs = true
  const taken: Taken = {
    importers,
    order,
    path: draftOf(importers.draftFolder, order),
    hasFile: false,
    reader: readerOf(kinds[order.type], order),
    counts: order.mode === 'continue' ? { ...order.counts } : nothingYet(),
    percent: 0,
    lastLine: order.lastLine,
    checkOurs: () => {
      if (!isOurs) throw lost()
      signal.throwIfAborted()
    },
  }
  const watch = setInterval(() => {
    importers
      .transaction((tx) =>
        // In mode 'continue', each step reports the progress itself.
        order.mode === 'continue' ? beat(tx, order) : tell(tx, order, progressOf(taken)),
      )
      .then(
        (still) => {
          isOurs &&= still
        },
        () => {}, // the database is away: the next heartbeat may get through
      )
  }, heartbeat)
  return { watch, taken }
}

const progressOf = ({ counts, percent, reader }: Taken) => ({
  counts,
  percent,
  unknown: reader.unknown(),
})

function stepsOf(run: Run, after: number) {
  const { order, path, actor, importers } = run
  const kind = kinds[order.type]
  const perform = kind.perform(importers.vault)
  run.reader = readerOf(kind, order) // this attempt reads the file's head again
  return chunksOf(openSource({ ...order, path }), run.reader, {
    size: kind.atOnce,
    after,
    ready: (items) => perform(actor, items),
  })
}

/** Checks that this process still holds the lease and that the user still has the rights. */
async function checkStill(run: Run, inside?: Tx) {
  const { importers, order, actor } = run
  run.checkOurs()
  await patiently(run, () => stillAuthorised(importers, order, actor), inside)
}

type Way = Pick<Turn<Counts>, 'clearWay'> & { hasSavepoints: boolean }

async function work(run: Run, tx: Tx, chunk: Chunk, way: Way): Promise<Settled> {
  const { order, actor, importers } = run
  const { items, refused } = chunk
  const perform = kinds[order.type].perform(importers.vault)
  const settled = await settle(tx, { actor, perform, ...way }, items, chunk.work)
  const inFile = order.format === 'jsonl' ? settled.refused : settled.refused.map(inTable)
  return { parts: settled.parts, refused: [...refused, ...inFile] }
}

const inTable = ({ line, problems }: Settled['refused'][number]) => ({
  line,
  problems: problems.map(inColumns),
})

const added = (counts: Counts, { count }: Chunk, { refused }: Settled): Counts => ({
  read: counts.read + count,
  accepted: counts.accepted + count - refused.length,
  refused: counts.refused + refused.length,
})

/** Commits good rows step by step. Steps about different accounts run at the same time. */
async function goOn(run: Run) {
  const { importers, order } = run
  const { transaction } = importers
  const { touches, writesCopies } = kinds[order.type]
  const takeTurns = writesCopies && (await importers.isSpread())
  const began = performance.now()
  const steps = sideBySide(run.counts)
  let from = order.lastLine
  try {
    for await (const chunk of stepsOf(run, from)) {
      run.checkOurs()
      const span = { from, to: chunk.lastLine }
      const about = takeTurns ? undefined : touches?.(chunk.items)
      await steps.add(about, (turn) => takeStep(run, chunk, span, turn))
      from = chunk.lastLine
      if (performance.now() - began < slice || !(await transaction((tx) => othersWait(tx, order))))
        continue
      await steps.end()
      await transaction((tx) => handBack(tx, order, { counts: false }))
      return
    }
    await steps.end()
  } finally {
    await steps.over()
  }
  await finish(run, 'Completed', null)
}

type Span = { from: number; to: number }

/** Does one step in its own transaction, which also records the line that it goes up to. */
async function takeStep(run: Run, chunk: Chunk, span: Span, turn: Turn<Counts>): Promise<Counts> {
  const { importers, order } = run
  await checkStill(run) // the step may have waited for an earlier one
  run.counts = await importers.transaction(async (tx) => {
    const settled = await work(run, tx, chunk, { ...turn, hasSavepoints: true })
    await recordParts(tx, order, settled.parts)
    await keepRefusals(tx, order, settled.refused)
    const counts = added(await turn.before(), chunk, settled)
    await moveOn(tx, order, span, { ...progressOf(run), counts, percent: chunk.percent })
    return counts
  })
  run.lastLine = span.to
  importers.ring()
  return run.counts
}

/** Thrown to roll back a trial, or an import with refused rows. */
class Undone extends Error {}

/** Does all rows in one transaction, so that others see all of them or none. */
async function doWhole(run: Run, hasSavepoints = false): Promise<void> {
  const { importers, order } = run
  const isTrial = order.mode === 'validate'
  try {
    await importers.transaction(async (all) => {
      const tx = inTurn(all)
      run.counts = nothingYet()
      await forget(beside(run, tx), order)
      await doSteps(run, tx, hasSavepoints)
      await checkStill(run, tx)
      if (isTrial || run.counts.refused > 0) throw new Undone()
      await outlast(tx)
      await end(tx, order, { status: 'Completed', message: null, ...outcomeOf(run) })
    })
  } catch (error) {
    if (error instanceof NeedsSavepoints) return doWhole(run, true)
    if (!(error instanceof Undone)) throw error
    if (isTrial) return finish(run, 'Completed', tried(run))
    const message = undone(run)
    run.counts = { ...run.counts, accepted: 0 }
    await finish(run, 'Failed', message)
  }
}

/**
 * Does the steps one after another. While PostgreSQL works on a step, Node prepares the audit
 * records and events of the previous step, and sends them after it. With savepoints they are sent
 * before the step, because rolling back to a savepoint would undo them, too.
 */
async function doSteps(run: Run, tx: Tx, hasSavepoints: boolean) {
  const { order } = run
  const isTrial = order.mode === 'validate'
  // Steps run one at a time, so no other step of this import can hold a lock that they need.
  const alone: Way = { clearWay: () => {}, hasSavepoints }
  let before: readonly Part[] = []
  const tellBefore = async () => {
    const parts = before
    before = []
    if (!isTrial && run.counts.refused === 0) await recordParts(tx, order, parts)
  }
  for await (const chunk of stepsOf(run, 0)) {
    run.checkOurs()
    // The database ends a transaction that is idle for a minute.
    if (chunk.items.length === 0) await tx.query(sql`select 1`)
    if (hasSavepoints) await tellBefore()
    const [settled] = await allOf(
      work(run, tx, chunk, alone),
      checkStill(run, tx),
      othersTurn().then(tellBefore),
    )
    before = settled.parts
    run.counts = added(run.counts, chunk, settled)
    run.percent = chunk.percent
    // In another transaction, so that refusals are kept even when this one is rolled back.
    if (settled.refused.length > 0)
      await beside(run, tx)((other) => keepRefusals(other, order, settled.refused))
  }
  await tellBefore()
}

const outcomeOf = ({ counts, reader }: Taken) => ({ counts, unknown: reader.unknown() })

const tried = ({ counts: { refused } }: Run) =>
  refused === 0
    ? 'Every row would be taken. Nothing was written.'
    : `${rows(refused)} would be refused. Nothing was written.`
const undone = ({ counts: { refused } }: Run) =>
  `${rows(refused)} cannot be taken, and so none was. See GET /Import/File?Result=errors.`
const rows = (count: number) => (count === 1 ? '1 row' : `${count} rows`)

/** Tries again while an obstacle may pass, because a failure would lose all the work so far. */
const patiently = <T>(run: Taken, what: () => Promise<T>, inside?: Tx): Promise<T> =>
  untilItPasses(what, async () => {
    run.checkOurs()
    // Keeps the open transaction from being ended by the database for being idle.
    await inside?.query(sql`select 1`)
  })

/** Runs transactions beside `inside`, the open transaction of the work, if there is one. */
const beside =
  (run: Taken, inside?: Tx): Transaction =>
  (work) =>
    patiently(run, () => run.importers.transaction(work), inside)

async function makeErrors(run: Taken) {
  const { importers, order, path, counts, hasFile } = run
  if (!hasFile || counts.refused === 0) return undefined
  const write = (to: string) =>
    writeErrors(to, { ...order, path }, (refusals) => importers.stream(refusals, 1000))
  return patiently(run, () => importers.files.make(write))
}

/** Keeps the refused rows of an import that was cancelled, so that they can be corrected. */
async function windUp(taken: Taken) {
  const { order } = taken
  const errors = await makeErrors(taken)
  const transaction = beside(taken)
  await transaction((tx) => keepErrors(tx, order, errors))
  await forget(transaction, order)
}

/** Writes the file of refused rows before the end is reported, so that readers find the file. */
async function finish(run: Taken, status: 'Completed' | 'Failed', message: string | null) {
  const { order } = run
  const errors = await makeErrors(run)
  const transaction = beside(run)
  await transaction((tx) => end(tx, order, { status, message, ...outcomeOf(run), errors }))
  await forget(transaction, order)
}

async function forget(transaction: Transaction, order: Order) {
  while (await transaction((tx) => forgetRefusals(tx, order)));
}

const brokenOff = ({ lastLine }: Taken, told: string) =>
  `${told.slice(0, 900)} ${doneUpTo(lastLine)}`

/**
 * Ends or repeats an import after an error. A refusal that a person can act on is reported at once.
 * Other errors are tried again and finally reported without their reason, which only the log has.
 */
async function giveUp(taken: Taken, error: unknown, isStopping: boolean) {
  const { importers, order, counts, lastLine } = taken
  const { transaction, onFault } = importers
  const isRefusal = error instanceof Refusal
  if (isRefusal && error.problems[0]?.code === 'lease_lost') return
  if (isStopping || error instanceof ScopeChanged)
    return void (await transaction((tx) => handBack(tx, order, { counts: false })))
  const told = isRefusal && error.status < 500 ? error.message : undefined
  if (told === undefined) onFault(order.id, error)
  if (told === undefined && order.attempts < mostAttempts)
    return void (await transaction((tx) => handBack(tx, order, { counts: true })))
  if (order.isCancelled) return transaction((tx) => keepErrors(tx, order, undefined))
  const message = told ?? 'The import could not be done; the log says why.'
  if (lastLine > 0) return finish(taken, 'Failed', brokenOff(taken, message))
  const isUndone = order.mode !== 'continue'
  await transaction((tx) =>
    end(tx, order, {
      status: 'Failed',
      message: message.slice(0, 1000),
      counts: isUndone ? { ...counts, accepted: 0 } : counts,
      unknown: taken.reader.unknown(),
    }),
  )
  await forget(transaction, order)
}
