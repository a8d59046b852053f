import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type pg from 'pg'
import sql, { raw } from 'sql-template-tag'
import { startEmbedded } from '../../src/platform/embedded/postgres.ts'
import { Refusal } from '../../src/platform/refusal.ts'
import { type Database, openDatabase, type Tx } from '../../src/platform/sql/handle.ts'
import { migrate } from '../../src/platform/sql/migrate.ts'
import { statementNames } from '../../src/platform/sql/statements.ts'
import type { Reply } from '../support/client.ts'
import { freshDatabase, rowsOf } from '../support/database.ts'
import { newFund } from '../support/ledger.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { refused } from '../support/refused.ts'
import { withService } from '../support/service.ts'
import { withoutStandby } from '../support/standby.ts'

const open = (connection: pg.ClientConfig, connections = 2) =>
  openDatabase({ connection, connections, prepareStatements: true, onLostConnection: () => {} })

let connection: pg.ClientConfig
let database: Database
before(async () => {
  connection = await freshDatabase()
  await rowsOf(connection, 'create table scratch (id int primary key, value text)')
  await rowsOf(connection, `insert into scratch select i, 'x' from generate_series(1, 1000) i`)
  database = open(connection)
})
after(() => database.close())

const valueAt = async (id: number) =>
  (await rowsOf(connection, 'select value from scratch where id = $1', [id]))[0]?.value
const set = (tx: Tx, id: number, value: string) =>
  tx.query(sql`update scratch set value = ${value} where id = ${id}`)

/** Ends every other connection to a database. */
const endConnections = (to: pg.ClientConfig) =>
  rowsOf(
    to,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  )
const unavailable = (error: unknown) =>
  error instanceof Refusal && error.status === 503 && Boolean(error.headers['Retry-After'])

const unknown = (error: unknown) =>
  unavailable(error) && (error as Refusal).problems[0]!.code === 'outcome_unknown'

