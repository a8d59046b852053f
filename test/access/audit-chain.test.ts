import assert from 'node:assert/strict'
import { verify as verifySignature } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import sql from 'sql-template-tag'
import { beginning, digestOf, linkHash } from '../../src/access/audit/chain.ts'
import { signerOf } from '../../src/access/audit/signer.ts'
import { verifyChain } from '../../src/access/audit/verify.ts'
import { readConfig } from '../../src/config.ts'
import { sealTrail } from '../../src/operations/maintenance.ts'
import { createLog } from '../../src/platform/log.ts'
import { connect } from '../../src/platform/registry.ts'
import type { Database } from '../../src/platform/sql/handle.ts'
import { lockNumbers } from '../../src/platform/sql/lock-numbers.ts'
import { migrate } from '../../src/platform/sql/migrate.ts'
import { emptyDatabase, isSpread, rowsOf, urlOf } from '../support/database.ts'
import { startNode } from '../support/node.ts'
import { runCli, temporaryFolder, until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { type Service, startService } from '../support/service.ts'

const config = readConfig({ REGISTRY_DATA_DIR: temporaryFolder() })
const signer = signerOf(config)

let service: Service
let database: Database
before(async () => {
  service = await startService()
  database = connect(config, service.connection, createLog('silent'))
})
after(async () => {
  await database.close()
  await service.stop()
})

const write = (name: string) => service.admin.post('/Product', { name })
/**
 * Seals all audit records. A record cannot be sealed while an earlier transaction is open anywhere
 * on the server, other tests' databases included, so one call may leave out the last records.
 */
const sealAll = (registry: Database) =>
  until('the whole trail to be sealed', async () => {
    await sealTrail(registry, { signer })
    const { records, sealed } = await registry.snapshot((one) => verifyChain(one))
    return sealed === records ? true : undefined
  })
const seal = () => sealAll(database)
const sealOnce = () => sealTrail(database, { signer })
const head = async () => (await service.admin.get('/Audit/Seal')).data
const verified = async (query = '') => (await service.admin.get(`/Audit/Verify${query}`)).data

/** What verify finds after a change that only the owner of the tables can make; it is undone. */
async function foundAfter(statements: string, query = '') {
  await write('Before')
  await write('Between')
  await write('After')
  await seal()
  assert.deepEqual((await verified()).faults, [])
  const copies = ['audit', 'audit_seal']
  const keep = copies.map((table) => `create table kept_${table} as select * from ${table};`)
  await rowsOf(service.connection, keep.join(''))
  try {
    await rowsOf(service.connection, statements)
    return await verified(query)
  } finally {
    const bringBack = copies.map(
      (table) =>
        `truncate ${table}; insert into ${table} ${
          table === 'audit' ? 'overriding system value' : ''
        } select * from kept_${table}; drop table kept_${table};`,
    )
    await rowsOf(service.connection, bringBack.join(''))
  }
}

/** Selects the ids of the sealed records, the last one first. */
const sealedIDs = `select n.audit_id from audit_seal s,
  unnest(s.audit_ids) with ordinality n (audit_id, place) order by s.position desc, n.place desc`
const middle = `(${sealedIDs} offset 1 limit 1)`

describe('The audit chain', () => {
  it('seals what was written, and gives a signed head that anybody can check', async () => {
    await write('Sealed')
    await seal()
    const { isWhole, records, sealed } = await verified()
    assert.deepEqual([isWhole, sealed], [true, records])
    const { position, hash, sealedDate, publicKey, signature, signedText } = await head()
    assert.equal(position, records)
    assert.equal(
      signedText,
      `registry audit seal\nposition ${position}\nsha256 ${hash}\nsealed ${sealedDate}\n`,
    )
    const given = Buffer.from(signature, 'base64')
    assert.ok(verifySignature(null, Buffer.from(signedText), publicKey, given))
  })

  it('is in an order that nothing can come into later', async () => {
    const late = new pg.Client(service.connection)
    await late.connect()
    try {
      await late.query('begin')
      const { rows } = await late.query(`insert into audit (operation, resource, request_id)
        values ('late', 'Product', 'late') returning audit_id as id`)
      await write('Meanwhile')
      await sealOnce()
      const [{ count }] = await rowsOf(
        service.connection,
        `select count(*)::int from audit where audit_id not in (${sealedIDs})`,
      )
      assert.ok(count > 0, 'waits for the transaction that still runs')
      await late.query('commit')
      await seal()
      const { records, sealed, isWhole } = await verified()
      assert.deepEqual([sealed, isWhole], [records, true])
      const [{ position }] = await rowsOf(
        service.connection,
        `select (s.position - cardinality(s.audit_ids) + array_position(s.audit_ids, $1))::int
           as position
         from audit_seal s where $1 = any(s.audit_ids)`,
        [rows[0].id],
      )
      assert.ok(position < records, 'by its transaction, which began before')
    } finally {
      await late.end()
    }
  })

  it('seals each record once when many seal at once', async () => {
    for (let i = 0; i < 5; i++) await write(`Many ${i}`)
    await Promise.all(Array.from({ length: 4 }, sealOnce))
    await seal()
    const { records, sealed, isWhole } = await verified()
    assert.deepEqual([sealed, isWhole], [records, true])
  })

  it('goes on while a backup copies the contents that it saw', async () => {
    const backup = new pg.Client(service.connection)
    await backup.connect()
    try {
      await backup.query(sql`select pg_advisory_lock_shared(${lockNumbers.contents})`)
      await write('During a backup')
      await seal()
      const { records, sealed } = await verified()
      assert.equal(sealed, records)
    } finally {
      await backup.end()
    }
  })

  const kinds: [string, string, string][] = [
    ['a changed record', 'changed', `update audit set username = 'x' where audit_id = ${middle}`],
    [
      'a record changed by the least there is',
      'changed',
      `update audit set changes = (changes::text || ' ')::json where audit_id = ${middle}`,
    ],
    ['a removed record', 'removed', `delete from audit where audit_id = ${middle}`],
  ]
  for (const [what, kind, statements] of kinds)
    it(`shows ${what}, and which`, async () => {
      const { isWhole, faults } = await foundAfter(statements)
      assert.equal(isWhole, false)
      assert.equal(faults[0].kind, kind)
      assert.ok(faults[0].auditID > 0)
    })

  it('shows records that changed places', async () => {
    const { faults } = await foundAfter(`
      update audit a set request_id = other.request_id, changes = other.changes
      from audit other
      where a.audit_id <> other.audit_id and array[a.audit_id, other.audit_id] <@ array(
        ${sealedIDs} limit 2)`)
    assert.equal(faults[0].kind, 'changed')
  })

  it('shows a record that was put in later, among the old ones', async () => {
    const { faults } = await foundAfter(`
      insert into audit (operation, resource, request_id, xid)
      select 'forged', 'Product', 'forged', min(xid) from audit`)
    assert.equal(faults[0].kind, 'inserted')
    assert.ok(faults[0].auditID > 0)
  })

  it('shows a chain that was recomputed without the key', async () => {
    const { faults } = await foundAfter(`
      update audit_seal set hash = sha256(hash) where position = (
        select max(position) from audit_seal)`)
    assert.deepEqual(
      faults.map(({ kind }: { kind: string }) => kind),
      ['changed', 'seal'],
    )
    const forged = await foundAfter(`update audit_seal set sealed_date = now() + interval '1 day'`)
    assert.equal(forged.faults[0].kind, 'seal')
  })

  it('shows a seal whose records were taken out of it', async () => {
    const emptied = `update audit_seal set audit_ids = '{}', marks = '' where position = (
      select max(position) from audit_seal)`
    assert.equal((await foundAfter(emptied)).faults[0].kind, 'chain')
    const shortened = await foundAfter(`update audit_seal set
      audit_ids = audit_ids[2:], marks = substring(marks from 9) where position = (
        select max(position) from audit_seal where cardinality(audit_ids) > 2)`)
    assert.equal(shortened.faults[0].kind, 'changed')
  })

  it('shows an end that was cut off, against a head that was kept', async () => {
    await write('Last')
    await seal()
    const { position, hash } = await head()
    const cut = `
      delete from audit where audit_id in (
        select unnest(audit_ids) from audit_seal where position >= ${position});
      delete from audit_seal where position >= ${position}`
    const kept = `?Position=${position}&Hash=${hash}`
    assert.deepEqual((await foundAfter(cut)).faults, [], 'a shorter chain is whole in itself')
    const { faults } = await foundAfter(cut, kept)
    assert.equal(faults[0].kind, 'cut off')
    assert.deepEqual((await verified(kept)).faults, [])
    const env = { DATABASE_URL: urlOf(service.connection) }
    const { code, output } = await runCli(['verify', '--audit-head', `${position}:${hash}`], env)
    assert.equal(code, 0, output)
    assert.match(output, /^ok +the audit trail is the chain that was sealed/m)
    const other = `${position}:${'0'.repeat(64)}`
    assert.equal((await runCli(['verify', '--audit-head', other], env)).code, 1)
  })

  it('is verified by who sees all products', async () => {
    const [product] = (await write('Mine')).data
    const scoped = await service.userWith({ role: 'Operator', productIDs: [product.productID] })
    refused(await scoped.get('/Audit/Verify'), 403, 'all_products_needed')
  })
})

/**
 * An audit trail in the form from before a seal listed its records: five records with a link each,
 * and two seals.
 */
async function linkedTrail(): Promise<pg.ClientConfig> {
  const connection = await emptyDatabase()
  await migrate(connection, undefined, '0045-approvals-by-who-asked.sql')
  const records = await rowsOf(
    connection,
    `with a as (
       insert into audit (operation, resource, request_id)
       select 'old', 'Product', 'old ' || n from generate_series(1, 5) n returning *)
     select audit_id, xid, ${digestOf(sql`a`).text} as digest
     from (select *, null::text[] as request_ids, null::bigint[] as record_ids from a) a
     order by audit_id`,
  )
  let hash: Buffer = beginning
  for (const [i, { audit_id, xid, digest }] of records.entries()) {
    const position = i + 1
    hash = linkHash(hash, digest)
    const link = [position, audit_id, xid, hash]
    await rowsOf(connection, 'insert into audit_link values ($1, $2, $3, $4)', link)
    if (position !== 2 && position !== 5) continue
    const head = { position, hash, sealedDate: '2026-01-01T00:00:00Z' }
    const seal = [position, hash, head.sealedDate, signer.publicKey, signer.sign(head)]
    await rowsOf(connection, 'insert into audit_seal values ($1, $2, $3, $4, $5)', seal)
  }
  return connection
}

describe('A trail of before seals held their records', { skip: isSpread }, () => {
  it('is whole after the upgrade, goes on, and names a record that was changed', async () => {
    const connection = await linkedTrail()
    await migrate(connection)
    const registry = connect(config, connection, createLog('silent'))
    try {
      const found = () => registry.snapshot((one) => verifyChain(one))
      assert.deepEqual(await found(), { records: 5, sealed: 5, seals: 2, faults: [] })
      await rowsOf(
        connection,
        `insert into audit (operation, resource, request_id) values ('new', 'Product', 'new')`,
      )
      await sealAll(registry)
      assert.deepEqual(await found(), { records: 6, sealed: 6, seals: 3, faults: [] })
      await rowsOf(connection, `update audit set username = 'x' where request_id = 'old 4'`)
      const { faults } = await found()
      assert.deepEqual([faults[0]!.kind, faults[0]!.position], ['changed', 4])
    } finally {
      await registry.close()
    }
  })
})

describe('A service that runs', () => {
  it('seals within seconds; backup and restore keep the chain and go on', async () => {
    const [from, to] = [temporaryFolder(), temporaryFolder()]
    const first = await startNode(undefined, { REGISTRY_DATA_DIR: from })
    const folder = `${temporaryFolder()}/backup`
    let kept: { position: number; hash: string }
    try {
      await first.admin.post('/Product', { name: 'Kept' })
      kept = await until('the trail to be sealed', async () => {
        const { data } = await first.admin.get('/Audit/Verify')
        return data.sealed === data.records && data.sealed > 0
          ? (await first.admin.get('/Audit/Seal')).data
          : undefined
      })
      const made = await runCli(['backup', folder], { REGISTRY_DATA_DIR: from })
      assert.equal(made.code, 0, made.errors)
    } finally {
      await first.stop()
    }
    const restored = await runCli(['restore', folder, '--without-key'], { REGISTRY_DATA_DIR: to })
    assert.equal(restored.code, 0, restored.output + restored.errors)
    const second = await startNode(undefined, { REGISTRY_DATA_DIR: to })
    try {
      await second.admin.post('/Product', { name: 'Afterwards' })
      await until('the trail to be sealed again', async () => {
        const { data } = await second.admin.get('/Audit/Verify')
        return data.sealed === data.records ? true : undefined
      })
      const query = `?Position=${kept.position}&Hash=${kept.hash}`
      assert.deepEqual((await second.admin.get(`/Audit/Verify${query}`)).data.faults, [])
    } finally {
      await second.stop()
    }
  })
})
