import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { load, median } from '../load.ts'
import { atLeast, type Bench, result, type Workload } from '../measure.ts'
import { type Used, using } from '../processor.ts'
import { depositCall } from './postings.ts'

/** The advisory lock for sealing (src/access/audit/seal.ts): while we hold it, nobody seals. */
const turn = 7_215_002
const [pairs, seconds] = [5, 5]

type Measured = { perSecond: number; used: Used }

/** The cost of sealing the audit trail while it grows: postings with sealing, and without. */
export const seals: Workload = async (bench: Bench) => {
  const client = new pg.Client(bench.service.connection)
  await client.connect()
  try {
    load(bench.service, depositCall, { size: bench.size.entities, seconds })
    const sealed: Measured[] = []
    const unsealed: Measured[] = []
    for (let pair = 0; pair < pairs; pair++) {
      unsealed.push(await held(client, () => deposits(bench)))
      await allSealed(client) // the next measurement must not pay for sealing these postings
      sealed.push(await deposits(bench))
      await allSealed(client)
    }
    const middle = (all: Measured[], of: (one: Measured) => number) => median(all.map(of))
    const rate = ({ perSecond }: Measured) => perSecond
    const each = (all: Measured[]) => {
      const node = middle(all, ({ used }) => used.node).toFixed(0)
      const database = middle(all, ({ used }) => used.database).toFixed(0)
      return `${node} µs of Node, ${database} of PostgreSQL`
    }
    return [
      result(
        {
          number: '13',
          work: 'POST /BizTransaction/Deposit, 64 connections, the audit trail being sealed',
          baseline: `the same while nobody may seal, in turns; the median of ${pairs}`,
          unit: 'a second',
          note: `processor for each: ${each(sealed)}; unsealed ${each(unsealed)}`,
        },
        { subject: middle(sealed, rate), against: middle(unsealed, rate) },
        atLeast(0.97),
      ),
    ]
  } finally {
    await client.end()
  }
}

async function deposits({ service, size }: Bench): Promise<Measured> {
  let perSecond = 0
  const used = await using(service, () => {
    perSecond = load(service, depositCall, { size: size.entities, seconds }).perSecond
    return perSecond * seconds
  })
  return { perSecond, used }
}

async function held<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('select pg_advisory_lock($1)', [turn])
  return work().finally(() => client.query('select pg_advisory_unlock($1)', [turn]))
}

/** Waits until every audit record is sealed. */
async function allSealed(client: pg.Client) {
  for (;;) {
    const { rows } = await client.query<{ left: boolean }>(`
      select exists (select from audit a
        where (a.xid, a.audit_id) > (
          select s.xid, s.audit_ids[cardinality(s.audit_ids)] from audit_seal s
          order by s.position desc limit 1)) as left`)
    if (!rows[0]!.left) return
    await sleep(200)
  }
}
