import { parseArgs } from 'node:util'
import { build } from '../scripts/run.mjs'
import { sizes } from './dataset.ts'
import { isThere } from './load.ts'
import type { Result } from './measure.ts'
import { commit, keep, loadBefore, machine, table } from './results.ts'
import { startService } from './service.ts'
import { workloads } from './workloads.ts'

/** `npm run bench -- --size small --only 1,3 --cluster 2` measures ratios and prints a table. */
const { values } = parseArgs({
  options: {
    size: { type: 'string', default: 'small' },
    only: { type: 'string', default: [...workloads.keys()].join(',') },
    rounds: { type: 'string', default: '3' },
    port: { type: 'string', default: '3999' },
    cluster: { type: 'string', default: '1' },
  },
})
const size = sizes[values.size]
if (!size) throw new Error(`--size is one of ${Object.keys(sizes).join(', ')}.`)
for (const program of ['pgbench', 'psql'])
  if (!isThere(program)) throw new Error(`The bench needs ${program} on the path.`)

const say = (line: string) => process.stdout.write(`${line}\n`)
const port = Number(values.port)
const [nodes, rounds] = [Number(values.cluster), Number(values.rounds)]
const common = { nodes, tell: (step: string) => say(`  ${step}`) }
const wanted = [...workloads].filter(([name]) => values.only.split(',').includes(name))
if (wanted.length === 0) throw new Error(`--only takes ${[...workloads.keys()].join(', ')}.`)

const load = loadBefore()
await build()
const service = await startService({ ...common, size, port })
const small = () => startService({ ...common, size: sizes.small!, port: port + 1 })
const date = new Date().toISOString().slice(0, 10)
const about = { size: size.name, nodes, rounds, date, commit: commit(), machine: machine(), load }
const results: Result[] = []
try {
  const idle = service.memory().now
  for (const [name, workload] of wanted) {
    // Workload 7 compares a size with the small one, so it means nothing for the small one.
    if (name === '7' && size.name === 'small') continue
    say(`  ${name} ...`)
    const found = await workload({ service, size, rounds, idle, small })
    results.push(...found)
    keep({ ...about, results })
    say(table(found).split('\n').slice(2).join('\n'))
    const { now, peak } = service.memory()
    say(`  memory: ${Math.round(now / 2 ** 20)} MiB, at most ${Math.round(peak / 2 ** 20)}`)
  }
} finally {
  await service.stop()
}
say(`\n${table(results)}`)
say('\nKept in bench/results.json and bench/RESULTS.md.')
