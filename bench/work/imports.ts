import { setTimeout as sleep } from 'node:timers/promises'
import { load, median } from '../load.ts'
import { atLeast, type Bench, call, inTurns, result, type Workload } from '../measure.ts'
import { type Used, using } from '../processor.ts'
import { arrayCall } from './postings.ts'

const rows = 50_000
const investors = 5_000
/** Shares no factor with a register's size: consecutive steps of an import share no account. */
const stride = 7919

let made = 0

/** A file of deposits into accounts all over the register, like those of `arrayCall`. */
function deposits({ size: { entities } }: Bench): string {
  const start = ++made * rows
  const lines = Array.from({ length: rows }, (_, i) => {
    const account = (((start + i) * stride) % entities) + 1
    return `Deposit,${account},${(i % 12) + 1},2026-11-01,110`
  })
  return `# ${made}\noperation,accountID,investmentID,transactionDate,amount\n${lines.join('\n')}\n`
}

/** A file of new investors, each with a person, an account and an e-mail address. */
function newInvestors(): string {
  const from = ++made * investors + Date.now() * 1000
  const columns = [
    'externalBizEntityId,bizEntityTypeID,bizEntityStatusID,name,accounts.productID',
    'bizEntityParties.person.firstName,communications.communicationTypeID,communications.name',
  ]
  const lines = Array.from({ length: investors }, (_, i) => {
    const id = from + i
    return `B${id},1,1,Investor ${id},1,First,${email},i${id}@bench.example`
  })
  return `${columns.join(',')}\n${lines.join('\n')}\n`
}
const email = 1

const investorCall = {
  method: 'POST',
  path: '/BizEntity',
  body:
    '{"externalBizEntityId":"C{u}","bizEntityTypeID":1,"bizEntityStatusID":1,"name":"Investor",' +
    '"accounts":[{"productID":1}],"bizEntityParties":[{"person":{"firstName":"First"}}],' +
    `"communications":[{"communicationTypeID":${email},"name":"i{u}@bench.example"}]}`,
  times: 500,
}

type File = { type: 'Transactions' | 'Investors'; count: number; text: string }

/** Imports a file; returns the rows a second, from the upload to the end of the import. */
async function importOf({ service }: Bench, mode: string, { type, count, text }: File) {
  const content = Buffer.from(text).toString('base64')
  const body = JSON.stringify({ type, mode, fileName: `${made}.csv`, content })
  const start = performance.now()
  const { importID } = (await call(service, 'POST', '/Import', body)).data()
  for (;;) {
    await sleep(25)
    const [seen] = (await call(service, 'GET', `/Import?ImportID=${importID}`)).data()
    if (seen.status === 'Completed' && seen.rowsAccepted === count)
      return count / ((performance.now() - start) / 1000)
    if (seen.status !== 'Queued' && seen.status !== 'Running')
      throw new Error(`Import ${importID}: ${JSON.stringify(seen)}`)
  }
}

const importFile = (bench: Bench, mode: 'atomic' | 'continue') =>
  importOf(bench, mode, { type: 'Transactions', count: rows, text: deposits(bench) })

const told = ({ node, database }: Used) =>
  `${node.toFixed(0)} µs of Node, ${database.toFixed(0)} of PostgreSQL`

/** Imports of a file of transactions, in both modes, against arrays of postings over HTTP. */
export const imports: Workload = async (bench) => {
  const { service, size, rounds } = bench
  const seconds = 4
  const arrays = () =>
    1000 * load(service, arrayCall, { size: size.entities, seconds, connections: 4 }).perSecond
  arrays()
  await importFile(bench, 'continue')
  const usedBy = (mode: 'atomic' | 'continue') =>
    using(service, async () => {
      await importFile(bench, mode)
      return rows
    })
  const inArrays = told(await using(service, () => arrays() * seconds))
  const note = async (mode: 'atomic' | 'continue') =>
    `processor for each: ${told(await usedBy(mode))}; in arrays ${inArrays}`
  const notes = { continue: await note('continue'), atomic: await note('atomic') }
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
      { number: '11', work: of('continue'), baseline, unit, note: notes.continue },
      figures,
      atLeast(0.8),
    ),
    result(
      { number: '11b', work: of('atomic'), baseline, unit, note: notes.atomic },
      { ...figures, subject: median(whole) },
      atLeast(0.8),
    ),
  ]
}

/** The import of a file of investors against arrays of investors over HTTP. */
export const importedInvestors: Workload = async (bench) => {
  const { service, size, rounds } = bench
  const options = { size: size.entities, seconds: 4, connections: 4 }
  const arrays = () => investorCall.times * load(service, investorCall, options).perSecond
  const inArrays = () => arrays() * options.seconds
  const file = () =>
    importOf(bench, 'continue', { type: 'Investors', count: investors, text: newInvestors() })
  arrays()
  await file()
  const used = await using(service, async () => {
    await file()
    return investors
  })
  const others = await using(service, inArrays)
  const note = `processor for each: ${told(used)}; in arrays ${told(others)}`
  const work = `POST /Import of ${investors.toLocaleString('en')} investors, continue`
  const baseline = 'POST /BizEntity in arrays of 500, 4 connections'
  return [
    result(
      { number: '11c', work, baseline, unit: 'investors a second', note },
      await inTurns(rounds, file, arrays),
      atLeast(0.8),
    ),
  ]
}
