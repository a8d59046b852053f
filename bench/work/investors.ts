import { atLeast, call, inTurns, result, type Workload } from '../measure.ts'
import type { Service } from '../service.ts'

let made = 0
const person = () => ({ externalPersonId: `B${++made}`, firstName: 'Ann', lastName: 'Smith' })
const entity = () => ({
  name: `Bench ${++made}`,
  externalBizEntityId: `B${made}`,
  bizEntityTypeID: 1,
  bizEntityStatusID: 1,
  accounts: [{ productID: 1 }],
  bizEntityParties: [{ person: person() }],
})

/** The same records in arrays of 1000, and one per request over 16 connections. */
const bulk =
  (number: string, path: string, record: () => object): Workload =>
  async ({ service, rounds }) => {
    const figures = await inTurns(
      rounds,
      () => inArrays(service, path, record),
      () => oneByOne(service, path, record),
    )
    const what = {
      number,
      work: `POST ${path} in arrays of 1000`,
      baseline: 'one per request, 16 connections',
      unit: 'records a second',
    }
    return [result(what, figures, atLeast(8))]
  }

async function inArrays(service: Service, path: string, record: () => object) {
  const start = performance.now()
  for (let i = 0; i < 4; i++)
    await call(service, 'POST', path, JSON.stringify(Array.from({ length: 1000 }, record)))
  return 4000 / ((performance.now() - start) / 1000)
}

async function oneByOne(service: Service, path: string, record: () => object) {
  const start = performance.now()
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let i = 0; i < 30; i++) await call(service, 'POST', path, JSON.stringify([record()]))
    }),
  )
  return 480 / ((performance.now() - start) / 1000)
}

export const bulkPersons = bulk('8', '/Person', person)
export const bulkEntities = bulk('8b', '/BizEntity', entity)
