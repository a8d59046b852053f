import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startCommand } from './support/process.ts'
import { adminPassword, type Service, startService } from './support/service.ts'

const readme = readFileSync('README.md', 'utf8')
const hasCurl = spawnSync('curl', ['--version']).status === 0

describe('The README', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('has every setting in its table, and no others', () => {
    const inCode = readFileSync('src/config.ts', 'utf8').match(/'[A-Z][A-Z0-9_]{3,}'/g) ?? []
    const inTable = readme.match(/^\| `[A-Z].*?\|/gm)?.join() ?? ''
    assert.deepEqual(
      [...new Set(inTable.match(/[A-Z][A-Z0-9_]{3,}/g))].sort(),
      [...new Set(inCode.map((name) => name.slice(1, -1)))].sort(),
    )
  })

  it('has every command of the operator, and a page every option', () => {
    const folder = join('src', 'operations', 'cli')
    const helpers = ['cli.ts', 'password.ts', 'registry.ts']
    const commands = readdirSync(folder).filter((name) => !helpers.includes(name))
    const inReadme = new Set(
      [...readme.matchAll(/npm run cli -- ([a-z-]+)/g)].map(([, name]) => name),
    )
    assert.deepEqual(
      commands.map((name) => name.replace('.ts', '')).filter((name) => !inReadme.has(name)),
      [],
    )
    const pages = readdirSync('docs').filter((name) => name.endsWith('.md'))
    const told = [readme, ...pages.map((name) => readFileSync(join('docs', name), 'utf8'))].join()
    const options = commands.flatMap((name) =>
      [...readFileSync(join(folder, name), 'utf8').matchAll(/ption\(\s*'(--[a-z-]+)/g)].map(
        ([, one]) => one!,
      ),
    )
    assert.ok(options.length > 10)
    assert.deepEqual(
      options.filter((one) => !told.includes(one)),
      [],
    )
  })

  it('has a tour whose every line works as it stands', { skip: !hasCurl }, async () => {
    const [, tour = ''] = /^## A five-minute tour$([\s\S]*?)^## /m.exec(readme) ?? []
    assert.match(await walk(service, tour), /^idempotency-replayed: true/m)
  })
})

describe('The API guide', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('has lines that work as they stand, from top to bottom', { skip: !hasCurl }, async () => {
    const guide = readFileSync(join('docs', 'api-guide.md'), 'utf8')
    assert.match(await walk(service, guide), /"drpUnits":[1-9]/)
  })
})

/** Runs a page's shell examples, and asserts that only those are refused that say so. */
async function walk({ url }: Service, page: string): Promise<string> {
  const script = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, lines]) => lines).join('')
  const here = script
    .replace(/^URL=.*$/m, `URL=${url}`)
    .replace(/^PASSWORD=.*$/m, `PASSWORD='${adminPassword}'`)
  assert.ok(here.includes(url) && here.includes(adminPassword))
  const shell = startCommand('sh', ['-e', '-c', here], {})
  assert.equal(await shell.exited, 0, shell.errors())
  const output = shell.output()
  const refused = count(script, /# refused$/gm)
  assert.equal(count(output, /"result":false/g), refused, output)
  assert.equal(count(output, /"result":true/g), count(script, /^call [A-Z]/gm) - refused, output)
  return output
}

describe('docs/DEPENDENCIES.md', () => {
  it('has every direct dependency, and no others', () => {
    const direct = ['package.json', 'client/package.json'].flatMap((file) => {
      const found = JSON.parse(readFileSync(file, 'utf8'))
      const { dependencies, optionalDependencies, devDependencies } = found
      return Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies })
    })
    const listed = readFileSync('docs/DEPENDENCIES.md', 'utf8')
      .match(/^\| `.*?\|/gm)!
      .flatMap((cell) => [...cell.matchAll(/`(.*?)`/g)].map(([, name]) => name))
    assert.deepEqual(listed.sort(), [...new Set(direct)].sort())
  })
})

const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length
