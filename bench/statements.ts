import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { readConfig } from '../src/config.ts'
import { createLog } from '../src/platform/log.ts'
import { lookups } from '../src/platform/lookup/lookups.ts'
import { connect } from '../src/platform/registry.ts'
import { makeZip } from '../src/records/statement/make.ts'

/**
 * `DATABASE_URL=… node --import tsx bench/statements.ts PRODUCT DISTRIBUTION` measures how many
 * investor statements a second are printed. It makes the zip of statements of an existing
 * distribution, as a report does, and prints the rate and the most memory that this process had.
 */
const [productID = 0, corporateActionID = 0] = process.argv.slice(2).map(Number)
const config = readConfig()
const connection = { connectionString: config.databaseUrl }
const database = connect(config, connection as pg.ClientConfig, createLog('silent'))
const path = join(tmpdir(), `statements-${process.pid}.zip`)
let most = 0
const started = performance.now()
const order = {
  typeID: lookups.ReportType['Distribution statement'],
  productID,
  corporateActionID,
  investmentID: null,
  bizEntityID: null,
  accountID: null,
  date: new Date().toISOString().slice(0, 10),
  fromDate: null,
  toDate: new Date().toISOString().slice(0, 10),
}
try {
  const { signal } = new AbortController()
  const count = await database.snapshot(
    (snapshot) =>
      makeZip(
        {
          snapshot,
          signal,
          moment: new Date(),
          readFile: async () => Buffer.alloc(0),
          onPrinted: async () => {
            most = Math.max(most, process.memoryUsage().rss)
          },
        },
        order,
        path,
      ),
    signal,
  )
  const seconds = (performance.now() - started) / 1000
  const rate = Math.round(count / seconds)
  process.stdout.write(
    `${count} statements in ${seconds.toFixed(1)} s: ${rate} a second, ` +
      `at most ${Math.round(most / 2 ** 20)} MiB here\n`,
  )
} finally {
  rmSync(path, { force: true })
  await database.close()
}
