import { availableParallelism, loadavg } from 'node:os'

/**
 * How much slower this machine is than the machine that the limits are made for. `measured` comes
 * from a fixed piece of work (test/run.ts measures it once and passes it on); `crowded` is how many
 * processes want each processor at this moment.
 */
const measured = Number(process.env.TEST_SLOWNESS ?? 1)
const crowded = () => loadavg()[0]! / availableParallelism()

/** A limit in milliseconds, extended on a slow or busy machine. */
export const patient = (limit: number) => limit * Math.max(1, measured, crowded())

/** The milliseconds that the work of measureSlowness takes on an idle machine. */
const usual = 150

/** Measures by the clock, not by processor time, so that other processes count, too. */
export function measureSlowness(): number {
  const begun = performance.now()
  let sum = 0
  for (let i = 0; i < 20_000_000; i++) sum = (sum + i * 7) % 1_000_003
  const slowness = (performance.now() - begun) / usual
  return sum < 0 ? 1 : Math.max(1, slowness)
}
