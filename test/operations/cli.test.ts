import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import pg from 'pg'
import { lockNumbers } from '../../src/platform/sql/lock-numbers.ts'
import { type Client, clientOf } from '../support/client.ts'
import {
  emptyDatabase,
  freshDatabase,
  rowsOf,
  urlOf,
  waitingForLocks,
} from '../support/database.ts'
import { startNode } from '../support/node.ts'
import {
  cliCommand,
  runCli,
  startCommand,
  startRegistry,
  temporaryFolder,
  until,
} from '../support/process.ts'
import { startProxy } from '../support/proxy.ts'

const password = 'a password for tests'
/** Whether the program `script` is there, which gives tests a terminal to type into. */
const hasScript = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux')

describe('the commands on a data folder of their own', { concurrency: false }, () => {
  const dataDir = temporaryFolder()
  const env = { REGISTRY_DATA_DIR: dataDir }
  const cli = (args: string[], input?: string) => runCli(args, env, input)
  let anyone: Client
  let admin: Client

  it('create nothing where there is no database yet', async () => {
    const check = await cli(['check'])
    assert.equal(check.code, 1)
    assert.match(check.output, /^WRONG +database +there is no database in /m)
    const create = await cli(['create-user', '--username', 'ann', '--generate'])
    assert.equal(create.code, 1)
    assert.match(create.errors, /Run the command migrate first/)
    assert.deepEqual(readdirSync(dataDir), [])
  })

  it('migrate makes the database, and finds nothing to do the second time', async () => {
    const first = await cli(['migrate'])
    assert.equal(first.code, 0, first.errors)
    assert.match(first.output, /^Applied 0001-foundation\.sql\.$/m)
    assert.equal((await cli(['migrate'])).output, 'The database is up to date.\n')
  })

  it('check finds nothing wrong with a database of our own', async () => {
    const { code, output } = await cli(['check'])
    assert.equal(code, 0, output)
    assert.match(output, /^(ok .*\n)+$/)
    for (const name of ['configuration', 'version', 'migrations', 'role', 'audit', 'connections'])
      assert.match(output, new RegExp(`^ok +${name} `, 'm'))
  })

  it('create-user works without a running service, with the password from its input', async () => {
    const args = ['create-user', '--username', 'Olive', '--role', 'Administrator']
    const { code, output, errors } = await cli(args, `${password}\n`)
    assert.equal(code, 0, errors)
    assert.equal(output, 'Created the user Olive.\n')
    const registry = await startRegistry(env)
    assert.ok(!registry.output().includes('First user'))
    anyone = clientOf(registry.url)
    admin = await anyone.signIn('olive', password)
  })

  it('create-user works beside the service, and gives the rights it was asked for', async () => {
    await admin.post('/Product', { name: 'One' })
    await admin.post('/Product', { name: 'Two' })
    const rights = ['--permissions', 'Product.Read,Product.Write', '--products', '2']
    const created = await cli(['create-user', '--username', 'ann', ...rights, '--generate'])
    assert.equal(created.code, 0, created.errors)
    const ann = await anyone.signIn('ann', /^Password: (\S+)$/m.exec(created.output)![1]!)
    const { data } = await ann.get('/Product')
    assert.deepEqual(
      data.map(({ name }: { name: string }) => name),
      ['Two'],
    )
    assert.equal((await ann.get('/User')).status, 403)
  })

  it('create-user tells everything that is wrong, and creates nothing', async () => {
    const rights = ['--role', 'Boss', '--products', '1,x']
    const bad = await cli(['create-user', '--username', 'bob', ...rights], 'short\n')
    assert.equal(bad.code, 1)
    for (const name of ['password', 'role', 'productIDs[1]'])
      assert.ok(bad.errors.includes(`${name} must`), bad.errors)
    const twice = await cli(['create-user', '--username', 'ANN', '--role', 'Operator'], password)
    assert.equal(twice.code, 1)
    assert.match(twice.errors, /Another user has this username/)
    const without = await cli(['create-user', '--username', 'bob'], password)
    assert.equal(without.code, 1)
    assert.match(without.errors, /either a role or a list of permissions/)
    const empty = await cli(['create-user', '--username', 'bob', '--role', 'Operator'], '')
    assert.equal(empty.code, 1)
    assert.match(empty.errors, /No password/)
    assert.equal((await admin.get('/User')).recordCount, 2)
  })

  it('reset-password ends the sessions of the user, and no others, and a lock-out', async () => {
    const before = await anyone.signIn('ann', await resetTo(password))
    const wrong = { username: 'ann', password: 'a wrong password' }
    for (let i = 0; i < 10; i++) await anyone.post('/User/Login', wrong)
    assert.equal((await anyone.post('/User/Login', wrong)).status, 429)
    const { code } = await cli(['reset-password', '--username', 'Ann'], 'another long password')
    assert.equal(code, 0)
    await until('the session to end', async () => (await before.get('/Product')).status === 401)
    await anyone.signIn('ann', 'another long password')
    assert.equal((await admin.get('/User')).status, 200)
    const unknown = await cli(['reset-password', '--username', 'nobody', '--generate'])
    assert.equal(unknown.code, 1)
    assert.match(unknown.errors, /No record was found for username "nobody"/)
  })

  it('reset-password does not show what is typed at a terminal', { skip: !hasScript }, async () => {
    const command = [process.execPath, ...cliCommand(['reset-password', '--username', 'ann'])]
    const terminal = startCommand('script', ['-qec', command.join(' '), '/dev/null'], env)
    await until('the first question', () => terminal.output().includes('Password: '))
    terminal.input.write('typed and not shown\n')
    await until('the second question', () => terminal.output().includes('Repeat the password: '))
    terminal.input.write('typed and not shown\n')
    assert.equal(await terminal.exited, 0)
    assert.ok(!terminal.output().includes('typed'))
    await anyone.signIn('ann', 'typed and not shown')
  })

  it('end in silence when nobody reads what they say any more', async () => {
    const command = [process.execPath, ...cliCommand(['events', '--follow'])].join(' ')
    const piped = startCommand('sh', ['-c', `${command} | true`], env)
    assert.equal(await piped.exited, 0)
    assert.equal(piped.errors(), '')
  })

  it('leave audit records like every other write, without the password', async () => {
    const { data } = await admin.get('/Audit?Username=cli')
    const operations = new Set(data.map(({ operation }: { operation: string }) => operation))
    assert.deepEqual([...operations].sort(), ['cli create-user', 'cli reset-password'])
    assert.ok(!JSON.stringify(data).includes(password))
  })

  async function resetTo(newPassword: string) {
    const { code, errors } = await cli(['reset-password', '--username', 'ann'], newPassword)
    assert.equal(code, 0, errors)
    return newPassword
  }
})

