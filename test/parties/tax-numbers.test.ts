import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { mask, vaultOf } from '../../src/parties/sealed/vault.ts'
import { lockNumbers } from '../../src/platform/sql/lock-numbers.ts'
import { type Client, clientOf } from '../support/client.ts'
import { freshDatabase, rowsOf, urlOf, waitingForLocks } from '../support/database.ts'
import { entityOf } from '../support/investors.ts'
import { newProduct, only } from '../support/ledger.ts'
import {
  runCli,
  startProgram,
  startRegistry,
  startWorker,
  temporaryFolder,
  until,
} from '../support/process.ts'
import { fieldsOf, refused } from '../support/refused.ts'
import { type Service, startService, withService } from '../support/service.ts'

const key = (fill: number) => Buffer.alloc(32, fill)

/** secrets.test.ts checks that no tax number is stored anywhere in clear, and no other secret. */
let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const create = async (more: object) => only(await service.admin.post('/Person', more))
const put = (body: object) => service.admin.put('/Person', body)
const sealedOf = async (personID: number): Promise<Record<string, string | null>> => {
  const [row] = await rowsOf(
    service.connection,
    `select taxation_file_number, tin, taxation_country_tin from person where person_id = $1`,
    [personID],
  )
  return row
}

describe('A masked number', () => {
  it('shows its last three characters, and none of three or fewer', () => {
    const shown = ['123456782', '1234', '123', '1', '😀😀😀😀'].map(mask)
    assert.deepEqual(shown, ['******782', '*234', '***', '*', '*😀😀😀'])
  })

  it('that is sent back leaves the stored one untouched; the number itself does, too', async () => {
    const person = await create({ taxationFileNumber: '123456782', tin: 'AB' })
    const before = await sealedOf(person.personID)
    const changed = only(await put({ ...person, lastName: 'New' }))
    assert.deepEqual([changed.taxationFileNumber, changed.tin], ['******782', '**'])
    assert.deepEqual(await sealedOf(person.personID), before)
    only(await put({ ...person, taxationFileNumber: '123 456 782', tin: 'AB' }))
    assert.deepEqual(await sealedOf(person.personID), before)
  })

  it('that is another than the stored one is refused, on every way in', async () => {
    const person = await create({ taxationFileNumber: '123456782' })
    const { productID } = await newProduct(service)
    const wrong = { taxationFileNumber: '******783' }
    refused(await put({ ...person, ...wrong }), 400, 'masked_value')
    refused(await put({ ...person, tin: '*' }), 400, 'masked_value')
    refused(await service.admin.post('/Person', wrong), 400, 'masked_value')
    refused(await service.admin.post('/Organisation', wrong), 400, 'masked_value')
    const nested = await service.admin.post(
      '/BizEntity',
      entityOf(productID, { bizEntityParties: [{ person: wrong }] }),
    )
    refused(nested, 400, 'masked_value')
    assert.deepEqual(fieldsOf(nested), ['bizEntityParties[0].person.taxationFileNumber'])
  })

  it('that is left out clears the number, and a new number replaces it', async () => {
    const person = await create({ taxationFileNumber: '123456782', tin: 'ABCDEF' })
    const replaced = only(await put({ ...person, taxationFileNumber: '37118629', tin: null }))
    assert.deepEqual([replaced.taxationFileNumber, replaced.tin], ['*****629', null])
    const { taxation_file_number, tin } = await sealedOf(person.personID)
    assert.ok(taxation_file_number)
    assert.equal(tin, null)
  })

  it('hides a change that the audit trail tells, without the number', async () => {
    const person = await create({ taxationFileNumber: '123456782' })
    only(await put({ ...person, taxationFileNumber: '999999782' }))
    const { data } = await service.admin.get(
      `/Audit?Resource=Person&ResourceID=${person.personID}&PageSize=1000`,
    )
    assert.deepEqual(data.at(-1).changes, { taxationFileNumber: { from: '***', to: '***' } })
  })
})

describe('A sealed number', () => {
  it('differs each time, and opens only with its key and in its own place', async () => {
    const [one, two] = [
      await create({ taxationFileNumber: '123456782' }),
      await create({ taxationFileNumber: '123456782' }),
    ]
    const sealed = [await sealedOf(one.personID), await sealedOf(two.personID)].map(
      (row) => row.taxation_file_number!,
    )
    assert.notEqual(sealed[0], sealed[1])
    const vault = vaultOf({ current: key(7), previous: [] })
    const place = (id: number) => `person:${id}:taxation_file_number`
    assert.equal(vault.open(place(one.personID), sealed[0]!), '123456782')
    assert.throws(() => vault.open(place(two.personID), sealed[0]!))
    assert.throws(() => vault.open(place(one.personID), `${sealed[0]!.slice(0, -4)}AAA=`))
    assert.equal(
      vaultOf({ current: key(8), previous: [] }).open(place(one.personID), sealed[0]!),
      undefined,
    )
  })
})

