import { readEntities } from '../../src/parties/biz-entity/read.ts'
import { load, pgbench, psql } from '../load.ts'
import { atLeast, atMost, inTurns, result, type Workload } from '../measure.ts'
import type { Service } from '../service.ts'
import { everybody, scriptOf, statementOf } from '../statement.ts'

export const entityCall = { method: 'GET', path: '/BizEntity?BizEntityID={n}' }

export const entityRead: Workload = async ({ service, size, rounds }) => {
  const marker = 424242
  const statement = await statementOf((handle) =>
    readEntities(handle, everybody, { BizEntityID: marker }),
  )
  const read = scriptOf(statement, { [`[${marker}]`]: `('[' || :id || ']')::json` })
  const connections = 10 * service.nodes
  const script = `\\set id random(1, ${size.entities})\n${read};\n`
  load(service, entityCall, { size: size.entities, seconds: size.warmSeconds }) // warm
  const figures = await inTurns(
    rounds,
    () => load(service, entityCall, { size: size.entities }).perSecond,
    () => pgbench(service.connection, script, connections),
  )
  return [
    result(
      {
        number: '1',
        work: 'GET /BizEntity by id, 64 connections',
        baseline: `pgbench, the same SQL prepared, ${connections} connections as the service has`,
        unit: 'a second',
      },
      figures,
      atLeast(0.5),
    ),
  ]
}

/** The median milliseconds of a read over one connection, by a client that discards the answer. */
const oneByOne = (service: Service, path: string) =>
  load(service, { method: 'GET', path }, { size: 1, connections: 1, seconds: 1 }).p50

export const entityPages: Workload = async ({ service, rounds }) => {
  const statement = await statementOf((handle) =>
    readEntities(handle, everybody, { PageSize: 1000, PageNumber: 3 }),
  )
  const figures = await inTurns(
    rounds,
    () => oneByOne(service, '/BizEntity?PageSize=1000&PageNumber=3'),
    () => psql(service.connection, scriptOf(statement), 7),
  )
  return [
    result(
      {
        number: '2',
        work: 'GET /BizEntity, a page of 1000',
        baseline: 'psql, the same SQL to a null sink',
        unit: 'ms',
      },
      figures,
      atMost(1.3),
    ),
  ]
}

type Pages = { number: string; work: string; baseline: string; most: number }

/** The time of one page against that of another page of the same service. */
const pageAgainst =
  (path: string, plain: string, { most, ...what }: Pages): Workload =>
  async ({ service, rounds }) => [
    result(
      { ...what, unit: 'ms' },
      await inTurns(
        rounds,
        () => oneByOne(service, path),
        () => oneByOne(service, plain),
      ),
      atMost(most),
    ),
  ]

const holdings = '/BizEntity/Account/Holdings?ProductID=1&PageSize=1000'
const transactions = '/BizTransaction?ProductID=1&PageSize=1000'

export const pastHoldings = pageAgainst(`${holdings}&Date=2023-06-30`, holdings, {
  number: '5',
  work: 'Holdings, a page of 1000 as at a past date',
  baseline: 'the same page for today',
  most: 1.3,
})

export const closingFigures = pageAgainst(`${transactions}&ShowClosing=true`, transactions, {
  number: '6',
  work: 'GET /BizTransaction, a page of 1000, ShowClosing=true',
  baseline: 'the same with false',
  // Each read looks for marks, which shift the closing figures of a long history (0130).
  most: 1.5,
})
