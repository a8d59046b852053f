import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { startCommand } from '../support/process.ts'
import { adminPassword, type Service, startService } from '../support/service.ts'

const run = promisify(execFile)

/** The folder of another project, which has installed the client package. */
const folder = mkdtempSync(join(tmpdir(), 'registry-tour-'))
let service: Service
before(async () => {
  service = await startService()
})
after(async () => {
  rmSync(folder, { recursive: true })
  await service.stop()
})

/** The text of the tour, changed only to call the service of this test. */
function tourOf({ url }: Service): string {
  const readme = readFileSync(join('client', 'README.md'), 'utf8')
  const [, tour = ''] = /^## The tour$[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(readme) ?? []
  const here = tour
    .replace('http://127.0.0.1:3000', url)
    .replace('the password it printed', adminPassword)
  assert.ok(here.includes(url) && here.includes(adminPassword))
  return here
}

describe('The README of the client', () => {
  it('has a tour that compiles with the package made from the service, and works', async () => {
    const installed = join(folder, 'node_modules', '@registry-platform', 'client')
    mkdirSync(installed, { recursive: true })
    copyFileSync(join('client', 'package.json'), join(installed, 'package.json'))
    const generate = [join('client', 'generate.mjs'), service.url, join(installed, 'dist')]
    await run(process.execPath, generate)
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'tour.ts'), tourOf(service))
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['tour.ts'] }),
    )
    const compiler = join('node_modules', 'typescript', 'bin', 'tsc')
    await run(process.execPath, [compiler, '-p', folder]).catch(({ stdout }) => assert.fail(stdout))
    // Node as it is: nothing that knows TypeScript.
    const tour = startCommand(process.execPath, [join(folder, 'tour.js')], {})
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
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
  types: [],
}
