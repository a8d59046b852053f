import { Command } from 'commander'
import { ConfigError } from '../../config.ts'
import { refusalOf } from '../../platform/http/failure.ts'
import { adviceOn } from '../../platform/sql/advice.ts'
import { version } from '../../version.ts'
import { backupCommand } from './backup.ts'
import { checkCommand } from './check.ts'
import { createUserCommand } from './create-user.ts'
import { demoCommand } from './demo.ts'
import { distributeCommand } from './distribute.ts'
import { eventsCommand } from './events.ts'
import { importCommand } from './import.ts'
import { migrateCommand } from './migrate.ts'
import { removeSecondFactorCommand } from './remove-second-factor.ts'
import { resetPasswordCommand } from './reset-password.ts'
import { restoreCommand } from './restore.ts'
import { rotateEncryptionKeyCommand } from './rotate-encryption-key.ts'
import { verifyCommand } from './verify.ts'

/** The operator's commands: one file and one line here for each. */
const commands = [
  createUserCommand,
  resetPasswordCommand,
  removeSecondFactorCommand,
  migrateCommand,
  checkCommand,
  rotateEncryptionKeyCommand,
  verifyCommand,
  eventsCommand,
  importCommand,
  distributeCommand,
  backupCommand,
  restoreCommand,
  demoCommand,
]

const program = new Command('registry')
  .description(
    'Commands for operators of the registry. They read the same environment variables as the ' +
      'service.',
  )
  .version(version)
for (const command of commands) program.addCommand(command)

program.parseAsync().then(
  () => process.exit(),
  (error: Error) => {
    process.stderr.write(`${wordsOf(error)}\n`)
    process.exit(1)
  },
)

/**
 * The message that the service would answer a caller with, if there is one; otherwise the error's
 * own.
 */
function wordsOf(error: Error): string {
  if (error instanceof ConfigError) return error.message
  return adviceOn(error) ?? refusalOf(error)?.message ?? error.message
}
