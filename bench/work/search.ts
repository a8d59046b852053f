import { call, type Result, type Workload } from '../measure.ts'

/** What people type: names, account numbers, external ids, and a text that matches nothing. */
const texts = (entities: number) =>
  Array.from({ length: 40 }, (_, i) => Math.floor((entities * (i + 0.5)) / 40) + 1).flatMap((n) => [
    `Last${n}`,
    `Entity ${n}`,
    String(n).padStart(9, '0'),
    `E${n}`,
    'first7',
    `nobody ${n}`,
  ])

const most = 100

/** GET /Search as Ctrl-K sends it, one request after another; the 95th percentile counts. */
export const search: Workload = async ({ service, size, rounds }): Promise<Result[]> => {
  const asked = texts(size.entities)
  const ask = async (text: string) =>
    (await call(service, 'GET', `/Search?Text=${encodeURIComponent(text)}`)).milliseconds
  for (const text of asked.slice(0, 24)) await ask(text)
  const taken: number[] = []
  for (let round = 0; round < rounds; round++) for (const text of asked) taken.push(await ask(text))
  const sorted = taken.toSorted((a, b) => a - b)
  const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? 0
  const p50 = sorted[Math.floor(sorted.length / 2)] ?? 0
  return [
    {
      number: '16',
      work: 'GET /Search, p95',
      baseline: `${most} ms`,
      subject: p95,
      against: most,
      unit: 'ms',
      ratio: p95 / most,
      reach: 'at most 1',
      reached: p95 <= most,
      note: `p50 ${p50.toFixed(1)} ms`,
    },
  ]
}