describe('a command whose database goes away under it', () => {
  it('says so in one line, without a stack', async () => {
    const connection = await freshDatabase()
    const proxy = await startProxy(connection)
    const holder = new pg.Client(connection)
    await holder.connect()
    try {
      await holder.query('select pg_advisory_lock($1)', [lockNumbers.migration])
      const through = urlOf({ ...connection, ...proxy.place })
      const migrated = runCli(['migrate'], { DATABASE_URL: through })
      await until('it to wait', async () => (await waitingForLocks(connection)) > 0)
      proxy.cut()
      const { code, errors } = await migrated
      assert.equal(code, 1)
      assert.match(errors, /^the connection to the database was lost /m)
      assert.doesNotMatch(errors, / at /)
    } finally {
      await holder.end()
      await proxy.stop()
    }
  })
})

describe('a backup with no sealed values but the secrets of webhooks', () => {
  it('names their key, and is not restored without it', async () => {
    const connection = await freshDatabase()
    const own = { REGISTRY_WORKER: 'false', REGISTRY_WEBHOOK_ALLOW_LOCAL: 'true' }
    const node = await startNode(connection, own)
    try {
      const hook = { url: 'http://127.0.0.1:9/hook', types: ['product.created'] }
      assert.equal((await node.admin.post('/Webhook', hook)).status, 200)
    } finally {
      await node.stop()
    }
    const folder = join(temporaryFolder(), 'backup')
    const backedUp = await runCli(['backup', folder], {
      DATABASE_URL: urlOf(connection),
      REGISTRY_DATA_DIR: temporaryFolder(),
    })
    assert.equal(backedUp.code, 0, backedUp.errors)
    assert.match(backedUp.output, /sealed with the key [0-9a-f]{16}, which is not in the backup/)
    const empty = { DATABASE_URL: urlOf(await emptyDatabase()) }
    const restored = await runCli(['restore', folder], {
      ...empty,
      REGISTRY_DATA_DIR: temporaryFolder(),
    })
    assert.equal(restored.code, 1)
    assert.match(
      restored.errors,
      /sealed with the encryption key [0-9a-f]{16}, which was not found/,
    )
  })
})

