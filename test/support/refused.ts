import assert from 'node:assert/strict'
import type { Reply } from './client.ts'

/** Asserts that a reply is a complete refusal with this status, and these codes in any order. */
export function refused(reply: Reply, status: number, ...codes: string[]) {
  assert.equal(reply.status, status, reply.text)
  const { result, recordCount, data, errors } = JSON.parse(reply.text)
  assert.deepEqual({ result, recordCount, data }, { result: false, recordCount: 0, data: null })
  assert.ok(reply.message, 'a message to act on')
  assert.ok(errors.length > 0)
  for (const { code, message } of errors) {
    assert.match(code, /^[a-z_]+$/)
    assert.ok(message)
  }
  assert.ok(reply.headers.get('x-request-id'))
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  const told = errors.map(({ code }: { code: string }) => code)
  if (codes.length > 0) assert.deepEqual([...new Set(told)].sort(), [...codes].sort(), reply.text)
}

/** The fields that a refusal names, in its order. */
export const fieldsOf = ({ errors }: Reply) => errors.map(({ field }) => field)
