import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { temporaryFolder } from '../support/process.ts'

/** A copy of the sources without any build, which uses the installed packages of this one. */
function freshTree(): string {
  const folder = join(temporaryFolder(), 'tree')
  const files = readdirSync('.').filter((name) => /\.json$/.test(name))
  for (const name of ['src', 'scripts', 'console', 'client/src', 'migrations', ...files])
    cpSync(name, join(folder, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  return folder
}

describe('The first command in a fresh tree', () => {
  it('builds all that a start needs, which may not be able to write there', () => {
    const folder = freshTree()
    const version = () => {
      const args = [join('scripts', 'run.mjs'), 'operations/cli/cli', '--version']
      return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    }
    const first = version()
    assert.equal(first.status, 0, first.stderr)
    for (const built of ['main.js', 'worker.js', join('console', 'index.html')])
      assert.ok(existsSync(join(folder, 'dist', built)), built)
    assert.equal(version().stderr, '', 'nothing is left to build')
  })
})
