import type { Client, Reply } from './client.ts'
import { type Ask, type Carried, everyOperation, rightStatus } from './every-operation.ts'

const carried: Carried = {
  name: 'Walker',
  passwords: {
    admin: 'a password for tests',
    user: 'another password for tests',
    replaced: 'a third password for tests',
    reset: 'a fourth password for tests',
    document: ['a password of a document', 'another one of a document'],
  },
  taxFileNumbers: ['123456782', '876543210', '112474082', '459599230'],
  tins: ['078051120', '219099999'],
  bankAccounts: {
    number: '12345671',
    other: '12345672',
    cheque: '12345673',
    iban: 'GB82WEST12345698765432',
  },
}

function send(client: Client, { operation, query, body, headers }: Ask): Promise<Reply> {
  const [method, path] = operation.split(' ') as [string, string]
  const search = new URLSearchParams(query as Record<string, string>).toString()
  return client.call(method, search ? `${path}?${search}` : path, body, { ...headers })
}

/** Calls every operation once with a request that must succeed; returns those that did not. */
export async function walkEveryOperation(client: Client): Promise<string[]> {
  const conversation = everyOperation(carried)
  const failed: string[] = []
  let asked = conversation.next()
  while (!asked.done) {
    const reply = await send(client, asked.value)
    if (!rightStatus(asked.value).includes(reply.status))
      failed.push(`${asked.value.operation}: ${reply.status} ${reply.text.slice(0, 200)}`)
    try {
      asked = conversation.next(reply)
    } catch (error) {
      failed.push(`… and cannot go on: ${(error as Error).message}`)
      break
    }
  }
  return failed
}
