import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { temporaryFolder } from './support/process.ts'

type Clone = { folder: string; run: (file: string, ...args: string[]) => Ran }
type Ran = { status: number | null; text: string }

/** A temporary clone, on main, which uses the installed packages of this one. */
function clone(): Clone {
  const folder = join(temporaryFolder(), 'clone')
  const env = { ...process.env, ...identity }
  const runIn =
    (cwd: string) =>
    (file: string, ...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(file, args, { cwd, env, encoding: 'utf8' })
      return { status, text: stdout + stderr }
    }
  const made = runIn('.')('git', 'clone', '--quiet', '--no-hardlinks', '.', folder)
  assert.equal(made.status, 0, made.text)
  const run = runIn(folder)
  run('git', 'checkout', '--quiet', '-B', 'main')
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  appendFileSync(join(folder, '.git', 'info', 'exclude'), '\nnode_modules\n')
  return { folder, run }
}
const identity = {
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
}
const inGit = spawnSync('git', ['rev-parse', '--git-dir']).status === 0
const hasGit = { skip: inGit ? false : 'this is no clone' }

describe('A release', hasGit, () => {
  it('moves the changelog, sets the version, commits and tags, once', () => {
    const { folder, run } = clone()
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    // The tests of this clone would start this test again.
    const manifest = JSON.parse(read('package.json'))
    manifest.scripts.test = 'node -e 0'
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    const log = read('CHANGELOG.md').replace('## [Unreleased]\n', '## [Unreleased]\n\n- A line.\n')
    writeFileSync(join(folder, 'CHANGELOG.md'), log)
    const unclean = run('npm', 'run', 'release', '--', '99.0.0')
    assert.equal(unclean.status, 1)
    assert.match(unclean.text, /not committed/)
    run('git', 'commit', '--quiet', '--all', '-m', 'test: a clone to release')

    const done = run('npm', 'run', 'release', '--', '99.0.0')
    assert.equal(done.status, 0, done.text)
    assert.match(read('CHANGELOG.md'), /## \[Unreleased\]\n\n## \[99\.0\.0\] - [\d-]{10}\n\n- A li/)
    for (const name of ['package.json', 'package-lock.json'])
      assert.equal(JSON.parse(read(name)).version, '99.0.0')
    assert.equal(run('git', 'status', '--porcelain').text, '')
    assert.match(run('git', 'tag', '--points-at', 'HEAD').text, /^v99\.0\.0$/m)
    assert.match(run('git', 'log', '-1', '--format=%B').text, /^release: 99\.0\.0\n\n[\s\S]*A line/)

    for (const [version, words] of [
      ['99.0.0', /not newer/],
      ['98.1.0', /not newer/],
      ['next', /Which version/],
      ['99.0.1', /nothing under Unreleased/],
    ] as const) {
      const refused = run('npm', 'run', 'release', '--', version)
      assert.equal(refused.status, 1)
      assert.match(refused.text, words)
    }
    assert.equal(run('git', 'status', '--porcelain').text, '')
  })

  it('changes nothing when the tests fail', () => {
    const { folder, run } = clone()
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    manifest.scripts.test = 'node -e "process.exit(1)"'
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    run('git', 'commit', '--quiet', '--all', '-m', 'test: tests that fail')
    const before = run('git', 'rev-parse', 'HEAD').text
    const refused = run('npm', 'run', 'release', '--', '99.0.0')
    assert.equal(refused.status, 1)
    assert.match(refused.text, /tests fail|nothing under/)
    assert.equal(run('git', 'rev-parse', 'HEAD').text, before)
    assert.equal(run('git', 'status', '--porcelain').text + run('git', 'tag').text, '')
  })
})

describe('The hooks', hasGit, () => {
  it('let no commit pass that does not compile, or whose message says no reason', () => {
    const { folder, run } = clone()
    // One file is a project, too, and the hooks judge it at once.
    const project = join(folder, 'tsconfig.json')
    const whole = readFileSync(project, 'utf8')
    writeFileSync(project, whole.replace(/"include": .*/, '"include": ["src/version.ts"]'))
    run('git', 'commit', '--quiet', '--all', '--message', 'a smaller project')
    assert.equal(run('npm', 'run', 'hooks').status, 0)
    const commit = (...message: string[]) =>
      run('git', 'commit', '--quiet', ...message.flatMap((part) => ['-m', part]))
    const file = join(folder, 'src', 'version.ts')
    const good = readFileSync(file, 'utf8')

    writeFileSync(file, `${good}\nexport const wrong: number = 'text'\n`)
    run('git', 'add', '--all')
    // What lies in the folder does not help: what is staged is judged.
    writeFileSync(file, good)
    const broken = commit('version: a text for a number', 'To see it refused.')
    assert.notEqual(broken.status, 0)
    assert.match(broken.text, /does not compile/)

    const message = join(folder, '.git', 'MESSAGE')
    writeFileSync(message, 'version: a second constant\n')
    const silent = run(join('scripts', 'hooks', 'commit-msg'), message)
    assert.notEqual(silent.status, 0)
    assert.match(silent.text, /no body/)

    writeFileSync(file, `${good}\nexport const right = 'text'\n`)
    run('git', 'add', '--all')
    const passed = commit('version: a second constant', 'To see it pass.')
    assert.equal(passed.status, 0, passed.text)
  })
})
