// Runs a program that is not part of the service (bench, drills): `node scripts/tool.mjs
// bench/run.ts`. Installs what is missing first, so that it works on an empty clone, too.
import { spawn } from 'node:child_process'
import { checkNode, install } from './run.mjs'

checkNode()
await install()
const args = ['--import', 'tsx', ...process.argv.slice(2)]
const child = spawn(process.execPath, args, { stdio: 'inherit' })
// It stops what it started; then we leave.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code) => {
  process.exitCode = code ?? 1
})
