import assert from 'node:assert/strict'
import type { Reply } from './client.ts'
import { type Document, jsonType, resolved, type Schema } from './openapi.ts'

/**
 * Asserts that the OpenAPI document lists a refusal for its operation, by status and codes. Every
 * refusal in any test is checked, so that integrators can rely on the document.
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

/** Statuses that the server gives before it knows which operation is called. */
const transport = new Set([408, 431])

const documents = new Map<string, Promise<Document | undefined>>()

/** The document of a service. One that is stopping cannot give it; the next refusal asks again. */
function documentOf(url: string) {
  const read = async () => (await (await fetch(`${url}/openapi.json`)).json()) as Document
  const known = documents.get(url) ?? read().catch(() => undefined)
  documents.set(url, known)
  known.then((document) => document ?? documents.delete(url))
  return known
}

const codesIn = ({ allOf = [] }: Schema) =>
  allOf.flatMap((part) => part.properties?.errors?.items?.properties?.code?.enum ?? [])
