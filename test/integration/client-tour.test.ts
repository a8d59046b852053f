import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startCommand } from '../support/process.ts'
import { adminPassword, type Service, startService } from '../support/service.ts'

const run = promisify(execFile)

mkdirSync('client/generated', { recursive: true })
const folder = mkdtempSync('client/generated/tour-')
let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  rmSync(folder, { recursive: true })
  await service.stop()
})

/** The tour as it stands, at the service of this test. */
function tourOf({ url }: Service): string {
  const readme = readFileSync(join('client', 'README.md'), 'utf8')
  const [, tour = ''] = /^## The tour$[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(readme) ?? []
  const here = tour
    .replace("'@registry-platform/client'", "'../../src/index.ts'")
    .replace('http://127.0.0.1:3000', url)
    .replace('the password it printed', adminPassword)
  assert.ok(here.includes(url) && here.includes(adminPassword))
  return here
}

describe('The README of the client', () => {
  it('has a tour that compiles with the types made from the service, and works', async () => {
    const types = join(folder, 'generated', 'api.ts')
    mkdirSync(join(folder, 'generated'))
    await run(process.execPath, [join('client', 'generate.mjs'), service.url, types])
    writeFileSync(join(folder, 'tour.ts'), tourOf(service))
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['.'] }),
    )
    const compiler = join('node_modules', 'typescript', 'bin', 'tsc')
    await run(process.execPath, [compiler, '-p', folder]).catch(({ stdout }) => assert.fail(stdout))
    const tour = startCommand(process.execPath, ['--import', 'tsx', join(folder, 'tour.ts')], {})
    assert.equal(await tour.exited, 0, tour.errors())
    const told = tour.output()
    assert.match(told, /^959\.3285$/m, 'every digit of the units')
    assert.match(told, /would be short by/)
    assert.match(told, /^product\.created|^user\.created/m)
    assert.match(told, /^The terms\.$/m)
  })
})

const compilerOptions = {
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
  types: [],
}
