import { resolve } from 'node:path'
import { Command } from 'commander'
import { type Config, readConfig } from '../../config.ts'
import { openStore } from '../../platform/files/open.ts'
import { placesOfKeys } from '../../platform/secrets.ts'
import type { Database } from '../../platform/sql/handle.ts'
import { nothingLeft } from '../../platform/sql/render.ts'
import { unitOfWork } from '../../platform/sql/unit-of-work.ts'
import { backUp } from '../backup/backup.ts'
import type { Manifest } from '../backup/manifest.ts'
import { doorOf, isMissing, onDatabase, say, withServer } from './registry.ts'

export const backupCommand = new Command('backup')
  .description(
    'copy the database and the stored files into an empty folder; the service can keep running',
  )
  .argument('<folder>', 'the folder; created if it does not exist')
  .action(async (folder: string) => {
    const config = readConfig()
    const place = resolve(folder)
    if (isMissing(config)) throw new Error(`There is no database in ${config.dataDir} yet.`)
    const { store } = await openStore(config)
    const manifest = await withServer(config, async (server) => {
      const made = await backUp(server.connection, store, place)
      await onDatabase(config, server, (database) => record(database, made))
      return made
    })
    for (const line of summary(manifest)) say(line)
    say(`Backed up to ${place}.`)
    for (const line of aboutKeys(config, manifest)) say(line)
    refuseLost(manifest)
  })

/** Audits the backup, since a copy of everything has left the registry. */
const record = (database: Database, { moment, tables, contents }: Manifest) =>
  unitOfWork(database, doorOf('backup', 'Audit'), async () => ({
    ...nothingLeft,
    ids: [],
    changes: { moment, rows: rowsIn({ tables }), storedFiles: contents.count },
  }))

const rowsIn = ({ tables }: Pick<Manifest, 'tables'>) =>
  tables.reduce((sum, { rows }) => sum + rows, 0)

/** Lines that say what a backup holds; the restore prints the same. */
export const summary = (manifest: Manifest): string[] => {
  const { tables, contents } = manifest
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0)
  return [
    ...tables.filter(({ rows }) => rows > 0).map(({ name, rows }) => `${name}: ${rows} rows`),
    `As of ${manifest.moment}: ${rowsIn(manifest)} rows in ${tables.length} tables ` +
      `(${bytes} bytes), ${contents.count - contents.lost.length} stored files ` +
      `(${contents.totalBytes} bytes).`,
  ]
}

function aboutKeys(config: Config, { keyIDs }: Manifest): string[] {
  if (keyIDs.length === 0) return []
  return [
    'Tax numbers, webhook secrets and import files are sealed with the key ' +
      `${keyIDs.join(', ')}, which is not in the backup: keep a copy of ` +
      `${placesOfKeys(config).join(' and ')} elsewhere.`,
  ]
}

function refuseLost({ contents: { lost } }: Manifest) {
  if (lost.length === 0) return
  throw new Error(
    `${lost.length} stored files are missing or damaged and are not in the backup: ` +
      `${lost.slice(0, 10).join(', ')}. The backup contains everything else.`,
  )
}
