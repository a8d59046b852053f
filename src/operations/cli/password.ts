import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { generatePassword } from '../../access/password/hash.ts'

export type PasswordOptions = { generate?: boolean }

/** Takes a password, but never as an argument: other users of the machine could read it there. */
export async function takePassword({ generate }: PasswordOptions): Promise<string> {
  if (generate) return generatePassword()
  const { stdin } = process
  return stdin.isTTY ? askTwice(stdin) : readLine(stdin)
}

async function readLine(input: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input })) return line
  throw new Error('No password was given on standard input. Send one, or use --generate.')
}

/** Asks twice without echo: only the questions are written to the terminal. */
async function askTwice(input: NodeJS.ReadableStream): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input, output: nowhere, terminal: true })
  terminal.on('SIGINT', () => terminal.close())
  const lines = terminal[Symbol.asyncIterator]()
  const ask = async (question: string) => {
    process.stderr.write(question)
    const { value, done } = await lines.next()
    process.stderr.write('\n')
    if (done) throw new Error('Nothing was changed.')
    return value
  }
  try {
    const password = await ask('Password: ')
    if ((await ask('Repeat the password: ')) !== password)
      throw new Error('The two passwords are not the same.')
    return password
  } finally {
    terminal.close()
  }
}
