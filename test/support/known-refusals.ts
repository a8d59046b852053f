import assert from 'node:assert/strict'
import type { Reply } from './client.ts'
import { type Document, jsonType, resolved, type Schema } from './openapi.ts'

/**
 * Every refusal that a test meets, whatever it is about, is one that the document tells of its
 * operation: its status, and its codes. What integrators catch is what there is to be caught.
 */
export async function knowsRefusal(url: string, called: string, reply: Reply) {
  if (reply.status < 400 || !Array.isArray(reply.errors)) return
  const document = await documentOf(url)
  const [method = '', path = ''] = called.split(/[ ?]/)
  const operation = document?.paths[path]?.[method.toLowerCase()]
  if (!document || !operation || transport.has(reply.status)) return
  const schema = operation.responses[reply.status]?.content[jsonType]?.schema
  assert.ok(schema, `${reply.status} is not a status of ${called}: ${reply.text}`)
  const codes = codesIn(resolved(document, schema))
  for (const { code } of reply.errors)
    assert.ok(codes.includes(code), `${code} is no code of ${called}: ${reply.text}`)
}

/** What the server says before it knows which operation is asked for. */
const transport = new Set([408, 431])

const documents = new Map<string, Promise<Document | undefined>>()

/** A service that is being stopped has none to give, and is asked again at its next refusal. */
function documentOf(url: string) {
  const read = async () => (await (await fetch(`${url}/openapi.json`)).json()) as Document
  const known = documents.get(url) ?? read().catch(() => undefined)
  documents.set(url, known)
  known.then((document) => document ?? documents.delete(url))
  return known
}

const codesIn = ({ allOf = [] }: Schema) =>
  allOf.flatMap((part) => part.properties?.errors?.items?.properties?.code?.enum ?? [])
