import { besideBare } from '../bare.ts'
import { type Call, type LoadOptions, load, median } from '../load.ts'
import { atLeast, type Bench, inTurns, result, type Workload } from '../measure.ts'
import { type Used, using } from '../processor.ts'
import type { Service } from '../service.ts'
import { arrayCall, depositCall } from './postings.ts'
import { entityCall } from './reads.ts'

type Row = { number: string; work: string; call: Call; connections: number; least: number }

/** Puts the same load on the service and on the bare server, in turns. */
async function row(bench: Bench, bare: Service, { call, connections, least, ...what }: Row) {
  const { service, size, rounds } = bench
  const perSecond = (of: Service, seconds: number) =>
    (call.times ?? 1) * load(of, call, options(size.entities, connections, seconds)).perSecond
  // Many connections, so that the code is soon called often enough to be compiled.
  for (const each of [service, bare])
    load(each, call, options(size.entities, call.times ? 4 : 64, size.warmSeconds))
  const used: { ours: Used[]; bare: Used[] } = { ours: [], bare: [] }
  const measure = async (of: Service, kept: Used[]) => {
    let found = 0
    const each = await using(of, () => {
      found = perSecond(of, 3)
      return 3 * found
    })
    kept.push(each)
    return found
  }
  const figures = await inTurns(
    rounds,
    () => measure(service, used.ours),
    () => measure(bare, used.bare),
  )
  const against = { baseline: 'the bare server of bench/bare.mjs', unit: 'a second' }
  const note = `processor µs each, Node and PostgreSQL: ${told(used.ours)}; bare ${told(used.bare)}`
  return result({ ...what, ...against, note }, figures, atLeast(least))
}

const told = (used: readonly Used[]) =>
  (['node', 'database'] as const)
    .map((name) => Math.round(median(used.map((one) => one[name]))))
    .join(' and ')

const options = (size: number, connections: number, seconds: number): LoadOptions => ({
  size,
  connections,
  seconds,
})

const rows = (...wanted: Row[]): Workload => {
  return (bench) =>
    besideBare(bench.service, async (bare) => {
      const results = []
      for (const one of wanted) results.push(await row(bench, bare, one))
      return results
    })
}

const deposit = { call: depositCall }
const entity = { call: entityCall }

export const bareDeposits = rows(
  { ...deposit, number: 'S1', work: 'Deposit, 1 connection', connections: 1, least: 0.6 },
  { ...deposit, number: 'S2', work: 'Deposit, 16 connections', connections: 16, least: 1.3 },
  { ...deposit, number: 'S3', work: 'Deposit, 64 connections', connections: 64, least: 1.8 },
)
export const bareArrays = rows({
  number: 'S4',
  work: 'Deposits in arrays of 1000, 4 connections',
  call: arrayCall,
  connections: 4,
  least: 0.4,
})
export const bareEntities = rows(
  { ...entity, number: 'S5', work: 'entity by id, 64 connections', connections: 64, least: 1.3 },
  { ...entity, number: 'S5b', work: 'entity by id, 1 connection', connections: 1, least: 0.6 },
)
