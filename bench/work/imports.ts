import { setTimeout as sleep } from 'node:timers/promises'
import { load, median } from '../load.ts'
import { atLeast, type Bench, call, inTurns, result, type Workload } from '../measure.ts'
import { type Used, using } from '../processor.ts'
import { arrayCall } from './postings.ts'

const rows = 50_000
/** Shares no factor with a register's size: no account is in two steps that follow each other. */
const stride = 7919

let made = 0

/** Deposits all over the register, as the arrays have them. */
function fileOf({ size: { entities } }: Bench): string {
  const start = ++made * rows
  const lines = Array.from({ length: rows }, (_, i) => {
    const account = (((start + i) * stride) % entities) + 1
    return `Deposit,${account},${(i % 12) + 1},2026-11-01,110`
  })
  return `# ${made}\noperation,accountID,investmentID,transactionDate,amount\n${lines.join('\n')}\n`
}

/** Rows a second, from the call that brings the file to its end. */
async function importFile(bench: Bench, mode: 'atomic' | 'continue'): Promise<number> {
  const { service } = bench
  const content = Buffer.from(fileOf(bench)).toString('base64')
  const body = JSON.stringify({ type: 'Transactions', mode, fileName: `${made}.csv`, content })
  const start = performance.now()
  const { importID } = (await call(service, 'POST', '/Import', body)).data()
  for (;;) {
    await sleep(25)
    const [seen] = (await call(service, 'GET', `/Import?ImportID=${importID}`)).data()
    if (seen.status === 'Completed' && seen.rowsAccepted === rows)
      return rows / ((performance.now() - start) / 1000)
    if (seen.status !== 'Queued' && seen.status !== 'Running')
      throw new Error(`Import ${importID}: ${JSON.stringify(seen)}`)
  }
}

const told = ({ node, database }: Used) =>
  `${node.toFixed(0)} µs of Node, ${database.toFixed(0)} of PostgreSQL`

/** A file of transactions, committed step by step and all at once, against arrays over HTTP. */
export const imports: Workload = async (bench) => {
  const { service, size, rounds } = bench
  const seconds = 4
  const arrays = () =>
    1000 * load(service, arrayCall, { size: size.entities, seconds, connections: 4 }).perSecond
  arrays()
  await importFile(bench, 'continue')
  const each = `processor for each: ${told(
    await using(service, async () => {
      await importFile(bench, 'continue')
      return rows
    }),
  )}; in arrays ${told(await using(service, () => arrays() * seconds))}`
  const whole: number[] = []
  const figures = await inTurns(
    rounds,
    async () => {
      whole.push(await importFile(bench, 'atomic'))
      return importFile(bench, 'continue')
    },
    arrays,
  )
  const baseline = 'POST /BizTransaction/Deposit in arrays of 1000, 4 connections'
  const unit = 'postings a second'
  const of = (mode: string) => `POST /Import of ${rows.toLocaleString('en')} transactions, ${mode}`
  return [
    result(
      { number: '11', work: of('continue'), baseline, unit, note: each },
      figures,
      atLeast(0.8),
    ),
    result(
      { number: '11b', work: of('atomic'), baseline, unit },
      { ...figures, subject: median(whole) },
      atLeast(0.8),
    ),
  ]
}
