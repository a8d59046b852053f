import { Command } from 'commander'
import { readConfig } from '../../config.ts'
import { notEmpty, openDemo } from '../demo/open.ts'
import { say, withDatabase } from './registry.ts'

export const demoCommand = new Command('demo')
  .description(
    'fill an empty registry with demonstration data: a fictional manager, its products and ' +
      'investors, and three years of transactions',
  )
  .action(async () => {
    const config = readConfig()
    const users = await withDatabase(config, (database) => openDemo(config, database, say))
    if (!users) throw new Error(notEmpty)
    say(`Users ${users.usernames.join(', ')}, password ${users.password} (shown only once)`)
  })
