import { setTimeout as sleep } from 'node:timers/promises'
import { areApart, type Touches } from './touches.ts'

/** Steps of one import that are under way at once: while PostgreSQL does some we read the next. */
export const mostSteps = 3
/** In milliseconds: nobody who only waits sits on locks for longer. */
const longestWait = 5_000

/** A step that must let go of what it has locked; it is done again in its turn. */
class Yielded extends Error {}

export type Turn<T> = {
  /** What the step before came to, once that is committed; a step ends after this. */
  before: () => Promise<T>
  /** Something is in our way, and may be held by a step behind us: they let go of it. */
  clearWay: () => void
}

type Underway<T> = { touches: Touches | undefined; end: Promise<T>; letGo: () => void }

/**
 * Does steps side by side and lets them end in the order they came in: one that is done waits for
 * the one before to be committed. So what is committed is always a beginning of the file. Steps
 * about the same things come one after another.
 */
export function sideBySide<T extends object>(begin: T) {
  const underway: Underway<T>[] = []
  let last: Promise<T> = Promise.resolve(begin)
  const hasRoomFor = (touches: Touches | undefined) =>
    underway.length < mostSteps && underway.every((one) => areApart(one.touches, touches))

  async function add(touches: Touches | undefined, work: (turn: Turn<T>) => Promise<T>) {
    while (!hasRoomFor(touches)) await underway[0]?.end
    const yielding = new AbortController()
    const letGo = () => yielding.abort()
    const behind = () => underway.slice(underway.indexOf(own) + 1)
    const clearWay = () => {
      for (const one of behind()) one.letGo()
    }
    const before = last
    const end = work({ before: () => waitFor(before, yielding.signal), clearWay })
      .catch(async (error) => {
        if (!(error instanceof Yielded)) throw error
        await before
        return work({ before: () => before, clearWay })
      })
      .finally(() => underway.splice(underway.indexOf(own), 1))
    end.catch(() => {}) // it is told when it is waited for
    const own = { touches, end, letGo }
    underway.push(own)
    last = end
  }

  return {
    add,
    /** What all of them came to. */
    end: () => last,
    /** None is under way any more, whatever became of it. */
    over: () => Promise.allSettled(underway.map(({ end }) => end)),
  }
}

/** The end of what is waited for; or not, where we are in somebody's way or it takes too long. */
async function waitFor<T>(end: Promise<T>, yielding: AbortSignal): Promise<T> {
  const waited = new AbortController()
  const signal = AbortSignal.any([yielding, waited.signal])
  const tired = sleep(longestWait, undefined, { signal }).then(
    () => Promise.reject(new Yielded()),
    () => Promise.reject(new Yielded()),
  )
  try {
    return await Promise.race([end, tired])
  } finally {
    waited.abort()
  }
}
