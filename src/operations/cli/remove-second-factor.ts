import { Command } from 'commander'
import { removed } from '../../access/user/factor.ts'
import { lockUser } from '../../access/user/sql.ts'
import { readConfig } from '../../config.ts'
import { operator, say, write } from './registry.ts'

export const removeSecondFactorCommand = new Command('remove-second-factor')
  .description(
    'remove the second factor of a user who has lost the authenticator and the recovery codes',
  )
  .requiredOption('--username <name>')
  .action(async ({ username }: { username: string }) => {
    await write('remove-second-factor', 'user.updated', async (tx) => {
      const { userID } = await lockUser(tx, operator, { username })
      return removed(tx, userID, readConfig().requireSecondFactor)
    })
    say(`${username} can now sign in without a second factor.`)
  })
