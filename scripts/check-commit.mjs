// `npm run check-commit [range]` checks that every commit compiles and lints by itself and has one
// topic, a subject of at most 72 characters, and a body. Without a range it checks the last commit.
// `npm run hooks` makes git run it before each commit, as `staged` and as `message FILE`.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { install } from './run.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const longestSubject = 72

function git(args, options = {}) {
  const run = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1e9, ...options })
  if (run.status !== 0) throw new Error(`git ${args[0]} failed: ${run.stderr}`)
  return run.stdout
}

/** The faults of a commit message, without its comment lines; git's own messages have none. */
export function faultsOfMessage(message) {
  const lines = message.split('\n').filter((line) => !line.startsWith('#'))
  const subject = (lines[0] || '').trim()
  const body = lines.slice(1).join('\n').trim()
  if (/^(Merge |Revert |fixup! |squash! )/.test(subject)) return []
  const faults = []
  if (!subject) faults.push('it has no subject')
  if ([...subject].length > longestSubject)
    faults.push(`its subject has more than ${longestSubject} characters`)
  if (subject.endsWith('.')) faults.push('its subject ends with a full stop')
  if (subject.includes(';')) faults.push('its subject joins topics: make it several commits')
  if (lines.length > 1 && lines[1].trim()) faults.push('a blank line must follow the subject')
  if (!body) faults.push('it has no body that says why')
  return faults
}

/** Checks a tree in an empty folder, so that it cannot compile because of files outside it. */
async function faultsOfTree(write) {
  await install()
  const folder = fs.mkdtempSync(join(tmpdir(), 'registry-commit-'))
  try {
    write(folder)
    fs.symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const program = (...path) => join(root, 'node_modules', ...path)
    const checks = [
      ['it does not compile', [program('typescript', 'bin', 'tsc'), '--noEmit']],
      [
        'lint or format is wrong',
        [program('@biomejs', 'biome', 'bin', 'biome'), 'ci', '--error-on-warnings', '.'],
      ],
    ]
    for (const [fault, args] of checks) {
      const run = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
      if (run.status !== 0) return [`${fault}:\n${(run.stdout + run.stderr).slice(0, 2000)}`]
    }
    return []
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const staged = (folder) => git(['checkout-index', '--all', '--force', `--prefix=${folder}/`])

function committed(commit, folder) {
  const archive = git(['archive', commit], { encoding: 'buffer' })
  const run = spawnSync('tar', ['-x', '-C', folder], { input: archive })
  if (run.status !== 0) throw new Error(`tar failed: ${run.stderr}`)
}

function tell(what, faults) {
  if (faults.length === 0) return
  process.stderr.write(`${what}\n${faults.map((fault) => `  - ${fault}\n`).join('')}`)
  process.exitCode = 1
}

async function checkRange(range) {
  const wanted = range ? [range.includes('..') ? range : `${range}..`] : ['--max-count=1', 'HEAD']
  const commits = git(['rev-list', '--reverse', ...wanted])
    .split('\n')
    .filter(Boolean)
  for (const commit of commits) {
    const message = git(['log', '-1', '--format=%B', commit])
    const faults = await faultsOfTree((folder) => committed(commit, folder))
    tell(`${commit.slice(0, 9)} ${message.split('\n')[0]}`, [
      ...faultsOfMessage(message),
      ...faults,
    ])
  }
  process.stdout.write(`${commits.length} commits looked at.\n`)
}

async function main([question, file]) {
  if (question === 'staged') tell('What is staged:', await faultsOfTree(staged))
  else if (question === 'message')
    tell('The message:', faultsOfMessage(fs.readFileSync(file, 'utf8')))
  else await checkRange(question)
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  main(process.argv.slice(2)).catch((error) => {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  })