describe('The encryption key', () => {
  const env = (current: number, ...previous: number[]) => ({
    REGISTRY_ENCRYPTION_KEY: key(current).toString('base64'),
    ...(previous.length > 0 && {
      REGISTRY_PREVIOUS_ENCRYPTION_KEYS: previous
        .map((one) => key(one).toString('base64'))
        .join(','),
    }),
  })

  it('changes while the service runs; a start without the right one is refused', async () => {
    const connection = await freshDatabase()
    const database = { DATABASE_URL: urlOf(connection), REGISTRY_DATA_DIR: temporaryFolder() }
    const sealedWith = async () => {
      const rows = await rowsOf(
        connection,
        `select split_part(n, '.', 1) as key, count(*)::int as count
         from (select unnest(array[taxation_file_number, tin]) n from person
           union all select tin from organisation) v
         where n is not null group by 1`,
      )
      return new Map(rows.map(({ key, count }) => [key, count]))
    }
    const ids = [1, 2].map((fill) => vaultOf({ current: key(fill), previous: [] }).keyID)
    await withService(
      env(1),
      async ({ admin }) => {
        const persons = Array.from({ length: 600 }, () => ({
          taxationFileNumber: '123456782',
          tin: 'X1',
        }))
        assert.equal((await admin.post('/Person', persons)).status, 200)
        only(await admin.post('/Organisation', { tin: 'ABC123' }))
        assert.deepEqual(await sealedWith(), new Map([[ids[0], 1201]]))

        for (const begin of [startProgram, startWorker]) {
          const wrong = begin({ ...database, ...env(2) })
          assert.equal(await wrong.exited, 1)
          assert.match(wrong.errors(), /sealed with the encryption key .*REGISTRY_ENCRYPTION_KEY/s)
        }

        // The service goes on sealing with the old key meanwhile.
        const [rotated] = await Promise.all([
          runCli(['rotate-encryption-key'], { ...database, ...env(2, 1) }),
          admin.post('/Person', { taxationFileNumber: '123456782' }),
        ])
        assert.equal(rotated.code, 0, rotated.errors)
        assert.match(rotated.output, /^Nodes and workers that run with another present key: 1\./m)
        const again = await runCli(['rotate-encryption-key'], { ...database, ...env(2, 1) })
        assert.match(again.output, /^Sealed [01] tax numbers/)
        assert.deepEqual(await sealedWith(), new Map([[ids[1], 1202]]))
        const missing = await runCli(['rotate-encryption-key'], { ...database, ...env(3) })
        assert.equal(missing.code, 1)
        assert.match(missing.errors, /1202 tax numbers could not be decrypted .*REGISTRY_PREVIOUS/)
      },
      connection,
    )
    await rowsOf(connection, `delete from encryption_key where key_id not in ($1, $2)`, ids)
    await withService(
      env(2),
      async ({ admin }) => {
        const [person] = (await admin.get('/Person?PersonID=1')).data
        assert.equal(person.taxationFileNumber, '******782')
        // Whatever key they were sealed with at first, all are found.
        assert.equal((await admin.get('/Search?Text=123456782')).data.length, 50)
        const [digests] = await rowsOf(
          connection,
          `select count(*) from person where taxation_file_number_digest like $1`,
          [`${ids[1]}.%`],
        )
        assert.equal(Number(digests!.count), 601)
        const same = await admin.put('/Person', { ...person, taxationFileNumber: '123456782' })
        assert.equal(same.status, 200)
        assert.deepEqual(await sealedWith(), new Map([[ids[1], 1202]]))
      },
      connection,
    )
    const old = startProgram({ ...database, ...env(1) })
    assert.equal(await old.exited, 1)
  })

  it('of a node beside one with another is warned of, and none in use forgotten', async () => {
    const connection = await freshDatabase()
    const node = (fill: number) => ({
      ...env(fill),
      DATABASE_URL: urlOf(connection),
      REGISTRY_DATA_DIR: temporaryFolder(),
      REGISTRY_LOG_LEVEL: 'warn',
    })
    const known = async () => (await rowsOf(connection, 'select key_id from encryption_key')).length
    const other = /Another node runs .* with the encryption key .*Give every node the same/s
    // Each has made itself a secret for tokens, too.
    const otherSecret = /Another node runs .* another secret.*the same REGISTRY_JWT_SECRET/
    const both = await Promise.all([1, 2].map((fill) => startRegistry(node(fill))))
    assert.ok(both.some((one) => other.test(one.output() + one.errors())))
    assert.ok(both.some((one) => otherSecret.test(one.output() + one.errors())))
    assert.equal(await known(), 2)
    // That they lost their connections, and took others, changes nothing.
    await rowsOf(
      connection,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'registry-bell'`,
    )
    await until('both to hold their keys again', async () => {
      const [row] = await rowsOf(
        connection,
        `select count(distinct pid)::int as count from pg_locks join pg_stat_activity using (pid)
         where datname = current_database() and locktype = 'advisory'
           and application_name = 'registry-bell'`,
      )
      return row!.count >= 2
    })
    const worker = startWorker(node(3))
    await until('the worker to say so', () => other.test(worker.output() + worker.errors()))
    assert.equal(await known(), 3)
    for (const one of [...both, worker]) {
      one.kill('SIGTERM')
      assert.equal(await one.exited, 0)
    }
    // Nothing is sealed yet, and nobody is there any more: the key may still be changed.
    const changed = await startRegistry(node(4))
    assert.doesNotMatch(changed.output() + changed.errors(), other)
    assert.doesNotMatch(changed.output() + changed.errors(), otherSecret)
    assert.equal(await known(), 1)
    changed.kill('SIGTERM')
    assert.equal(await changed.exited, 0)
  })

  it('in the key file is replaced by the command, which keeps the old one', async () => {
    const dataDir = temporaryFolder()
    const own = {
      REGISTRY_DATA_DIR: dataDir,
      REGISTRY_ADMIN_USERNAME: 'admin',
      REGISTRY_ADMIN_PASSWORD: 'a password for tests',
    }
    const first = await startRegistry(own)
    const admin = await clientOf(first.url).signIn('admin', own.REGISTRY_ADMIN_PASSWORD)
    const person = only(await admin.post('/Person', { taxationFileNumber: '123456782' }))
    const file = join(dataDir, 'keys', 'encryption-key')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const before = readFileSync(file, 'utf8')
    const rotated = await runCli(['rotate-encryption-key', '--generate'], own)
    assert.match(rotated.output, /^Made the key .*Restart every node/s, rotated.errors)
    assert.notEqual(readFileSync(file, 'utf8'), before)
    assert.equal(statSync(join(dataDir, 'keys', 'previous-encryption-keys')).mode & 0o777, 0o600)
    // The node that still has the old key works on, and finds what it found.
    const found = async (by: Client) =>
      (await by.get('/Search?Text=123456782')).data.map((one: { id: number }) => one.id)
    assert.deepEqual(await found(admin), [person.personID])
    only(await admin.put('/Person', { ...person, lastName: 'L' }))
    only(await admin.put('/Person', { ...person, taxationFileNumber: '123456782' }))
    first.kill('SIGTERM')
    await first.exited
    const second = await startRegistry(own)
    const next = await clientOf(second.url).signIn('admin', own.REGISTRY_ADMIN_PASSWORD)
    only(await next.put('/Person', { ...person, lastName: 'M' }))
    const sealed = /^Sealed 1 tax numbers with the key \w+\.\n$/
    const again = await runCli(['rotate-encryption-key'], own)
    assert.match(again.output, sealed, again.errors)
    assert.deepEqual(await found(next), [person.personID])
    second.kill('SIGTERM')
    await second.exited
    // Where nobody runs it is all done at once.
    const alone = await runCli(['rotate-encryption-key', '--generate'], own)
    assert.match(alone.output, sealed, alone.errors)
  })

  it('in the key file is replaced by one command at a time', async () => {
    const connection = await freshDatabase()
    const dataDir = temporaryFolder()
    const env = { REGISTRY_DATA_DIR: dataDir, DATABASE_URL: urlOf(connection) }
    const keys = () => readdirSync(dataDir)
    const another = new pg.Client(connection)
    await another.connect()
    try {
      await another.query('select pg_advisory_lock($1)', [lockNumbers.newKey])
      const rotation = runCli(['rotate-encryption-key', '--generate'], env)
      await until('it to wait', async () => (await waitingForLocks(connection)) > 0)
      assert.deepEqual(keys(), [], 'no key is made yet')
      await another.query('select pg_advisory_unlock($1)', [lockNumbers.newKey])
      assert.equal((await rotation).code, 0)
      assert.ok(keys().includes('keys'))
    } finally {
      await another.end()
    }
  })
})
