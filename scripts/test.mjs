// `npm test` installs what is missing, checks types, lint and format, and runs all tests except the
// long suites (test/run.ts), which `npm run test:long` runs.
// `npm test -- test/catalogue/product.test.ts` runs only that file; Node's own flags are passed on.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkNode, install } from './run.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const program = (...path) => join(root, 'node_modules', ...path)

const checks = [
  { name: 'type check', args: [program('typescript', 'bin', 'tsc'), '--noEmit'] },
  {
    name: 'type check of the console',
    args: [program('typescript', 'bin', 'tsc'), '--noEmit', '-p', 'console'],
  },
  {
    name: 'lint and format',
    args: [program('@biomejs', 'biome', 'bin', 'biome'), 'ci', '--error-on-warnings', '.'],
  },
]
const tests = (given) => ({
  name: 'tests',
  args: ['--import', 'tsx', join('test', 'run.ts'), ...given],
})

let child
let stopped = false
// On a signal the current step first ends what it started (a database), then itself; then we end.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    stopped = true
    if (child) child.kill(signal)
  })
}

/** Runs every step even if one fails, so that one run shows all faults; Node's summary is last. */
async function main(given) {
  checkNode()
  await install()
  const failed = []
  for (const step of given.length > 0 ? [tests(given)] : [...checks, tests([])]) {
    if (stopped || !(await passes(step))) failed.push(step.name)
  }
  if (given.length === 0) notice('The long suites are apart: npm run test:long.')
  if (failed.length > 0) notice(`Failed: ${failed.join(', ')}.`)
  process.exitCode = failed.length > 0 ? 1 : 0
}

function passes({ args }) {
  child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => resolve(code === 0))
  })
}

const notice = (text) => process.stderr.write(`${text}\n`)

main(process.argv.slice(2)).catch((error) => {
  notice(error.message)
  process.exitCode = 1
})
