import type { Bell } from '../../platform/sql/bell.ts'
import type { Sql } from '../../platform/sql/handle.ts'
import { head, type Place } from './cursor.ts'
import { type Own, readFeed, readKinds } from './sql.ts'

type Waiter = { own: Own; wake: () => void }

/** Wakes callers that wait when there are new events for them. */
export type News = {
  /** Begins to listen; every commit from then on is noticed. */
  listen(handle: Sql, own: Own): Promise<{ heard: Promise<void>; leave: () => void }>
}

/**
 * One SQL query for new events serves all callers that wait on this node, however many they are. It
 * runs at every ring of the bell, and only while a caller waits.
 */
export function newsFrom(bell: Bell): News {
  const waiters = new Set<Waiter>()
  let begun: Promise<void> | undefined

  const wakeAll = () => {
    for (const { wake } of waiters) wake()
  }

  async function begin(handle: Sql) {
    const place = await readFeed(handle).then(head, (error) => {
      begun = undefined
      throw error
    })
    // If the database fails, wake all callers: each finds out by its own query.
    void look(handle, place).catch(wakeAll)
  }

  async function look(handle: Sql, from: Place) {
    let place = from
    try {
      while (waiters.size > 0) {
        // asked for before the query, so that a commit during the query rings as well
        const rung = bell.rung()
        const feed = await readFeed(handle)
        const kinds = await readKinds(handle, place, feed)
        place = head(feed)
        for (const { own, wake } of waiters) if (kinds.some((kind) => concerns(kind, own))) wake()
        await rung
      }
    } finally {
      // In the same moment in which nobody was seen to wait: the next caller begins anew.
      begun = undefined
    }
  }

  return {
    async listen(handle, own) {
      let wake = () => {}
      const heard = new Promise<void>((resolve) => {
        wake = resolve
      })
      const waiter = { own, wake }
      waiters.add(waiter)
      const leave = () => void waiters.delete(waiter)
      begun ??= begin(handle)
      await begun.catch((error) => {
        leave()
        throw error
      })
      return { heard, leave }
    },
  }
}

const concerns = (kind: { type: string; productID: number | null }, { types, products }: Own) =>
  types.includes(kind.type) && (products === null || products.includes(kind.productID ?? 0))
