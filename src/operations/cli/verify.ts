import { Command } from 'commander'
import type { ClientConfig } from 'pg'
import type { KeptHead } from '../../access/audit/verify.ts'
import { readConfig } from '../../config.ts'
import { refuseOutdated } from '../../platform/registry.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import { unitOfWork } from '../../platform/sql/unit-of-work.ts'
import { type Verified, verify } from '../verify/verify.ts'
import { doorOf, isMissing, onDatabase, say, withServer } from './registry.ts'

export const verifyCommand = new Command('verify')
  .description(
    'check the whole register: balances, closing figures, legs of transfers and conversions, ' +
      'notices, versions and audit trail',
  )
  .option(
    '--audit-head <position:hash>',
    'check that the audit chain still contains this head, which was read earlier',
  )
  .action(async ({ auditHead }: { auditHead?: string }) => {
    const config = readConfig()
    const keptHead = auditHead === undefined ? undefined : headOf(auditHead)
    if (isMissing(config)) throw new Error(`There is no database in ${config.dataDir} yet.`)
    const found = await withServer(config, async (server) => {
      await refuseOutdated(server)
      const rows = await verifyAndTell(server.connection, keptHead)
      await onDatabase(config, server, (database) => record(database, rows))
      return rows
    })
    if (found > 0) process.exitCode = 1
  })

/** Audits the verification, because gauges.ts reports when the last one ended and what it found. */
const record = (database: Database, found: number) =>
  unitOfWork(database, doorOf('verify', 'Audit'), async () => ({
    ...nothingLeft,
    ids: [],
    changes: { found },
  }))

/** Reads a head as GET /Audit/Seal gave it: 4711:0a1b… */
function headOf(text: string): KeptHead {
  const [, position, hash] = /^(\d{1,15}):([0-9a-fA-F]{64})$/.exec(text) ?? []
  if (!position || !hash)
    throw new Error('--audit-head must be a position, a colon and 64 hexadecimal digits.')
  return { position: Number(position), hash }
}

/** Prints what each check found; returns how many rows are wrong. */
export async function verifyAndTell(connection: ClientConfig, keptHead?: KeptHead) {
  const done = await verify(connection, tell, keptHead)
  const found = done.reduce((sum, one) => sum + (one.isNote ? 0 : one.found), 0)
  say(`${done.length} checks, ${found === 0 ? 'nothing found.' : `${found} rows found.`}`)
  return found
}

function tell({ name, rows, found, examples, isNote }: Verified) {
  const [verdict, word] = isNote ? ['note ', 'to look at'] : ['WRONG', 'wrong']
  say(
    `${found > 0 ? verdict : 'ok   '}  ${name} (${rows} rows` +
      `${found > 0 ? `, ${found} ${word}` : ''})`,
  )
  for (const example of examples) say(`         ${example}`)
  if (found > examples.length) say(`         and ${found - examples.length} more`)
}
