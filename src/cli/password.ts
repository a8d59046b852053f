import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { generatePassword } from '../user/password.ts'

export type PasswordOptions = { generate?: boolean }

/** A password never comes as an argument: other users of the machine could read it there. */
export async function takePassword({ generate }: PasswordOptions): Promise<string> {
  if (generate) return generatePassword()
  if (!process.stdin.isTTY) return firstLine()
  const password = await ask('Password: ')
  if ((await ask('The same again: ')) !== password) throw new Error('The two are not the same.')
  return password
}

async function firstLine(): Promise<string> {
  const input = createInterface({ input: process.stdin })
  for await (const line of input) return line
  throw new Error('No password came on the standard input. Send one, or use --generate.')
}

/** Asks on the terminal; what is typed is not shown. */
function ask(question: string): Promise<string> {
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  return new Promise<string>((resolve, reject) => {
    terminal.on('line', resolve)
    terminal.on('SIGINT', () => terminal.close())
    terminal.on('close', () => reject(new Error('Nothing was changed.')))
  }).finally(() => {
    terminal.close()
    process.stderr.write('\n')
  })
}
