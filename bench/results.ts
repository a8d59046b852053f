import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Result } from './measure.ts'

export type Run = {
  size: string
  nodes: number
  date: string
  commit: string
  machine: string
  rounds: number
  /** The load average before the run, which shows what else the machine did. */
  load?: number
  results: Result[]
}

const folder = import.meta.dirname
const jsonFile = join(folder, 'results.json')

/** Keeps the results by size and number of nodes; only the workloads that ran are replaced. */
export function keep(run: Run) {
  const known: Run[] = existsSync(jsonFile) ? JSON.parse(readFileSync(jsonFile, 'utf8')) : []
  const isSame = ({ size, nodes }: Run) => size === run.size && nodes === run.nodes
  const earlier = known.find(isSame)?.results ?? []
  const measured = run.results.map((result) => ({ ...result, commit: run.commit }))
  const numbers = new Set(measured.map(({ number }) => number))
  const results = [...earlier.filter(({ number }) => !numbers.has(number)), ...measured]
  results.sort((a, b) => a.number.localeCompare(b.number, 'en', { numeric: true }))
  const runs = [...known.filter((one) => !isSame(one)), { ...run, results }]
  runs.sort((a, b) => a.nodes - b.nodes || a.size.localeCompare(b.size))
  writeFileSync(jsonFile, `${JSON.stringify(runs, null, 2)}\n`)
  writeFileSync(join(folder, 'RESULTS.md'), page(runs))
}

export const machine = () =>
  `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ` +
  `${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, embedded PostgreSQL 18`

/** The load average of the last minute; a quiet machine with two cores has less than 0.5. */
export const loadBefore = () => Math.round((loadavg()[0] ?? 0) * 10) / 10

/** The commit of the working tree, with a `+` if src/ has changes that are not committed. */
export const commit = () => {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', 'src') ? '+' : '')
  } catch {
    return 'unknown'
  }
}

const page = (runs: Run[]) => `# Results

Made by \`npm run bench\`; the same figures are in results.json. Each ratio is the service against
a baseline of the same run, in turns with it, the median of several rounds; load generator, service
and database share the machine. How each is measured is in [README.md](README.md). The bars show how
far a ratio is from what it is to reach: \`|\` is the mark, more to the right is better.

The bare server, against which rows S1 to S5 are measured, is Fastify and pg with one statement per
request. It does **not**: sign anybody in, look at rights, products or versions; check a field, a
date, a status, a limit or a lock of a period; find records by external ids; refuse anything in
words; price by application, redemption, fee, currency or age of a price; lock accounts, so that two
postings at once keep closings right; keep closing figures, cost, gains or the day of the last
transaction; keep an Idempotency-Key; tell events; sign its audit trail, or index it; log, count and
limit requests; answer in fields with names, masks, UTC and trimmed digits; tag records (ETag).

Where the load before a run was not small, others used the machine: ratios of such a run say little,
and the processor time in the notes says more.

${runs.map(section).join('\n\n')}
`

function section(run: Run): string {
  const { size, nodes, date, commit: of, machine: on, rounds, load, results } = run
  const notes = results.flatMap(({ number, note, commit: own = of }) => [
    ...(note ? [`- ${number}: ${note}`] : []),
    ...(own === of ? [] : [`- ${number}: measured at ${own}`]),
  ])
  return [
    `## ${size}${nodes > 1 ? `, ${nodes} nodes behind one port` : ''}`,
    `${date}, commit ${of}, ${rounds} rounds, ${on}; load before the run ${load ?? 'not noted'}.`,
    table(results),
    `\`\`\`text\n${results.map(bar).join('\n')}\n\`\`\``,
    ...(notes.length > 0 ? [notes.join('\n')] : []),
  ].join('\n\n')
}

export const table = (results: Result[]) =>
  [
    '| # | Work | Baseline | Service | Baseline | Ratio | Reach | |',
    '|---|---|---|---:|---:|---:|---|---|',
    ...results.map(line),
  ].join('\n')

function line({ number, work, baseline, subject, against, unit, ...rest }: Result): string {
  const shown = (figure: number) => `${figure.toFixed(figure < 100 ? 1 : 0)} ${unit}`
  const { ratio, reach, reached } = rest
  const cells = [number, work, baseline, shown(subject), shown(against), ratio.toFixed(2), reach]
  return `| ${[...cells, reached ? 'reached' : '**not reached**'].join(' | ')} |`
}

/** The bar of a result, as long as the result is good: twice the target is twice the mark. */
function bar({ number, ratio, subject, reach }: Result): string {
  const [, word, limit, unit] =
    /^(at least|at most|below) ([\d.]+)(?: (bytes|ms))?/.exec(reach) ?? []
  const [reached, wanted] = [unit ? subject : ratio, Number(limit)]
  const share = word === 'at least' ? reached / wanted : wanted / reached
  const score = limit ? share : ratio === 0 ? 1 : 0
  const length = Math.min(60, Math.round(score * 20))
  const drawn = '█'.repeat(length).padEnd(60)
  return `${number.padEnd(5)}${drawn.slice(0, 20)}|${drawn.slice(20)}`.trimEnd()
}
