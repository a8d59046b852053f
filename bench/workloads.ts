import type { Sql as Statement } from 'sql-template-tag'
import type { Actor } from '../src/actor.ts'
import { readEntities } from '../src/biz-entity/read.ts'
import type { Sql } from '../src/sql/handle.ts'
import type { Size } from './dataset.ts'
import { load, median, pgbench, psql, scriptOf } from './load.ts'
import type { Service } from './service.ts'

/** One row of the table: a subject against its baseline, measured in turns in the same run. */
export type Result = {
  number: string
  work: string
  baseline: string
  subject: number
  against: number
  unit: string
  ratio: number
  reach: string
  reached: boolean
}

export type Bench = { service: Service; size: Size; rounds: number }

type Workload = (bench: Bench) => Promise<Result>

/** Baseline and subject in turns, so that whatever else the machine does meets both. */
async function inTurns(
  rounds: number,
  subject: () => Promise<number>,
  baseline: () => Promise<number>,
) {
  const [subjects, baselines]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    baselines.push(await baseline())
    subjects.push(await subject())
  }
  return { subject: median(subjects), against: median(baselines) }
}

const atLeast = (least: number) => ({
  reach: `at least ${least}`,
  test: (ratio: number) => ratio >= least,
})
const atMost = (most: number) => ({
  reach: `at most ${most}`,
  test: (ratio: number) => ratio <= most,
})

function result(
  what: { number: string; work: string; baseline: string; unit: string },
  { subject, against }: { subject: number; against: number },
  { reach, test }: ReturnType<typeof atLeast>,
): Result {
  const ratio = subject / against
  return { ...what, subject, against, ratio, reach, reached: test(ratio) }
}

const everybody = { productIDs: null } as Actor

/** The statement a read sends, caught on its way. */
async function statementOf(read: (handle: Sql) => Promise<unknown>): Promise<Statement> {
  let caught: Statement | undefined
  await read({
    query: async (statement) => {
      caught = statement
      return [{ json: '[]', count: 0 }] as never
    },
  })
  return caught!
}

const entityRead: Workload = async ({ service, size, rounds }) => {
  const marker = 424242
  const statement = await statementOf((handle) =>
    readEntities(handle, everybody, { BizEntityID: marker }),
  )
  const read = scriptOf(statement, { [marker]: ':id' })
  const script = `\\set id random(1, ${size.entities})\n${read};\n`
  const call = { method: 'GET', path: '"/BizEntity?BizEntityID=" .. n' }
  const figures = await inTurns(
    rounds,
    async () => load(service, call, size.entities).perSecond,
    async () => pgbench(service.connection, script, 10).perSecond,
  )
  return result(
    {
      number: '1',
      work: 'GET /BizEntity by id, 64 connections',
      baseline: 'pgbench, the same SQL prepared, 10 connections',
      unit: 'a second',
    },
    figures,
    atLeast(0.5),
  )
}

const entityPages: Workload = async ({ service, rounds }) => {
  const statement = await statementOf((handle) =>
    readEntities(handle, everybody, { PageSize: 1000, PageNumber: 3 }),
  )
  const figures = await inTurns(
    rounds,
    () => timed(service, '/BizEntity?PageSize=1000&PageNumber=3', 7),
    async () => psql(service.connection, scriptOf(statement), 7),
  )
  return result(
    {
      number: '2',
      work: 'GET /BizEntity, a page of 1000',
      baseline: 'psql, the same SQL to a null sink',
      unit: 'ms',
    },
    figures,
    atMost(1.3),
  )
}

/** Milliseconds of the median of several GETs over one connection, body read to its end. */
async function timed(service: Service, path: string, runs: number): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const start = performance.now()
    const answer = await fetch(service.url + path, {
      headers: { Version: '2.0', Authorization: service.token },
    })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}.`)
    times.push(performance.now() - start)
  }
  return median(times)
}

/** The rows of one deposit, written by a transaction of its own: what a plain server would do. */
const plainPosting = (entities: number) => `
\\set account random(1, ${entities})
\\set investment random(1, 12)
begin;
select a.product_id, i.unit_decimals, i.currency_id, v.price
  from account a, investment i, investment_price v
  where a.account_id = :account and i.investment_id = :investment
    and v.investment_id = i.investment_id and v.price_date = '2024-12-04';
select quantity, invested_amount from ledger_account
  where product_id = 1 and account_id = :account for update;
select quantity, invested_amount, cost_amount from holding
  where product_id = 1 and account_id = :account and investment_id = :investment;
insert into biz_transaction (product_id, biz_transaction_type_id, account_id, investment_id,
  transaction_date, investment_price, amount, quantity, closing_quantity, closing_amount,
  closing_cost, closing_gain, account_closing_quantity, account_closing_amount)
  values (1, 1, :account, :investment, '2026-11-01', 1.1, 110, 100, 100, 110, 110, 0, 100, 110);
insert into holding values (1, :account, :investment, 100, 110, 110, 0)
  on conflict (product_id, account_id, investment_id) do update
  set quantity = holding.quantity + 100, invested_amount = holding.invested_amount + 110,
    cost_amount = holding.cost_amount + 110;
