import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { faultsOfMessage } from '../scripts/check-commit.mjs'
import { temporaryFolder } from './support/process.ts'
import { type Service, startService } from './support/service.ts'

const decisions = join('docs', 'decisions')

describe('The decisions', () => {
  const pages = readdirSync(decisions).filter((name) => name !== 'README.md')

  it('are all in the list, under their titles and in order', () => {
    const list = readFileSync(join(decisions, 'README.md'), 'utf8')
    const lines = pages.sort().map((name) => {
      const [, title] = /^# \d{4}\. (.+)$/m.exec(readFileSync(join(decisions, name), 'utf8')) ?? []
      return `- [${name.slice(0, 4)}](${name}): ${title}`
    })
    assert.deepEqual(list.match(/^- .*$/gm), lines)
  })

  it('have a number of their own, and tell context, decision and consequences on one page', () => {
    for (const name of pages) {
      assert.match(name, /^\d{4}-[a-z0-9-]+\.md$/)
      const text = readFileSync(join(decisions, name), 'utf8')
      assert.deepEqual(text.match(/^## .*$/gm), ['## Context', '## Decision', '## Consequences'])
      assert.ok(text.split('\n').length <= 80, name)
    }
    assert.equal(new Set(pages.map((name) => name.slice(0, 4))).size, pages.length)
  })
})

describe('A page of the documentation', () => {
  it('links only to what there is', () => {
    const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...documents()]
    const broken = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .map(([, target]) => join(page, '..', target!))
        .filter((target) => !exists(target))
        .map((target) => `${page} → ${target}`),
    )
    assert.deepEqual(broken, [])
  })
})

const documents = () =>
  readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))

const exists = (path: string) => spawnSync('test', ['-e', path]).status === 0

describe('What watches the registry', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('asks for metrics that there are', async () => {
    const folder = join('deploy', 'monitoring')
    const wanted = ['alerts.yml', 'dashboard.json'].flatMap(
      (name) =>
        readFileSync(join(folder, name), 'utf8').match(
          /\b(registry|http|database|process|nodejs)_[a-z0-9_]+(?=[{[ )"])/g,
        ) ?? [],
    )
    assert.ok(wanted.length > 20)
    const there = await (await fetch(`${service.url}/metrics`)).text()
    const missing = wanted.filter(
      (name) => !there.includes(`# TYPE ${name.replace(/_(count|bucket)$/, '')} `),
    )
    assert.deepEqual([...new Set(missing)], [])
  })

  it('is told of every metric of ours, and of no other', async () => {
    const page = readFileSync(join('docs', 'monitoring.md'), 'utf8')
    const cells = page.match(/^\| `.*?\|/gm)?.join() ?? ''
    const told = cells.match(/\b(registry|http|database)_\w+/g)
    const there = await (await fetch(`${service.url}/metrics`)).text()
    const ours = [...there.matchAll(/^# TYPE ((?!process_|nodejs_)\w+) /gm)].map(([, name]) => name)
    assert.ok(ours.length > 5)
    assert.deepEqual([...new Set(told)].sort(), ours.sort())
  })
})

describe('The message of a commit', () => {
  const body = '\n\nBecause a second press of the key posted twice.\n'

  it('passes with one topic, a short subject and a reason', () => {
    assert.deepEqual(faultsOfMessage(`ledger: a posting is done once${body}`), [])
    assert.deepEqual(faultsOfMessage(`Merge branch 'x'`), [])
  })

  it('is refused without a body, with a long subject, or with two topics', () => {
    const refused = ['x', `${'x'.repeat(73)}${body}`, `one; two${body}`, `one.${body}`, 'x\ny']
    for (const message of refused) assert.ok(faultsOfMessage(message).length > 0, message)
  })
})

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
