import { Command } from 'commander'
import { readConfig } from '../../config.ts'
import { admitService, migrate } from '../../platform/sql/migrate.ts'
import { say, withServer } from './registry.ts'

export const migrateCommand = new Command('migrate')
  .description('bring the database up to date, as the service does when it starts')
  .action(async () => {
    const applied = await withServer(readConfig(), async (server) => {
      const names = await migrate(server.connection)
      await admitService(server)
      return names
    })
    for (const name of applied) say(`Applied ${name}.`)
    if (applied.length === 0) say('The database is up to date.')
  })
