import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { clientOf } from '../support/client.ts'
import { startProgram, startRegistry, temporaryFolder, until } from '../support/process.ts'
import { printedPassword, refusedStart, stop } from '../support/starts.ts'

describe('a first start that ends early', { concurrency: false }, () => {
  const dataDir = temporaryFolder()
  const env = { REGISTRY_DATA_DIR: dataDir }

  it('shows no password when its port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const { code, words, output } = await refusedStart({ ...env, PORT: String(port) })
    taken.close()
    assert.equal(code, 1)
    assert.match(words, /address already in use.*; set PORT to another/)
    assert.doesNotMatch(output, /password/)
  })

  it('by Ctrl-C in the middle leaves no user whose password nobody has seen', async () => {
    const program = startProgram({ ...env, REGISTRY_LOG_LEVEL: 'info' })
    await until('its database', () => /PostgreSQL runs/.test(program.output()))
    program.kill('SIGINT')
    await program.exited
    assert.equal(printedPassword(program), undefined)
  })

  it('lets the next start show a password that works', async () => {
    const registry = await startRegistry(env)
    await clientOf(registry.url).signIn('admin', printedPassword(registry)!)
    assert.equal(await stop(registry), 0)
  })
})

describe('a configuration that is not right', { concurrency: false }, () => {
  const dataDir = temporaryFolder()

  const refused = async (env: Record<string, string>) => {
    const { code, words } = await refusedStart({ REGISTRY_DATA_DIR: '/nonexistent/x', ...env })
    assert.equal(code, 1)
    return words
  }

  it('stops the start and names every bad value at once', async () => {
    const words = await refused({ PORT: 'abc', REGISTRY_LOG_LEVEL: 'loud', DATABASE_URL: 'mysql:' })
    for (const name of ['PORT', 'REGISTRY_LOG_LEVEL', 'DATABASE_URL'])
      assert.match(words, new RegExp(`${name} must`))
  })

  it('says at once that a data folder cannot be made, and which variable names it', async () => {
    const { code, words } = await refusedStart({ REGISTRY_DATA_DIR: '/proc/data' })
    assert.equal(code, 1)
    assert.match(words, /\/proc\/data cannot be made .* REGISTRY_DATA_DIR/)
    const below = await refusedStart({ REGISTRY_DATA_DIR: 'package.json/data' })
    assert.match(below.words, /package\.json cannot be made .* REGISTRY_DATA_DIR/)
  })

  it('says which setting names an address that cannot be listened on', async () => {
    const { words } = await refusedStart({
      REGISTRY_DATA_DIR: dataDir,
      HOST: '192.0.2.1',
      REGISTRY_BEHIND_PROXY: 'true',
    })
    assert.match(words, /^Cannot start: .*192\.0\.2\.1.*; set HOST to an address of this machine$/m)
  })

  it('says what to do about a key of the audit trail that cannot be read', async () => {
    writeFileSync(join(dataDir, 'keys', 'audit-signing-key'), 'no key')
    const { code, words } = await refusedStart({ REGISTRY_DATA_DIR: dataDir })
    assert.equal(code, 1)
    assert.match(words, /^Cannot start: keys\/audit-signing-key .* bring it back .*, or remove it/m)
  })

  it('names a variable that nothing reads, and the one that was meant', async () => {
    const registry = await startRegistry({
      REGISTRY_DATA_DIR: temporaryFolder(),
      REGISTRY_MAX_PAGESIZE: '10',
    })
    assert.match(
      registry.errors(),
      /REGISTRY_MAX_PAGESIZE is not a setting .* ignored\. Did you mean REGISTRY_MAX_PAGE_SIZE\?/,
    )
    assert.equal(await stop(registry), 0)
  })

  it('does not serve plain HTTP beyond this machine', async () => {
    const words = await refused({ HOST: '0.0.0.0' })
    assert.match(words, /HOST 0\.0\.0\.0 .* REGISTRY_TLS_CERT and REGISTRY_TLS_KEY/)
  })
})
