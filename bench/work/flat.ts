import { type Size, sizes } from '../dataset.ts'
import { load } from '../load.ts'
import { atMost, inTurns, type Result, result, type Workload } from '../measure.ts'
import type { Service } from '../service.ts'
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

/** A call on a large register against the same call on the small one: it should take as long. */
export const flatInSize: Workload = async ({ service, size, rounds, small }) => {
  const little = await small()
  try {
    const results: Result[] = []
    for (const [place, [work, wanted]] of Object.entries(calls).entries()) {
      const p50 = (of: Service, { entities }: Size, seconds = 4) =>
        load(of, wanted, { size: entities, connections: 16, seconds }).p50
      p50(service, size, size.warmSeconds)
      p50(little, sizes.small!, sizes.small!.warmSeconds)
      const figures = await inTurns(
        rounds,
        () => p50(service, size),
        () => p50(little, sizes.small!),
      )
      const what = {
        number: `7${'abcd'[place]}`,
        work: `p50 of ${work}, 16 connections, ${size.entities.toLocaleString('en')} entities`,
        baseline: `the same with ${sizes.small!.entities.toLocaleString('en')}`,
        unit: 'ms',
      }
      results.push(result(what, figures, atMost(1.25)))
    }
    return results
  } finally {
    await little.stop()
  }
}
