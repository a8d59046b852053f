import { type Call, load } from '../load.ts'
import { atLeast, inTurns, result, type Workload } from '../measure.ts'

const person = '{"externalPersonId":"B{u}","firstName":"Ann","lastName":"Smith"}'
const entity = `{"name":"Bench {u}","externalBizEntityId":"B{u}","bizEntityTypeID":1,
  "bizEntityStatusID":1,"accounts":[{"productID":1}],"bizEntityParties":[{"person":${person}}]}`

/** Posts records in arrays of 1000, one array at a time, against one record per request. */
const bulk =
  (number: string, path: string, body: string): Workload =>
  async ({ service, size, rounds }) => {
    const one: Call = { method: 'POST', path, body: body.replaceAll('\n', '') }
    const records = (call: Call, connections: number, seconds: number) =>
      load(service, call, { size: size.entities, connections, seconds }).perSecond
    const arrays = (seconds: number) => 1000 * records({ ...one, times: 1000 }, 1, seconds)
    const singles = (seconds: number) => records(one, 16, seconds)
    for (const warm of [arrays, singles]) warm(1)
    const figures = await inTurns(
      rounds,
      () => arrays(2),
      () => singles(2),
    )
    const what = {
      number,
      work: `POST ${path} in arrays of 1000`,
      baseline: 'one per request, 16 connections',
      unit: 'records a second',
    }
    return [result(what, figures, atLeast(8))]
  }

export const bulkPersons = bulk('8', '/Person', person)
export const bulkEntities = bulk('8b', '/BizEntity', entity)
