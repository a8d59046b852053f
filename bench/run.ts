import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from '../scripts/run.mjs'
import { sizes } from './dataset.ts'
import { isThere } from './load.ts'
import { prepare, startService } from './service.ts'
import { type Result, workloads } from './workloads.ts'

/** `npm run bench -- --size small --only 1,3`: a table of ratios, each measured in this run. */
const { values } = parseArgs({
  options: {
    size: { type: 'string', default: 'small' },
    only: { type: 'string', default: Object.keys(workloads).join(',') },
    rounds: { type: 'string', default: '3' },
    port: { type: 'string', default: '3999' },
  },
})
const size = sizes[values.size]
if (!size) throw new Error(`--size is one of ${Object.keys(sizes).join(', ')}.`)
for (const program of ['wrk', 'pgbench', 'psql'])
  if (!isThere(program)) throw new Error(`The bench needs ${program} on the path.`)

const say = (line: string) => process.stdout.write(`${line}\n`)
const folder = join(import.meta.dirname, 'data', size.name)
await build()
await prepare(folder, size, (step) => say(`  ${step}`))
const service = await startService(folder, Number(values.port))
const idle = service.memory()
try {
  say('| # | Work | Baseline | Subject | Baseline | Ratio | Reach | |')
  say('|---|---|---|---|---|---|---|---|')
  for (const name of values.only.split(',')) {
    const workload = workloads[name]
    if (!workload) throw new Error(`There is no workload ${name}.`)
    say(lineOf(await workload({ service, size, rounds: Number(values.rounds) })))
  }
  const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20)
  say(
    `\nMemory of the server: ${mebibytes(idle)} MiB idle, ${mebibytes(service.memory())} MiB now.`,
  )
} finally {
  await service.stop()
}

function lineOf({ number, work, baseline, subject, against, unit, ratio, reach, reached }: Result) {
  const shown = (figure: number) => `${figure.toFixed(figure < 100 ? 1 : 0)} ${unit}`
  const mark = reached ? 'reached' : 'not reached'
  const cells = [
    number,
    work,
    baseline,
    shown(subject),
    shown(against),
    ratio.toFixed(2),
    reach,
    mark,
  ]
  return `| ${cells.join(' | ')} |`
}
