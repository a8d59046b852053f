import type { Size } from './dataset.ts'
import { median } from './load.ts'
import type { Service } from './service.ts'

/** One row of the result table: a subject against its baseline, both measured in the same run. */
export type Result = {
  number: string
  work: string
  baseline: string
  subject: number
  against: number
  unit: string
  ratio: number
  reach: string
  reached: boolean
  /** The commit that was measured; set when the result is kept. */
  commit?: string
  /** Further figures, shown below the table. */
  note?: string
}

export type Bench = {
  service: Service
  size: Size
  rounds: number
  /** The bytes that the server process held before the first workload. */
  idle: number
  /** Starts another service, on the small register. */
  small: () => Promise<Service>
}

export type Workload = (bench: Bench) => Promise<Result[]>

/** Measures baseline and subject in turns, so that other load on the machine affects both alike. */
export async function inTurns(
  rounds: number,
  subject: () => Promise<number> | number,
  baseline: () => Promise<number> | number,
) {
  const [subjects, baselines]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    baselines.push(await baseline())
    subjects.push(await subject())
  }
  return { subject: median(subjects), against: median(baselines) }
}

export const atLeast = (least: number) => ({
  reach: `at least ${least}`,
  test: (ratio: number) => ratio >= least,
})
export const atMost = (most: number) => ({
  reach: `at most ${most}`,
  test: (ratio: number) => ratio <= most,
})

export function result(
  what: { number: string; work: string; baseline: string; unit: string; note?: string },
  { subject, against }: { subject: number; against: number },
  { reach, test }: ReturnType<typeof atLeast>,
): Result {
  const ratio = subject / against
  return { ...what, subject, against, ratio, reach, reached: test(ratio) }
}

/** Sends one request and reads its answer to the end; returns how long that took. */
export async function call(service: Service, method: string, path: string, body?: string) {
  const start = performance.now()
  const headers = {
    Version: '2.0',
    Authorization: service.token,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  }
  const answer = await ask(service.url + path, {
    method,
    headers,
    signal: AbortSignal.timeout(longest),
    ...(body !== undefined && { body }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`)
  return { milliseconds: performance.now() - start, data: () => JSON.parse(text).data }
}

/** The time limit of a call in milliseconds: a call that never ends must not hold up a run. */
const longest = 300_000

/**
 * `fetch`, tried again if the connection was closed. While we wait for the process that makes the
 * load our event loop stands still, so we miss that the service closed an idle connection.
 */
export const ask = (url: string, init: RequestInit = {}) =>
  fetch(url, init).catch((error: Error & { cause?: { code?: string } }) => {
    if (error.cause?.code === 'UND_ERR_SOCKET') return fetch(url, init)
    throw error
  })
