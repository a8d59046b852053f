import { setTimeout as sleep } from 'node:timers/promises'
import { areApart, type Touches } from './touches.ts'

/** Steps of one import that run at once: while PostgreSQL works on some, Node reads the next. */
export const mostSteps = 3
/** In milliseconds: a step that only waits for an earlier one holds its locks no longer. */
const longestWait = 5_000

/** Rolls back a step that must release its locks; the step is repeated after the earlier ones. */
class Yielded extends Error {}

export type Turn<T> = {
  /** Waits until the previous step is committed, and gives its result. A step then ends itself. */
  before: () => Promise<T>
  /** Makes later steps release their locks, because one of them may be blocking this step. */
  clearWay: () => void
}

type Underway<T> = { touches: Touches | undefined; end: Promise<T>; letGo: () => void }

/**
 * Runs steps side by side and commits them in order: a finished step waits until the previous one
 * is committed. So the committed rows are always a beginning of the file. Steps about the same
 * accounts or names run one after another.
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
    end.catch(() => {}) // the error is thrown where `end` is awaited
    const own = { touches, end, letGo }
    underway.push(own)
    last = end
  }

  return {
    add,
    /** Waits for the last step and gives its result. */
    end: () => last,
    /** Waits until no step is running, whether steps succeed or fail. */
    over: () => Promise.allSettled(underway.map(({ end }) => end)),
  }
}

/** Waits for the previous step. Throws Yielded if this step blocks an earlier one or it is late. */
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
