// `npm run test:crash -- --cycles 50 --seed 7`: the crash suite for longer; and that it sees loss.
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { checkNode, install } from '../../scripts/run.mjs'

const { values } = parseArgs({
  options: { cycles: { type: 'string', default: '20' }, seed: { type: 'string' } },
})
checkNode()
await install()
const { status } = spawnSync(
  process.execPath,
  [
    '--import',
    'tsx',
    '--test',
    '--test-reporter=spec',
    'test/crash.test.ts',
    'test/crash-seen.test.ts',
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      REGISTRY_CRASH_CYCLES: values.cycles,
      ...(values.seed && { REGISTRY_CRASH_SEED: values.seed }),
    },
  },
)
process.exitCode = status ?? 1
