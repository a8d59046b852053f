import { Command } from 'commander'
import { resetPassword } from '../../access/user/save.ts'
import { PasswordChange } from '../../access/user/schema.ts'
import { lockUser } from '../../access/user/sql.ts'
import { readConfig } from '../../config.ts'
import { readSecrets } from '../../platform/secrets.ts'
import { bodyReader } from '../../platform/shape/input.ts'
import { type PasswordOptions, takePassword } from './password.ts'
import { operator, say, write } from './registry.ts'

type Options = PasswordOptions & { username: string }

const readChange = bodyReader(PasswordChange)

export const resetPasswordCommand = new Command('reset-password')
  .description('set the password of a user and end all of their sessions')
  .requiredOption('--username <name>')
  .option('--generate', 'generate a password and print it')
  .action(async (options: Options) => {
    const { username, generate } = options
    const newPassword = await takePassword(options)
    const change = readChange({ username, newPassword }).body as PasswordChange
    const { nameKey } = readSecrets(readConfig())
    await write('reset-password', 'user.updated', async (tx) => {
      const { userID } = await lockUser(tx, operator, change)
      return resetPassword(tx, operator, nameKey, userID, change)
    })
    say(`The password of ${username} was changed, and all of their sessions have ended.`)
    if (generate) say(`Password: ${newPassword}`)
  })
