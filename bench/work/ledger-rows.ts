import pg from 'pg'
import { load, median } from '../load.ts'
import {
  atLeast,
  atMost,
  type Bench,
  call,
  inTurns,
  type Result,
  result,
  type Workload,
} from '../measure.ts'
import type { Service } from '../service.ts'
import { depositCall } from './postings.ts'

const day = '2026-11-01'

async function asking<T>({ connection }: Service, use: (client: pg.Client) => Promise<T>) {
  const client = new pg.Client(connection)
  await client.connect()
  return use(client).finally(() => client.end())
}

/** Fifteen more products, each with accounts that have their ledger rows and an empty holding. */
const moreProducts = (accounts: number) => `
  with products as (
    insert into product (external_product_id, name, currency_id, is_active)
    select 'MORE' || n, 'More ' || n, 1, true from generate_series(1, 15) n returning product_id),
  classes as (
    insert into investment (product_id, name, is_active, currency_id, unit_decimals, issue_price)
    select product_id, 'Class', true, 1, 4, 1 from products returning product_id, investment_id),
  prices as (
    insert into investment_price (investment_id, price_date, price)
    select investment_id, date '2020-01-01', 1.25 from classes),
  owners as (
    insert into biz_entity (product_id, biz_entity_type_id, biz_entity_status_id, name,
      communication_preference_copy_parent_biz_entity, is_director_interest,
      is_executive_interest)
    select product_id, 1, 1, 'Owner', false, false, false
    from products, generate_series(1, ${accounts})
    returning product_id, biz_entity_id),
  accounts as (
    insert into account (biz_entity_id, product_id, account_number, currency_id, drp_type_id,
      account_status_id)
    select biz_entity_id, product_id, 'M' || biz_entity_id, 1, 1, 1 from owners
    returning product_id, account_id),
  rows as (
    insert into ledger_account (product_id, account_id) select * from accounts),
  held as (
    insert into holding
    select a.product_id, a.account_id, c.investment_id, 0, 0, 0, 0
    from accounts a join classes c using (product_id))
  select 1`

const places = `
  select account_id as "accountID", investment_id as "investmentID" from (
    select *, row_number() over (partition by product_id order by account_id) as n from holding
    where product_id > 1 or investment_id = 1) h`

/** S9: an array over sixteen products against an array over as many accounts of one product. */
export const manyProducts: Workload = async ({ service, rounds }) => {
  const [spread, alone] = await asking(service, async (client) => {
    await client.query('set session_replication_role = replica')
    await client.query(moreProducts(63))
    const first = `${places} where product_id = 1 limit 1000`
    const all = `${places} where n <= 63 order by n, product_id limit 1000`
    return [(await client.query(all)).rows, (await client.query(first)).rows]
  })
  const post = async (rows: object[]) => {
    const bodies = rows.map((row) => ({ ...row, transactionDate: day, amount: 110 }))
    const times: number[] = []
    for (let n = 0; n < 7; n++) {
      const { milliseconds } = await call(service, 'POST', depositCall.path, JSON.stringify(bodies))
      times.push(milliseconds)
    }
    return bodies.length / (median(times) / 1000)
  }
  for (const warm of [spread!, alone!]) await post(warm)
  const figures = await inTurns(
    rounds,
    () => post(spread!),
    () => post(alone!),
  )
  const what = {
    number: 'S9',
    work: 'an array of 1000 postings over 16 products',
    baseline: 'the same over one product',
    unit: 'postings a second',
  }
  return [result(what, figures, atLeast(0.9))]
}

/** A history of one holding with many deposits, spread evenly over 2000 days, and its totals. */
const history = (account: number, rows: number) => `
  insert into biz_transaction (product_id, biz_transaction_type_id, account_id, investment_id,
    transaction_date, investment_price, amount, quantity, closing_quantity, closing_amount,
    closing_cost, closing_gain)
  select 1, 1, ${account}, 12, date '2021-01-01' + (n * 2000 / ${rows})::int, 1, 1, 1, n, n, n, 0
  from generate_series(1, ${rows}) n;
  delete from biz_transaction where account_id = ${account} and closing_quantity is null;
  insert into holding values (1, ${account}, 12, ${rows}, ${rows}, ${rows}, 0)
  on conflict (product_id, account_id, investment_id) do update set quantity = excluded.quantity,
    invested_amount = excluded.invested_amount, cost_amount = excluded.cost_amount;
  update ledger_account set last_date = '2026-07-01' where account_id = ${account};
  analyze biz_transaction`

/** S10: the time and the WAL bytes of a posting dated before a long history of its account. */
export const backDated: Workload = async (bench) => {
  const long = bench.size.name === 'large' ? [20_000, 1_000_000] : [20_000]
  const results: Result[] = []
  for (const [place, rows] of long.entries()) results.push(await backDatedOne(bench, place, rows))
  return results
}

type Posted = { milliseconds: number; kilobytes: number }

