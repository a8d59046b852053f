import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type pg from 'pg'
import sql from 'sql-template-tag'
import { startEmbedded } from '../../src/platform/embedded/postgres.ts'
import { type Database, openDatabase } from '../../src/platform/sql/handle.ts'
import { migrate } from '../../src/platform/sql/migrate.ts'
import { rowsOf } from '../support/database.ts'
import { newInvestment, newProduct } from '../support/ledger.ts'
import { temporaryFolder, until } from '../support/process.ts'
import { startForeigner } from '../support/proxy.ts'
import { refused } from '../support/refused.ts'
import { startService } from '../support/service.ts'
import { withoutStandby } from '../support/standby.ts'

const open = (connection: pg.ClientConfig) =>
  openDatabase({ connection, connections: 2, prepareStatements: true, onLostConnection: () => {} })

describe('On a server that speaks another language', { concurrency: false }, () => {
  let server: Awaited<ReturnType<typeof startEmbedded>>
  let foreigner: Awaited<ReturnType<typeof startForeigner>>
  let abroad: pg.ClientConfig
  let database: Database
  const rows = (text: string) => rowsOf(server.connection, text)
  before(async () => {
    server = await startEmbedded({ dataDir: temporaryFolder(), onEvent: () => {} })
    await migrate(server.connection)
    await rows('create table scratch (id int primary key)')
    await rows('create table referring (id int references scratch)')
    await rows('insert into scratch values (1)')
    foreigner = await startForeigner(server.connection)
    abroad = { ...server.connection, ...foreigner.place }
    database = open(abroad)
  })
  after(async () => {
    await database?.close()
    await foreigner?.stop()
    await server.stop()
  })

  it('a read survives a change of the schema under its prepared statement', async () => {
    const read = () => database.query<object>(sql`select * from scratch where id = ${1}`)
    for (let i = 0; i < 10; i++) await read()
    await rows('alter table scratch add column more int')
    for (let i = 0; i < 4; i++) assert.deepEqual(await read(), [{ id: 1, more: null }])
  })

  it('what is referred to is told from what has gone', async () => {
    await rows('insert into referring values (1)')
    for (const [statement, tries] of [
      [sql`insert into referring values (2)`, 5],
      [sql`delete from scratch where id = 1`, 1],
    ] as const) {
      let runs = 0
      const work = database.transaction((tx) => {
        runs++
        return tx.query(statement)
      })
      await assert.rejects(work, { code: '23503' })
      assert.equal(runs, tries, statement.text)
    }
  })

  it('a price of an investment that goes while it is written finds none', async () => {
    const service = await startService({}, abroad)
    try {
      const { productID } = await newProduct(service)
      const { investmentID } = await newInvestment(service, productID)
      const held = open(server.connection)
      const price = { investmentID, priceDate: '2026-01-01', price: 1 }
      const writing = await held.transaction(async (tx) => {
        await tx.query(sql`delete from investment where investment_id = ${investmentID}`)
        const posted = service.admin.post('/Investment/Price', price)
        await until('the price to wait', async () => {
          const waiting = await rows(
            `select 1 from pg_stat_activity where wait_event_type = 'Lock'`,
          )
          return waiting.length > 0
        })
        return { posted }
      })
      refused(await writing.posted, 404, 'not_found')
      await held.close()
    } finally {
      await service.stop()
    }
  })

  it('a commit that the standby does not have is no success', async () => {
    const isEnded = async () => {
      const ended = await rows(`select pg_cancel_backend(pid) from pg_stat_activity
        where wait_event = 'SyncRep'`)
      return ended.length > 0
    }
    const isUnknown = ({ problems }: { problems?: { code: string }[] }) =>
      problems?.[0]?.code === 'outcome_unknown'
    await withoutStandby(server.connection, () => {
      const write = database.transaction((tx) => tx.query(sql`insert into scratch values (3)`))
      return Promise.all([assert.rejects(write, isUnknown), until('the wait', isEnded)])
    })
  })
})
