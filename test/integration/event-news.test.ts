import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { newsFrom } from '../../src/integration/event/news.ts'
import type { Bell } from '../../src/platform/sql/bell.ts'
import type { Fragment, Sql } from '../../src/platform/sql/handle.ts'
import { openAsService } from '../support/explain.ts'
import { newProduct } from '../support/ledger.ts'
import { until } from '../support/process.ts'
import { feedComesUp } from '../support/receiver.ts'
import { withService } from '../support/service.ts'

it('Who begins to wait for events as the last one leaves is told of the next all the same', () =>
  withService({}, async (service) => {
    const database = openAsService(service.connection)
    let answered = 0
    const handle: Sql = {
      ...database,
      query: async <Row extends object>(statement: Fragment) => {
        const rows = await database.query<Row>(statement)
        answered++
        return rows
      },
    }
    /** Somebody comes so many microtasks after the bell that lets the last look end. */
    const comesAfter = async (turns: number) => {
      answered = 0
      const { bell, ring, isListenedTo } = bellByHand()
      const news = newsFrom(bell)
      const own = { types: ['product.created'], products: null }
      const { leave } = await news.listen(handle, own)
      leave()
      // One query begins, and a look is two: after them it waits for the bell alone.
      await until('the first look', () => answered >= 3)
      await setImmediate()
      ring()
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      const next = await news.listen(handle, own)
      await setImmediate()
      assert.ok(isListenedTo(), `nobody looks, ${turns} microtasks after the bell`)
      await newProduct(service)
      await feedComesUp(service.connection)
      ring()
      await next.heard
      next.leave()
      ring()
    }
    const each = async () => {
      for (let turns = 0; turns < 12; turns++) await comesAfter(turns)
    }
    await each().finally(database.close)
  }))

/** A bell that rings when the test says so, and tells whether somebody waits for it. */
function bellByHand() {
  let waiting: (() => void)[] = []
  const rung = () => new Promise<void>((resolve) => waiting.push(resolve))
  return {
    bell: { rung } as unknown as Bell,
    isListenedTo: () => waiting.length > 0,
    ring: () => {
      const woken = waiting
      waiting = []
      for (const wake of woken) wake()
    },
  }
}
