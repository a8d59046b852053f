import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { faultsOfMessage } from '../scripts/check-commit.mjs'
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
