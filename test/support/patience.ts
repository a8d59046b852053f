import { availableParallelism, loadavg } from 'node:os'

/**
 * How much slower this machine is than one on which limits are generous: by what a fixed piece of
 * work takes here (test/run.ts measures it once and hands it on), and by how many want its
 * processors at this moment.
 */
const measured = Number(process.env.TEST_SLOWNESS ?? 1)
const crowded = () => loadavg()[0]! / availableParallelism()

/** A limit in milliseconds, as long as this machine needs it to be. */
export const patient = (limit: number) => limit * Math.max(1, measured, crowded())

/** What the piece of work below takes on an idle machine, in milliseconds. */
const usual = 150

/** Measured by the clock, so that others who use the processor count. */
export function measureSlowness(): number {
  const begun = performance.now()
  let sum = 0
  for (let i = 0; i < 20_000_000; i++) sum = (sum + i * 7) % 1_000_003
  const slowness = (performance.now() - begun) / usual
  return sum < 0 ? 1 : Math.max(1, slowness)
}
