import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../../platform/refusal.ts'
import { codeOf, isLocked } from '../../platform/sql/away.ts'

/** Locks that did not come free in time, and the loser of two who waited for each other. */
export const isInTheWay = (error: unknown) => isLocked(error) || codeOf(error) === '40P01'

/** What passes by itself: something is in our way, or the database is away or has no time. */
const isPassing = (error: unknown) =>
  isInTheWay(error) || (error instanceof Refusal && error.status === 503)

/** In milliseconds, half a minute in all: what takes longer than that is worth a fresh start. */
const pauses = [100, 200, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]

/**
 * A small transaction on which hours of work depend. It may be done twice, where it is not known
 * what became of it; `meanwhile` is called before each new try, and may throw.
 */
export async function untilItPasses<T>(
  work: () => Promise<T>,
  meanwhile: () => Promise<unknown>,
): Promise<T> {
  for (const pause of pauses) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error)) throw error
    }
    await sleep(pause * (0.5 + Math.random()))
    await meanwhile()
  }
  return work()
}
