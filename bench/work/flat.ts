import { load } from '../load.ts'
import { atMost, inTurns, type Result, result, type Workload } from '../measure.ts'
import { depositCall } from './postings.ts'
import { entityCall } from './reads.ts'

const calls = {
  'GET /BizEntity by id': entityCall,
  'POST /BizTransaction/Deposit': depositCall,
  'Holdings of an account': {
    method: 'GET',
    path: '/BizEntity/Account/Holdings?AccountID={n}',
  },
  'GET /BizTransaction by id': { method: 'GET', path: '/BizTransaction?BizTransactionID={n}' },
}

/** A hundred times as many rows, and the same call takes as long. */
export const flatInSize: Workload = async ({ service, size, rounds, small }) => {
  const little = await small()
  const p50 = (of: typeof little, wanted: (typeof calls)[keyof typeof calls]) =>
    load(of.service, wanted, { size: of.size.entities, connections: 16, seconds: 4 }).p50
  const results: Result[] = []
  for (const [place, [work, wanted]] of Object.entries(calls).entries()) {
    const large = { service, size }
    p50(large, wanted) // warm
    p50(little, wanted)
    const figures = await inTurns(
      rounds,
      () => p50(large, wanted),
      () => p50(little, wanted),
    )
    const what = {
      number: `7${'abcd'[place]}`,
      work: `p50 of ${work}, 16 connections, ${size.entities.toLocaleString('en')} entities`,
      baseline: `the same with ${little.size.entities.toLocaleString('en')}`,
      unit: 'ms',
    }
    results.push(result(what, figures, atMost(1.25)))
  }
  return results
}