async function backDatedOne({ service, size }: Bench, place: number, rows: number) {
  const accountID = size.entities - place // its holdings so far are of other classes
  const [most, kilobytes] = [rows > 20_000 ? 2000 : 50, 100]
  return asking(service, async (client): Promise<Result> => {
    await client.query(history(accountID, rows))
    const post = async (transactionDate: string): Promise<Posted> => {
      const lsn = async () =>
        (await client.query('select pg_current_wal_lsn() as at')).rows[0].at as string
      const body = { accountID, investmentID: 12, transactionDate, amount: 1 }
      const from = await lsn()
      const { milliseconds } = await call(service, 'POST', depositCall.path, JSON.stringify(body))
      const { rows: written } = await client.query('select $1::pg_lsn - $2::pg_lsn as bytes', [
        await lsn(),
        from,
      ])
      return { milliseconds, kilobytes: Number(written[0].bytes) / 1000 }
    }
    // The first posting after a checkpoint logs whole pages, and the first of a kind is planned.
    await client.query('checkpoint')
    for (const warm of [day, '2020-06-04', day]) await post(warm)
    const [before, at]: [Posted[], Posted[]] = [[], []]
    for (const earlier of ['2020-06-03', '2020-06-02', '2020-06-01']) {
      before.push(await post(earlier))
      at.push(await post(day))
    }
    // The figure includes what autovacuum logs meanwhile, hence the median here, too.
    const logged = Math.round(median(before.map(({ kilobytes }) => kilobytes)))
    const [subject, against] = [before, at].map((posted) =>
      median(posted.map(({ milliseconds }) => milliseconds)),
    ) as [number, number]
    return {
      number: `S10${'ab'[place]}`,
      work: `a posting before ${rows.toLocaleString('en')} others of its account`,
      baseline: 'one at the end',
      subject,
      against,
      unit: 'ms',
      ratio: subject / against,
      reach: `below ${most} ms, ${kilobytes} kB logged`,
      reached: subject < most && logged < kilobytes,
      note: `${logged.toLocaleString('en')} kB logged`,
    }
  })
}

/** S11: a process right after its start, and after a rest, against the same process when warm. */
export const cold: Workload = async ({ service, size }) => {
  const { service: fresh, stop } = await service.another()
  try {
    const perSecond = (seconds: number) =>
      load(fresh, depositCall, { size: size.entities, seconds }).perSecond
    const first = perSecond(1)
    perSecond(size.warmSeconds)
    const warm = median([perSecond(1), perSecond(1), perSecond(1)])
    const path = '/BizEntity?BizEntityID=7'
    const calls = async (of = fresh, what = path) => {
      const times: number[] = []
      for (let n = 0; n < 9; n++) times.push((await call(of, 'GET', what)).milliseconds)
      return times
    }
    await calls()
    const usual = median(await calls())
    await new Promise((resolve) => setTimeout(resolve, restSeconds * 1000))
    await calls(service, '/') // our own client has rested, too, and must not slow the reads
    const rested = Math.max(...(await calls()).slice(0, 3))
    const what = { unit: 'a second', baseline: 'the same process when warm' }
    return [
      result(
        { ...what, number: 'S11a', work: 'deposits in the first second after a start' },
        { subject: first, against: warm },
        atLeast(0.9),
      ),
      result(
        {
          ...what,
          number: 'S11b',
          work: `the slowest of three reads after ${restSeconds} idle seconds`,
          unit: 'ms',
        },
        { subject: rested, against: usual },
        atMost(1.5),
      ),
    ]
  } finally {
    await stop()
  }
}

/** Longer than the pools keep an idle connection open. */
const restSeconds = 70

/** S12: the bytes that a posting leaves on disk, in all tables and indexes. */
export const disk: Workload = async ({ service, size }) => {
  const keyed = { ...depositCall, headers: { 'Idempotency-Key': 'bench-{u}' } }
  const bytesEach = async (of: typeof depositCall) =>
    asking(service, async (client) => {
      const now = async () => {
        const { rows } = await client.query(`
          select (select sum(pg_total_relation_size(c.oid)) from pg_class c
              where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace) as bytes,
            (select count(*) from biz_transaction) as count`)
        return { bytes: Number(rows[0].bytes), count: Number(rows[0].count) }
      }
      // First use up the free space in pages, of which a new register has more than an older one.
      load(service, of, { size: size.entities, seconds: size.warmSeconds })
      const before = await now()
      load(service, of, { size: size.entities, seconds: 12 })
      const after = await now()
      return (after.bytes - before.bytes) / (after.count - before.count)
    })
  const row = (number: string, work: string, bytes: number, most: number): Result => ({
    number,
    work,
    baseline: 'nothing',
    subject: bytes,
    against: most,
    unit: 'bytes',
    ratio: bytes / most,
    reach: `at most ${most} bytes`,
    reached: bytes <= most,
  })
  return [
    row('S12a', 'disk per posting', await bytesEach(depositCall), 500),
    row('S12b', 'the same with an Idempotency-Key', await bytesEach(keyed), 900),
  ]
}