update ledger_account set quantity = quantity + 100, invested_amount = invested_amount + 110,
  last_date = '2026-11-01' where product_id = 1 and account_id = :account;
insert into audit (user_id, username, operation, resource, resource_id, product_id, changes,
  request_id)
  values (1, 'bench', 'POST /BizTransaction/Deposit', 'BizTransaction', :account, 1,
    '{"accountID":1,"investmentID":1,"transactionDate":"2026-11-01","amount":"110"}', 'bench');
commit;
`

/** The best of several client counts: the baseline gets the one that suits it. */
const bestOfPlain = ({ service, size }: Bench) =>
  Math.max(
    ...[4, 8, 16].map(
      (clients) => pgbench(service.connection, plainPosting(size.entities), clients, 4).perSecond,
    ),
  )

const deposits: Workload = async (bench) => {
  const { service, size, rounds } = bench
  const call = {
    method: 'POST',
    path: '"/BizTransaction/Deposit"',
    body: `'{"accountID":' .. n .. ',"investmentID":' .. math.random(1, 12) ..
      ',"transactionDate":"2026-11-01","amount":110}'`,
  }
  const figures = await inTurns(
    rounds,
    async () => load(service, call, size.entities).perSecond,
    async () => bestOfPlain(bench),
  )
  return result(
    {
      number: '3',
      work: 'POST /BizTransaction/Deposit, 64 connections',
      baseline: 'pgbench, one transaction per posting, best client count',
      unit: 'a second',
    },
    figures,
    atLeast(1),
  )
}

const depositArrays: Workload = async (bench) => {
  const { service, size, rounds } = bench
  const figures = await inTurns(
    rounds,
    () => arraysPerSecond(service, size.entities),
    async () => bestOfPlain(bench),
  )
  return result(
    {
      number: '3b',
      work: 'the same in arrays of 1000',
      baseline: 'the same pgbench',
      unit: 'postings a second',
    },
    figures,
    atLeast(5),
  )
}

async function arraysPerSecond(service: Service, entities: number, arrays = 8): Promise<number> {
  const bodies = Array.from({ length: arrays }, (_, a) =>
    JSON.stringify(
      Array.from({ length: 1000 }, (_item, i) => ({
        accountID: 1 + (((a * 1000 + i) * 7919) % entities),
        investmentID: 1 + (i % 12),
        transactionDate: '2026-11-01',
        amount: 110,
      })),
    ),
  )
  const start = performance.now()
  for (const body of bodies) await post(service, '/BizTransaction/Deposit', body)
  return (arrays * 1000) / ((performance.now() - start) / 1000)
}

async function post(service: Service, path: string, body: string) {
  const answer = await fetch(service.url + path, {
    method: 'POST',
    headers: {
      Version: '2.0',
      Authorization: service.token,
      'Content-Type': 'application/json',
    },
    body,
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${text.slice(0, 200)}`)
}

/** One page against another of the same service. */
const pageAgainst =
  (
    number: string,
    work: string,
    baseline: string,
    path: string,
    plain: string,
    most: number,
  ): Workload =>
  async ({ service, rounds }) =>
    result(
      { number, work, baseline, unit: 'ms' },
      await inTurns(
        rounds,
        () => timed(service, path, 9),
        () => timed(service, plain, 9),
      ),
      atMost(most),
    )

const holdings = '/BizEntity/Account/Holdings?ProductID=1&PageSize=1000'
const transactions = '/BizTransaction?ProductID=1&PageSize=1000'

const bulkCreate: Workload = async ({ service, rounds }) => {
  const person = (n: string) => ({ externalPersonId: n, firstName: 'Ann', lastName: 'Smith' })
  let made = 0
  const body = (count: number) =>
    JSON.stringify(Array.from({ length: count }, () => person(`B${Date.now()}-${++made}`)))
  const figures = await inTurns(
    rounds,
    async () => {
      const start = performance.now()
      for (let i = 0; i < 4; i++) await post(service, '/Person', body(1000))
      return 4000 / ((performance.now() - start) / 1000)
    },
    async () => {
      const start = performance.now()
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (let i = 0; i < 30; i++) await post(service, '/Person', body(1))
        }),
      )
      return 480 / ((performance.now() - start) / 1000)
    },
  )
  return result(
    {
      number: '8',
      work: 'POST /Person in arrays of 1000',
      baseline: 'one per request, 16 connections',
      unit: 'records a second',
    },
    figures,
    atLeast(8),
  )
}

export const workloads: Record<string, Workload> = {
  '1': entityRead,
  '2': entityPages,
  '3': deposits,
  '3b': depositArrays,
  '5': pageAgainst(
    '5',
    'Holdings, a page of 1000 as at a past date',
    'the same page for today',
    `${holdings}&Date=2023-06-30`,
    holdings,
    1.3,
  ),
  '6': pageAgainst(
    '6',
    'GET /BizTransaction, a page of 1000, ShowClosing=true',
    'the same with false',
    `${transactions}&ShowClosing=true`,
    transactions,
    1.2,
  ),
  '8': bulkCreate,
}
