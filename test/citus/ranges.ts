import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { mendBlockRanges } from '../../src/platform/sql/block-ranges.ts'
import type { Database } from '../../src/platform/sql/handle.ts'
import { rowsOf } from '../support/database.ts'
import { openAsService } from '../support/explain.ts'
import { all, newFund, poster } from '../support/ledger.ts'
import { type Service, startService } from '../support/service.ts'

/** `npm run test:citus` runs this after the walk: shards whose block ranges have no summary. */
const postings = 40_000 // they fill more blocks than may be read without need
let service: Service
let database: Database
before(async () => {
  service = await startService()
  database = openAsService(service.connection)
  const { accountID, investmentID } = await newFund(service)
  const thousand = Array.from({ length: 1000 }, () => ({ accountID, investmentID, amount: 1 }))
  const post = poster(() => service.admin)
  for (let sent = 0; sent < postings; sent += 1000) all(await post('Deposit', thousand))
})
after(async () => {
  await database.close()
  await service.stop()
})

/** Removes the summaries of a block range index from all shards of a table. */
const forget = (table: string, index: string) =>
  rowsOf(
    service.connection,
    `select run_command_on_shards('${table}', $$
      select count(brin_desummarize_range(i.indexrelid, n))
      from pg_index i, generate_series(0, 2000, 128) n
      where i.indrelid = '%s'::regclass
        and i.indexrelid::regclass::text like '${index}%%'$$)`,
  )

describe('Ranges of blocks on several servers', () => {
  it('are summed up anew where they are read in vain, and then left', async () => {
    await mendBlockRanges(database.transaction)
    assert.equal(await mendBlockRanges(database.transaction), 0)
    await forget('biz_transaction', 'biz_transaction_lately')
    assert.equal(await mendBlockRanges(database.transaction), 1)
    assert.equal(await mendBlockRanges(database.transaction), 0)
  })
})