describe('check finds what is wrong', () => {
  const checked = async (env: Record<string, string>) => {
    const { code, output } = await runCli(['check'], env)
    assert.equal(code, 1, output)
    return output
  }

  it('with the settings of a server that could forget what it acknowledged', async () => {
    const connection = await freshDatabase()
    await rowsOf(connection, `alter database ${connection.database} set synchronous_commit = off`)
    const output = await checked({ DATABASE_URL: urlOf(connection) })
    assert.match(output, /^WRONG +synchronous_commit +off, but must be on or remote_apply$/m)
    assert.match(output, /^ok +migrations +up to date$/m)
  })

  it('with a server that writes what it is sent into its log', async () => {
    const connection = await freshDatabase()
    for (const setting of ['log_min_duration_statement = 0', 'log_parameter_max_length = -1'])
      await rowsOf(connection, `alter database ${connection.database} set ${setting}`)
    const output = await checked({ DATABASE_URL: urlOf(connection) })
    assert.match(output, /^WRONG +log +logs the values of statements/m)
  })

  it('with a server that has too few connections for one node', async () => {
    const connection = await freshDatabase()
    const few = { DATABASE_URL: urlOf(connection), REGISTRY_DATABASE_CONNECTIONS: '500' }
    const output = await checked(few)
    assert.match(output, /^WRONG +connections +a node uses up to 1022 .* raise max_connections/m)
  })

  it('with a database that does not know the letter case of all letters', async () => {
    const connection = await emptyDatabase(`template template0 locale_provider libc locale 'C'`)
    const output = await checked({ DATABASE_URL: urlOf(connection) })
    assert.match(output, /^WRONG +letter case /m)
  })

  it('with a database that does not take all letters, which is not migrated either', async () => {
    const connection = await emptyDatabase(
      `template template0 encoding 'LATIN1' locale 'C' locale_provider icu icu_locale 'en'`,
    )
    const own = { DATABASE_URL: urlOf(connection) }
    assert.match(await checked(own), /^WRONG +database .*LATIN1/m)
    const migrated = await runCli(['migrate'], own)
    assert.equal(migrated.code, 1)
    assert.match(migrated.errors, /accepts only the characters of LATIN1\. .*encoding 'UTF8'/)
  })

  it('with a database that was never migrated', async () => {
    const output = await checked({ DATABASE_URL: urlOf(await emptyDatabase()) })
    assert.match(output, /^WRONG +migrations +missing: 0001-foundation\.sql/m)
  })

  it('with an audit trail that the service could change', async () => {
    const connection = await freshDatabase()
    await rowsOf(connection, 'grant update, delete on audit to registry_service')
    const output = await checked({ DATABASE_URL: urlOf(connection) })
    assert.match(output, /^WRONG +audit +registry_service may update, delete it$/m)
  })

  it('with a migration that was changed after it was applied', async () => {
    const connection = await freshDatabase()
    await rowsOf(connection, `update migration set checksum = 'another'`)
    const output = await checked({ DATABASE_URL: urlOf(connection) })
    assert.match(output, /^WRONG +migrations +The migration \S+ was changed after it was applied/m)
  })

  it('with a database that does not answer', async () => {
    const output = await checked({ DATABASE_URL: 'postgres://someone:hidden-word@127.0.0.1:1/x' })
    assert.match(output, /^WRONG +database +.*127\.0\.0\.1:1/m)
    assert.ok(!output.includes('hidden-word'))
  })

  it('with the configuration', async () => {
    const output = await checked({ PORT: 'abc', REGISTRY_JWT_SECRET: 'short' })
    assert.match(output, /^WRONG +configuration .*PORT must.*REGISTRY_JWT_SECRET must/m)
  })
})
