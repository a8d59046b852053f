import type { Size } from './dataset.ts'
import { median } from './load.ts'
import type { Service } from './service.ts'

/** One row of the table: a subject against its baseline, measured in turns in the same run. */
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
  /** What it was measured of; given when it is kept. */
  commit?: string
  /** What else is worth telling of it. */
  note?: string
}

export type Bench = {
  service: Service
  size: Size
  rounds: number
  /** Bytes the server held before the first workload. */
  idle: number
  /** Starts another service, on the small register. */
  small: () => Promise<Service>
}

export type Workload = (bench: Bench) => Promise<Result[]>

/** Baseline and subject in turns, so that whatever else the machine does meets both. */
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

/** A call over one connection, its body read to the end; gives its milliseconds. */
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

/** In milliseconds: a call that never ends must not hold up a run. */
const longest = 300_000

/** While another process makes load we hear nothing, and may find our idle connection closed. */
export const ask = (url: string, init: RequestInit = {}) =>
  fetch(url, init).catch((error: Error & { cause?: { code?: string } }) => {
    if (error.cause?.code === 'UND_ERR_SOCKET') return fetch(url, init)
    throw error
  })
