import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Reply } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { type Ask, type Carried, everyOperation, rightStatus } from '../support/every-operation.ts'
import { type Node, startNode } from '../support/node.ts'
import { encryptionKey, mailNowhere } from '../support/service.ts'

/** `npm run test:citus` runs this first: each operation there is, once, as it must succeed. */
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

let service: Node
before(async () => {
  const env = { ...mailNowhere, REGISTRY_ENCRYPTION_KEY: encryptionKey }
  service = await startNode(await freshDatabase(), env)
})
after(() => service?.stop())

function send({ operation, query, body, headers }: Ask): Promise<Reply> {
  const [method, path] = operation.split(' ') as [string, string]
  const search = new URLSearchParams(query as Record<string, string>).toString()
  return service.admin.call(method, search ? `${path}?${search}` : path, body, { ...headers })
}

describe('Every operation', () => {
  it('works where the ledger is spread over several servers', async () => {
    const conversation = everyOperation(carried)
    const failed: string[] = []
    let asked = conversation.next()
    while (!asked.done) {
      const reply = await send(asked.value)
      if (!rightStatus(asked.value).includes(reply.status))
        failed.push(`${asked.value.operation}: ${reply.status} ${reply.text.slice(0, 200)}`)
      try {
        asked = conversation.next(reply)
      } catch (error) {
        failed.push(`… and cannot go on: ${(error as Error).message}`)
        break
      }
    }
    assert.deepEqual(failed, [])
  })
})
