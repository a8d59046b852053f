import { resolve } from 'node:path'
import { Command } from 'commander'
import sql from 'sql-template-tag'
import { type Config, readConfig } from '../../config.ts'
import { keyIDOf } from '../../parties/sealed/vault.ts'
import { openStore } from '../../platform/files/open.ts'
import { lookups } from '../../platform/lookup/lookups.ts'
import { presentEncryptionKeys } from '../../platform/secrets.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { admitService } from '../../platform/sql/migrate.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import { unitOfWork } from '../../platform/sql/unit-of-work.ts'
import { queueReport } from '../../records/report/create.ts'
import type { Manifest } from '../backup/manifest.ts'
import { checkedBackup, restore } from '../backup/restore.ts'
import { summary } from './backup.ts'
import { doorOf, onDatabase, say, withServer } from './registry.ts'
import { verifyAndTell } from './verify.ts'

export const restoreCommand = new Command('restore')
  .description('restore a backup into an empty data folder or an empty database, and verify it')
  .argument('<folder>', 'a folder made by the command backup')
  .option('--without-key', 'restore even without the encryption key; what it sealed stays sealed')
  .action(async (folder: string, { withoutKey }: { withoutKey?: boolean }) => {
    const config = readConfig()
    const place = resolve(folder)
    const manifest = await checkedBackup(place)
    say(`The backup in ${place} is complete.`)
    const missing = missingKeys(config, manifest)
    if (missing.length > 0 && !withoutKey) throw keysMissing(config, missing)
    const found = await withServer(config, async (server) => {
      const { connection } = server
      await restore(connection, await openStore(config), place, manifest)
      for (const line of summary(manifest)) say(line)
      await admitService(server)
      await onDatabase(config, server, (database) => record(database, manifest))
      return verifyAndTell(connection)
    })
    if (missing.length > 0) say(keysMissing(config, missing).message)
    const { lost } = manifest.contents
    if (lost.length > 0) say(`${lost.length} stored files were lost before the backup was made.`)
    say(found > 0 ? 'Restored, but with the errors listed above.' : 'Restored.')
    if (found > 0) process.exitCode = 1
  })

function missingKeys(config: Config, { keyIDs }: Manifest): string[] {
  const present = new Set(presentEncryptionKeys(config).map(keyIDOf))
  return keyIDs.filter((id) => !present.has(id))
}

const keysMissing = ({ dataDir }: Config, missing: string[]) =>
  new Error(
    'Tax numbers, webhook secrets or import files in this backup are sealed with the encryption ' +
      `key ${missing.join(', ')}, which was not found. Set REGISTRY_ENCRYPTION_KEY to it, or put ` +
      `it into ${dataDir}/keys/encryption-key (mode 0600); with sealed tax numbers the service ` +
      'does not start without it. To restore without the key, use --without-key.',
  )

/** Audits the restore, and queues reports again that were waiting for a worker. */
const record = (database: Database, { moment }: Manifest) =>
  unitOfWork(database, doorOf('restore', 'Audit'), async (tx) => {
    const waiting = await tx.query<{ id: number }>(sql`
      select report_id as id from report where report_status_id = ${lookups.ReportStatus.Queued}`)
    for (const { id } of waiting) await queueReport(tx, id)
    return { ...nothingLeft, ids: [], changes: { moment } }
  })
