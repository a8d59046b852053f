// `node scripts/tool.mjs bench/run.ts` runs a program that is not part of the service (bench,
// drills). It first installs what is missing, so that it works in a fresh clone, too.
import { spawn } from 'node:child_process'
import { checkNode, install } from './run.mjs'

checkNode()
await install()
const args = ['--import', 'tsx', ...process.argv.slice(2)]
const child = spawn(process.execPath, args, { stdio: 'inherit' })
// On a signal the program stops what it started; when it has ended, so do we.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code) => {
  process.exitCode = code ?? 1
})
