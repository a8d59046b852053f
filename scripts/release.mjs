// `npm run release -- 0.2.0` checks everything, moves the changelog's Unreleased section under the
// version, sets the version, commits and tags. It pushes nothing. If a check fails it stops before
// it changes anything.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const inTree = (name) => join(root, name)
const files = ['package.json', 'package-lock.json', 'CHANGELOG.md']

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr.trim()}`)
  return stdout.trim()
}

const readJson = (name) => JSON.parse(fs.readFileSync(inTree(name), 'utf8'))
const numbers = (version) => version.split('.').map(Number)

function isNewer(version, present) {
  const [one, other] = [numbers(version), numbers(present)]
  const place = one.findIndex((number, i) => number !== other[i])
  return place >= 0 && one[place] > other[place]
}

function checkVersion(version) {
  if (!/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.test(version || ''))
    throw new Error('Which version? npm run release -- 0.2.0')
  const present = readJson('package.json').version
  if (!isNewer(version, present)) throw new Error(`${version} is not newer than ${present}.`)
}

function checkRepository(version) {
  if (git('status', '--porcelain')) throw new Error('There are changes that are not committed.')
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD')
  if (branch !== 'main') throw new Error(`A release is made on main, and this is ${branch}.`)
  if (git('tag', '--list', `v${version}`)) throw new Error(`There is a tag v${version} already.`)
}

/** Returns the changelog with the Unreleased section under its version, and that section's text. */
function movedChangelog(text, version, date) {
  const [, before, section, rest] =
    /^([\s\S]*?\n## \[Unreleased\]\n)([\s\S]*?)(\n## \[[\s\S]*|$)$/.exec(text) || []
  if (section === undefined) throw new Error('CHANGELOG.md has no section "## [Unreleased]".')
  if (!/^- /m.test(section)) throw new Error('CHANGELOG.md has nothing under Unreleased.')
  const notes = section.trim()
  return { text: `${before}\n## [${version}] - ${date}\n\n${notes}\n${rest}`, notes }
}

function runTests() {
  for (const command of ['test', 'test:long']) {
    const { status } = spawnSync('npm', ['run', command], { cwd: root, stdio: 'inherit' })
    if (status !== 0) throw new Error('The tests fail; nothing was changed.')
  }
  if (git('status', '--porcelain')) throw new Error('The tests left files behind.')
}

function writeVersion(version) {
  for (const name of ['package.json', 'package-lock.json']) {
    const content = readJson(name)
    content.version = version
    if (content.packages) content.packages[''].version = version
    fs.writeFileSync(inTree(name), `${JSON.stringify(content, null, 2)}\n`)
  }
}

function release(version) {
  checkVersion(version)
  checkRepository(version)
  const today = new Date().toISOString().slice(0, 10)
  const changelog = fs.readFileSync(inTree('CHANGELOG.md'), 'utf8')
  const { text, notes } = movedChangelog(changelog, version, today)
  runTests()
  writeVersion(version)
  fs.writeFileSync(inTree('CHANGELOG.md'), text)
  git('add', ...files)
  git('commit', '--quiet', '-m', `release: ${version}`, '-m', notes)
  git('tag', '--annotate', `v${version}`, '-m', `Registry Platform ${version}`, '-m', notes)
  process.stdout.write(`Tagged v${version}. Look at it, then: git push --follow-tags\n`)
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  try {
    release(process.argv[2])
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