describe('A transaction', () => {
  it('keeps all or nothing', async () => {
    const failed = database.transaction(async (tx) => {
      await set(tx, 1, 'half')
      throw new Error('on purpose')
    })
    await assert.rejects(failed, /on purpose/)
    assert.equal(await valueAt(1), 'x')
  })

  it('runs again from the start after a deadlock, and both get through', async () => {
    let runs = 0
    const both: (() => void)[] = []
    const met = new Promise<void>((resolve) => both.push(resolve))
    const crossing = (first: number, second: number) =>
      database.transaction(async (tx) => {
        runs++
        await set(tx, first, `${first} before ${second}`)
        if (runs === 2) both[0]!()
        await met
        await set(tx, second, `${first} before ${second}`)
      })
    await Promise.all([crossing(2, 3), crossing(3, 2)])
    // More often than once again where the second attempt meets the other one's first.
    assert.ok(runs > 2)
    assert.equal(await valueAt(2), await valueAt(3))
  })

  it('gives up after five tries', async () => {
    let runs = 0
    const hopeless = database.transaction(async (tx) => {
      runs++
      await tx.query(sql`do $$ begin raise exception 'no' using errcode = '40001'; end $$`)
    })
    await assert.rejects(hopeless, { code: '40001' })
    assert.equal(runs, 5)
  })

  it('whose connection is lost answers 503, writes nothing, and harms no other', async () => {
    const lost = database.transaction(async (tx) => {
      await set(tx, 4, 'lost')
      await endConnections(connection)
      await set(tx, 4, 'lost again')
    })
    await assert.rejects(lost, unavailable)
    assert.equal(await valueAt(4), 'x')
    await database.transaction((tx) => set(tx, 4, 'found'))
    assert.equal(await valueAt(4), 'found')
  })

  it('lost at its commit may have happened, and says so', async () => {
    await rowsOf(connection, 'create table slow (id int)')
    await rowsOf(
      connection,
      `create function wait() returns trigger language plpgsql as
         $$ begin perform pg_sleep(20); return null; end $$`,
    )
    await rowsOf(
      connection,
      `create constraint trigger slow after insert on slow deferrable initially deferred
       for each row execute function wait()`,
    )
    const lost = database.transaction((tx) => tx.query(sql`insert into slow values (1)`))
    const ended = until('the commit', async () => {
      const sleeping = await rowsOf(
        connection,
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event = 'PgSleep'`,
      )
      return sleeping.length > 0
    })
    await Promise.all([assert.rejects(lost, unknown), ended])
  })

  it('that stayed idle for too long is lost too', async () => {
    const idle = database.transaction(async (tx) => {
      await tx.query(sql`set local idle_in_transaction_session_timeout = '50ms'`)
      await set(tx, 5, 'late')
      await new Promise((resolve) => setTimeout(resolve, 300))
      await set(tx, 5, 'later')
    })
    await assert.rejects(idle, unavailable)
    assert.equal(await valueAt(5), 'x')
  })

  it('on a server that leads no more answers 503, and the next goes elsewhere', async () => {
    const demoted = database.transaction(async (tx) => {
      await tx.query(sql`set transaction read only`)
      await set(tx, 9, 'late')
    })
    await assert.rejects(demoted, unavailable)
    assert.equal(database.counts().idle, database.counts().total)
    await database.transaction((tx) => set(tx, 9, 'there'))
    assert.equal(await valueAt(9), 'there')
  })

  it('in which a failure was overlooked is no success', async () => {
    const overlooked = database.transaction(async (tx) => {
      await set(tx, 6, 'gone')
      await tx.query(sql`select 1 / 0`).catch(() => {})
    })
    await assert.rejects(overlooked, /had failed before its commit/)
    assert.equal(await valueAt(6), 'x')
  })

  it('knows the rule that a worker of Citus says was broken by rows copied to it', async () => {
    for (const [words, code, constraint] of [
      ['duplicate key value violates unique constraint "one_102036"', '23505', 'one'],
      ['insert … on table "a_102036" violates foreign key constraint "b_102036"', '23503', 'b'],
      ['new row for relation "a_102036" violates check constraint "c"', '23514', 'c'],
      ['cannot find constraint "d_102036"', 'XX000', undefined],
    ] as const) {
      const { code: known, constraint: named } = await saidBy('XX000', words)
      assert.deepEqual([known, named], [code, constraint], words)
    }
  })

  it('answers 503 where Citus says in its words that a worker is lost', async () => {
    for (const [code, words] of [
      ['XX000', 'failure on connection marked as essential: 127.0.0.1:5432'],
      ['XX000', 'server closed the connection unexpectedly'],
      ['XX000', 'SSL connection has been closed unexpectedly'],
      ['XX000', 'terminating connection due to administrator command'],
      ['58030', 'failed to COPY to shard 102036 on 127.0.0.1:5432'],
      ['58030', 'failed to complete COPY on 127.0.0.1:5432'],
    ] as const)
      assert.ok(unavailable(await saidBy(code, words)), words)
    for (const [code, words] of [
      ['XX000', 'unrecognized node type'],
      ['58030', 'could not read block'],
    ] as const)
      assert.equal((await saidBy(code, words)).code, code)
  })
})

/** The error that a caller gets for an error of an SQL statement. */
const saidBy = (code: string, message: string) => {
  const said = `raise exception using errcode = '${code}', message = '${message}'`
  const broken = database.transaction((tx) => tx.query(sql`${raw(`do $$ begin ${said}; end $$`)}`))
  return broken.then(
    () => assert.fail(message),
    (error) => error,
  )
}

describe('A read', () => {
  it('cannot write, whatever it is', async () => {
    const writing = database.query(sql`update scratch set value = 'no' where id = 7 returning id`)
    await assert.rejects(writing, /read-only transaction/)
  })

  it('survives a change of the schema under its prepared statement', async () => {
    const read = () => database.query<object>(sql`select * from scratch where id = ${8}`)
    for (let i = 0; i < 10; i++) await read()
    await rowsOf(connection, 'alter table scratch add column more int')
    for (let i = 0; i < 4; i++) assert.deepEqual(await read(), [{ id: 8, value: 'x', more: null }])
  })

  it('gets decimals, dates and moments as they are, and ids as numbers', async () => {
    const [row] = await database.query<object>(sql`
      select 123456789012345678.123456789012345678::numeric as n, date '2024-02-29' as d,
        timestamptz '2024-02-29T12:00:00Z' as t, 9007199254740991::bigint as id,
        json_build_object('n', 0.1000000000000000055::numeric) as j`)
    assert.deepEqual(row, {
      n: '123456789012345678.123456789012345678',
      d: '2024-02-29',
      t: '2024-02-29 12:00:00+00',
      id: 9007199254740991,
      j: '{"n" : 0.1000000000000000055}',
    })
  })
})

describe('A stream', () => {
  const statement = sql`select id from scratch order by id`

  it('gives every row, in batches', async () => {
    const sizes: number[] = []
    for await (const rows of database.stream<{ id: number }>(statement, 300))
      sizes.push(rows.length)
    assert.deepEqual(sizes, [300, 300, 300, 100])
  })

  it('gives its connection back when its reader leaves, or when it is lost', async () => {
    const narrow = open(connection, 1)
    for await (const rows of narrow.stream(statement, 10)) if (rows.length > 0) break
    const cutOff = async () => {
      for await (const _ of narrow.stream(statement, 10)) await endConnections(connection)
    }
    await assert.rejects(cutOff, unavailable)
    assert.equal((await narrow.query(statement)).length, 1000)
    await narrow.close()
  })
})

describe('A prepared statement', () => {
  it('is one that was met before, and rare ones do not keep the others out', () => {
    const nameOf = statementNames('s')
    const named = (text: string) => [1, 2, 3, 4, 5].map(() => nameOf(text))
    for (let i = 0; i < 2000; i++) nameOf(`select ${i} as rare`)
    const [first, , , fourth, fifth] = named('select 1 as frequent')
    assert.equal(first, undefined)
    assert.ok(fourth && fourth === fifth)
    assert.notEqual(named('select 2 as frequent').at(-1), fourth)
  })

  it('keeps its name through a flood of others that are met a few times each', () => {
    const nameOf = statementNames('s')
    const often = 'select 1 as frequent'
    for (let i = 0; i < 30; i++) nameOf(often)
    const name = nameOf(often)
    assert.ok(name)
    for (let i = 0; i < 1200; i++) for (let time = 0; time < 5; time++) nameOf(`select ${i}`)
    assert.equal(nameOf(often), name)
    // And the newest of the flood has one of its own: places are given up, not used up.
    assert.ok(nameOf('select 1199'))
  })
})

describe('The service without its database', () => {
  it('answers 503 with Retry-After, and recovers by itself', () =>
    withService({}, async ({ admin, anyone, connection: own }) => {
      assert.equal((await admin.get('/Product')).status, 200)
      const elsewhere = { ...own, database: 'postgres' }
      const allow = (yes: boolean) =>
        rowsOf(elsewhere, `alter database ${own.database} allow_connections ${yes}`)
      await allow(false)
      await rowsOf(
        elsewhere,
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
        [own.database],
      )
      // What a node knows of a session it knows for half a second; after that it must ask.
      await new Promise((resolve) => setTimeout(resolve, 600))
      const calls = [
        await admin.get('/Product'),
        await admin.post('/Product', { name: 'No' }),
        await anyone.post('/User/Login', { username: 'admin', password: 'whatever it is' }),
        await anyone.get('/Common/HealthCheck'),
        await anyone.get('/Common/Lookup'),
      ]
      await allow(true)
      for (const reply of calls) {
        refused(reply, 503, 'database_unavailable')
        assert.ok(Number(reply.headers.get('retry-after')) >= 1)
      }
      assert.equal((await admin.post('/Product', { name: 'Yes' })).status, 200)
      const { data } = await admin.get('/Product')
      assert.deepEqual(
        data.map(({ name }: { name: string }) => name),
        ['Yes'],
      )
    }))
})

describe('The service on a database that is read only', () => {
  it('answers reads, says so to writers and in its health, and writes again by itself', () =>
    withService({}, async ({ admin, anyone, connection: own }) => {
      const health = async () => {
        const { status, data } = await anyone.get('/Common/HealthCheck')
        return [status, data.status, data.database]
      }
      const become = async (change: string) => {
        await rowsOf(own, `alter database ${own.database} ${change}`)
        await endConnections(own)
      }
      assert.equal((await admin.post('/Product', { name: 'Before' })).status, 200)
      assert.deepEqual(await health(), [200, 'ok', 'ok'])
      await become('set default_transaction_read_only = on')
      const refusal = await until('the new connections', async () => {
        const reply = await admin.post('/Product', { name: 'Meanwhile' })
        return /read only/.test(reply.message ?? '') ? reply : undefined
      })
      refused(refusal, 503, 'database_unavailable')
      assert.deepEqual(await health(), [200, 'degraded', 'read-only'])
      assert.equal((await admin.get('/Product')).recordCount, 1)
      // Connections from before stay as they began, and are left one by one.
      await rowsOf(own, `begin read write; alter database ${own.database} reset all; commit`)
      await until('its health', async () => (await health())[1] === 'ok')
      assert.equal((await admin.post('/Product', { name: 'After' })).status, 200)
    }))
})

describe('A commit that the standby does not have', { concurrency: false }, () => {
  let server: Awaited<ReturnType<typeof startEmbedded>>
  const rows = (text: string) => rowsOf(server.connection, text)
  before(async () => {
    server = await startEmbedded({ dataDir: temporaryFolder(), onEvent: () => {} })
    await migrate(server.connection)
    await rows('create table scratch (id int)')
  })
  after(() => server.stop())

  const waitersAre = (what: 'cancelled' | 'terminated') =>
    rows(
      `select pg_${what === 'cancelled' ? 'cancel' : 'terminate'}_backend(pid)
       from pg_stat_activity where wait_event = 'SyncRep'`,
    )
  const writeTo = (own: Database) =>
    own.transaction((tx) => tx.query(sql`insert into scratch values (1)`))

  it('is not told as a success', async () => {
    const own = open(server.connection)
    await withoutStandby(server.connection, async () => {
      const write = writeTo(own)
      const end = until('the wait', async () => (await waitersAre('cancelled')).length > 0)
      await Promise.all([assert.rejects(write, unknown), end])
    }).finally(() => own.close())
  })

  it('is not waited for without end', async () => {
    const own = open(server.connection)
    const atOnce = () => own.once({ text: 'insert into scratch values (2)', values: [] })
    await withoutStandby(server.connection, async () => {
      const writes = [writeTo(own), atOnce()]
      await Promise.all(writes.map((write) => assert.rejects(write, unknown)))
    })
    await Promise.all([writeTo(own), atOnce()]).finally(() => own.close())
  })

  it('is not made again for the postings that shared it', () =>
    withService(
      {},
      async (service) => {
        const { productID, investmentID, accounts } = await newFund(service, { accounts: 10 })
        const replies: Promise<Reply>[] = []
        await withoutStandby(server.connection, async () => {
          let answered = 0
          for (const { accountID } of accounts) {
            const body = { productID, investmentID, accountID, transactionDate: '2026-01-10' }
            const reply = service.admin.post('/BizTransaction/Deposit', { ...body, amount: 1 })
            replies.push(reply.finally(() => answered++))
          }
          await until('all answers', async () => {
            await waitersAre('terminated')
            return answered === accounts.length
          })
        })
        for (const reply of await Promise.all(replies)) refused(reply, 503, 'outcome_unknown')
        const posted = await rows('select count(*)::int as n from biz_transaction')
        assert.deepEqual(posted, [{ n: accounts.length }])
      },
      server.connection,
    ))
})
