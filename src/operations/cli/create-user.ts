import { Command } from 'commander'
import { createUser } from '../../access/user/save.ts'
import { UserInput } from '../../access/user/schema.ts'
import { bodyReader } from '../../platform/shape/input.ts'
import { type PasswordOptions, takePassword } from './password.ts'
import { operator, say, write } from './registry.ts'

type Options = PasswordOptions & {
  username: string
  role?: string
  permissions?: string
  products?: string
}

const readInput = bodyReader(UserInput)

export const createUserCommand = new Command('create-user')
  .description('create a user; prompts for the password, or reads it from standard input')
  .requiredOption('--username <name>')
  .option('--role <role>', 'Administrator, Operator or ReadOnly')
  .option('--permissions <list>', 'instead of a role: Product.Read,Product.Write,…')
  .option('--products <ids>', 'ids of the products that the user can see: 1,2 (default: all)')
  .option('--generate', 'generate a password and print it')
  .action(async (options: Options) => {
    const { username, role, permissions, products, generate } = options
    const password = await takePassword(options)
    const input = readInput({
      username,
      password,
      role,
      permissions: permissions?.split(','),
      productIDs: products?.split(',').map(Number),
    }).body as UserInput
    await write('create-user', 'user.created', (tx) => createUser(tx, operator, input))
    say(`Created the user ${username}.`)
    if (generate) say(`Password: ${password}`)
  })
