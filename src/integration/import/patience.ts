import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../../platform/refusal.ts'
import { codeOf, isLocked } from '../../platform/sql/away.ts'

/** Whether an error is a lock timeout or a deadlock (40P01). */
export const isInTheWay = (error: unknown) => isLocked(error) || codeOf(error) === '40P01'

/** Whether an error may pass by itself: a lock, or a database that is away or busy (503). */
const isPassing = (error: unknown) =>
  isInTheWay(error) || (error instanceof Refusal && error.status === 503)

/** In milliseconds, half a minute in all: after that a fresh attempt of the import is better. */
const pauses = [100, 200, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]

/**
 * Repeats a small transaction on which hours of work depend. The transaction may be done twice, if
 * the result of the first try is unknown. `meanwhile` is called before each new try and may throw.
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
